"""The script that looks at the built documentation finds what is wrong with a page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="needs the extra skprob[docs]")
SCRIPT = Path(__file__).parents[1] / "docs" / "check_pages.py"
PAGE = "<!doctype html><meta charset=utf-8><article>{}</article>"
# Fits at 1,280 pixels, but not at 400.
MEDIUM_TABLE = "<table><td>" + "x" * 80 + "</table>"
# Faults, and what is said of them. They share one page, but for two.
WRONG = {
    "wide": ("<table><td>" + "x" * 300 + "</table>", "cut table"),
    "medium": (MEDIUM_TABLE, "400 pixels, cut table"),
    "formula": (r'<span class="math">\(\alpha\)</span>', "raw TeX"),
    "role": ("<p>:class:`Entmax`</p>", "raw markup"),
    "link": ('<a href="nowhere.html">a</a>', "dead link"),
    "place": ('<a href="right.html#nowhere">a</a>', "dead link"),
    "network": ("<script src='https://example.org/a.js'></script>", "asks the network"),
    "picture": ("<img src='missing.png'>", "no picture"),
    "script": ("<script>nothing.here</script>", "a script fails"),
    "search": (
        '<ul id="search-results"><li><a href="right.html">a</a></ul>',
        "“top-k” leads to right.html",
    ),
}
ALONE = ("medium", "search")


def page_of(fault):
    return fault if fault in ALONE else "wrong"


def run(folder, **environment):
    return subprocess.run(
        [sys.executable, SCRIPT, folder],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


def test_what_is_wrong_is_found_on_its_page(tmp_path):
    (tmp_path / "right.html").write_text(PAGE.format("<table><td>a</table>"))
    scrolling = f'<div style="overflow-x: auto">{MEDIUM_TABLE}</div>'
    (tmp_path / "scrolling.html").write_text(PAGE.format(scrolling))
    for page in {page_of(fault) for fault in WRONG}:
        contents = [
            content for fault, (content, _) in WRONG.items() if page_of(fault) == page
        ]
        (tmp_path / f"{page}.html").write_text(PAGE.format("".join(contents)))
    result = run(tmp_path)
    if "No Chromium was found" in result.stdout:
        pytest.skip("there is no Chromium here")
    lines = result.stdout.splitlines()
    for fault, (_, what) in WRONG.items():
        of_page = [line for line in lines if line.startswith(f"{page_of(fault)}.html")]
        assert any(what in line for line in of_page), fault
    assert not any(line.startswith(("right.html", "scrolling.html")) for line in lines)
    assert result.returncode == 1


def test_it_says_that_there_is_no_browser(tmp_path):
    (tmp_path / "page.html").write_text(PAGE.format(""))
    result = run(tmp_path, PATH="", PLAYWRIGHT_BROWSERS_PATH=str(tmp_path))
    assert "No Chromium was found" in result.stdout
    assert result.returncode == 0
