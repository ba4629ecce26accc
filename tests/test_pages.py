"""What the README and the pages of the documentation name is there.

The examples in the pages are run from docs/conftest.py, those of the README from
test_readme.py; the build checks links between pages.
"""

import ast
import doctest
import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.rst")),
    *sorted(DOCS.glob("developer/*.rst")),
    *sorted(DOCS.glob("user_guide/*.rst")),
    *sorted((ROOT / "examples").glob("*.rst")),
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def package_of(requirement):
    """Name of the distribution of a requirement such as ``numpy>=1.24``."""
    return re.match(r"[\w-]+", requirement).group()


# What a reader who installs skprob and its extras can import.
IMPORTABLE = {"skprob", "sklearn", "dask", *sys.stdlib_module_names} | {
    package_of(requirement).replace("-", "_")
    for requirement in chain(PROJECT["dependencies"], *EXTRAS.values())
}


def imported(source):
    """Names of the top-level packages that a snippet imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_import_nothing_hidden(page):
    text = page.read_text()
    offered = re.findall(r":download:`[^`]*?(\w+)\.py>?`", text)
    source = "".join(e.source for e in doctest.DocTestParser().get_examples(text))
    assert set(imported(source)) <= IMPORTABLE | set(offered)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_exists(page):
    text = page.read_text()
    folders = "benchmarks|examples|docs(?!/_build)|skprob|tests"
    paths = re.findall(rf"\b((?:{folders})/\w[\w/]+(?:\.\w+)?)", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    extras = re.findall(r"(?:skprob|\"\.)\[([\w,]+)\]", text)
    assert {name for found in extras for name in found.split(",")} <= set(EXTRAS)
    known = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    known += re.findall(r"^(\w+) \w+: export", (ROOT / "Makefile").read_text())
    targets = re.findall(r"(?:\$ |`)make (\w+)", text)
    assert set(targets) <= set(known)


def test_messages_name_extras_that_exist():
    text = "".join(path.read_text() for path in (ROOT / "skprob").rglob("*.py"))
    extras = re.findall(r"skprob\[([\w,]+)\]", text)
    assert extras
    assert {name for found in extras for name in found.split(",")} <= set(EXTRAS)
