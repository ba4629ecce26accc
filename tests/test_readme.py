"""The README's examples run, its links lead somewhere, and its table is measured."""

import csv
import doctest
import re
import runpy
from pathlib import Path

from skprob.mappings import MAPPINGS

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "user_guide"
TABLES = ROOT / "docs" / "measurements"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_run():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    # Leave out the lines of fences: they would count as output.
    text = re.sub("^```.*$", "", README, flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
    report = []
    result = doctest.DocTestRunner(optionflags=flags).run(examples, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted >= 10


def test_links_lead_to_files():
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_mapping_is_in_the_table():
    page = (GUIDE / "mappings.rst").read_text(encoding="utf-8")
    names = re.findall(r'^   \* - `"(\w+)"', page, flags=re.MULTILINE)
    assert sorted(names) == sorted(MAPPINGS)


def test_it_is_short():
    assert README.count("\n") <= 90


def test_speed_is_that_of_the_tables():
    ratios = []
    for name in "fit_times.txt", "fit_times_little.txt":
        lines = (TABLES / name).read_text(encoding="utf-8").splitlines()
        head, *rows = [line.split("|") for line in lines if line.startswith("|")]
        head = [cell.strip() for cell in head]
        for row in rows:
            cells = dict(zip(head, (cell.strip() for cell in row), strict=True))
            if cells["mapping"] == "softmax" and cells["C"] == "1":
                ratios.append(float(cells["1e-06: ratio"]))
    words = re.sub(r"\s+", " ", README)
    assert f"{min(ratios):.1f} to {max(ratios):.0f} times as fast" in words
    assert f"[{len(ratios)} problems]" in words


def test_figures_are_those_of_the_benchmark():
    script = runpy.run_path(str(ROOT / "benchmarks" / "readme.py"))
    with open(TABLES / "sets.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 4
    assert script["with_figures"](README, sets=script["markdown"](rows)) == README
