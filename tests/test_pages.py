"""Names in the README and in the pages of the documentation exist.

The examples in the pages are run from docs/conftest.py, those of the README from
test_readme.py; the build checks links between pages.
"""

import ast
import doctest
import re
import sys
import tomllib
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest
from sklearn.datasets import load_iris, make_classification

import skprob
from skprob import SoftmaxClassifier

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.rst")),
    *sorted(DOCS.glob("developer/*.rst")),
    *sorted(DOCS.glob("measurements/*.rst")),
    *sorted(DOCS.glob("user_guide/*.rst")),
    *sorted((ROOT / "examples").glob("*.rst")),
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def package_of(requirement):
    """Name of the distribution of a requirement such as ``numpy>=1.24``."""
    return re.match(r"[\w-]+", requirement).group()


# Packages that a reader who installs skprob and its extras can import.
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
    assert {name for names in extras for name in names.split(",")} <= set(EXTRAS)
    known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    known += re.findall(r"^(\w+) \w+: export", (ROOT / "Makefile").read_text())
    targets = re.findall(r"(?:\$ |`)make ([\w-]+)", text)
    assert set(targets) <= set(known)


@cache  # It parses the whole package.
def defined_names():
    """Names of files, functions, classes, arguments and attributes of the package.

    With them those of the definitions and cases of tests, to which parts are added.
    """
    described = (ROOT / "skprob" / "linear_model" / "_docstrings.py").read_text()
    names = set(re.findall(r"^(\w+_) : ", described, re.MULTILINE))
    of_tests = [*(ROOT / "tests").rglob("definitions.py")]
    of_tests += (ROOT / "tests").rglob("cases.py")
    for path in sorted([*(ROOT / "skprob").rglob("*.py"), *of_tests]):
        names |= {path.name, path.stem, path.parent.name}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
    return names


# Names on the developer pages that are not those of the package.
OTHER_NAMES = {
    "OPENBLAS_NUM_THREADS",
    "SKPROB_DATA",
    "threadpool_limits",
    "threadpoolctl",
}


def names_in(text):
    """File names and dotted Python names between backticks, without arguments."""
    for code in re.findall(r"(?<![:`\w])`{1,2}([^`\n]+)`{1,2}", text):
        code = re.sub(r"\(.*\)$", "", code)
        if re.fullmatch(r"[\w.]+\.py", code):
            yield code
        elif re.fullmatch(r"[A-Za-z_][\w.]*", code) and not code.endswith(".md"):
            yield from code.split(".")


@pytest.mark.parametrize(
    "page", sorted(DOCS.glob("developer/*.rst")), ids=lambda page: page.name
)
def test_names_on_developer_pages_are_defined(page):
    mentioned = set(names_in(page.read_text()))
    assert mentioned - defined_names() - OTHER_NAMES == set()


def test_names_between_backticks_are_seen():
    text = (
        "`_base.py`, ``Loss.stages``, :class:`~skprob.X_y`, `plan`, `init(a, b)`, `C=1`"
    )
    assert list(names_in(text)) == ["_base.py", "Loss", "stages", "plan", "init"]
    assert {"_base.py", "Loss", "stages"} <= defined_names()


def included_code(page):
    """File, object and first words of the code that a page includes."""
    for path, options in re.findall(
        r"\.\. literalinclude:: (\S+\.py)\n((?: +:.*\n)*)", page.read_text()
    ):
        values = dict(re.findall(r":([\w-]+): *(.*)", options))
        name, words = values.get("pyobject"), values.get("start-at", "")
        yield (page.parent / path).resolve(), name, words
        # Line numbers would be wrong after the next change.
        assert name or words, path


def source_of(path, name):
    """Source of a function, class or method of a file; of all of it for None."""
    text = path.read_text()
    body = ast.parse(text)
    for part in name.split(".") if name else []:
        (body,) = [node for node in body.body if getattr(node, "name", "") == part]
    return ast.get_source_segment(text, body) if name else text


def test_page_of_one_fit_includes_functions_that_exist():
    page = DOCS / "developer" / "one_fit.rst"
    included = list(included_code(page))
    for path, name, words in included:
        assert words in source_of(path, name), (path, name)
    # From the estimator down to the losses.
    names = [name for _, name, _ in included]
    assert names[0] == "BaseLinearClassifier.fit"
    stages = {"fit_to_rows", "solve_in_turn", "solve", "minimize", "model_of"}
    assert stages <= set(names)


def calls_of(function):
    """For each call in the package: the code of the function and of its callers."""
    root, stack, calls = str(Path(skprob.__file__).parent), [], []

    def watch(frame, event, argument):
        if frame.f_code.co_filename.startswith(root):
            if event == "call":
                stack.append(frame.f_code)
                calls.append(tuple(stack))
            elif event == "return":
                stack.pop()

    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.fixture(scope="module")
def calls_of_fit():
    """The calls in the fit that a page follows."""
    X, y = load_iris(return_X_y=True)
    model = SoftmaxClassifier()
    model.fit(X, y)  # Some files are entered once in a process, to fill caches.
    return calls_of(lambda: model.fit(X, y))


def section_of(page, start, end):
    """A part of a developer page, between two words."""
    page = (DOCS / "developer" / page).read_text()
    return page.split(start)[1].split(end)[0]


def test_page_of_one_fit_lists_the_files_that_a_fit_enters(calls_of_fit):
    section = section_of("one_fit.rst", "Files of this fit\n", "How other fits")
    listed = re.findall(r"`(skprob/\S+?\.py)`", section)
    root = Path(skprob.__file__).parents[1]
    entered = {Path(codes[-1].co_filename).relative_to(root) for codes in calls_of_fit}
    assert sorted(path.as_posix() for path in entered) == sorted(listed)


def is_way(names, codes):
    """Whether functions call each other in this order, perhaps through others."""
    *callers, last = (code.co_qualname for code in codes)
    remaining = iter(callers)
    return last == names[-1] and all(name in remaining for name in names[:-1])


def check_order(section, calls):
    """Functions in a section are in the order of calls, each below its caller."""
    lines = re.findall(r"^    (?:\d+)? *[A-Za-z_][\w.]*", section, re.MULTILINE)
    assert len(lines) > 30
    above = []  # Column, name and first call of the callers of a line.
    for line in lines:
        name = line.split()[-1]
        column = len(line) - len(name)
        before = 0
        while above and above[-1][0] >= column:
            _, _, before = above.pop()
        names = [*(caller for _, caller, _ in above), name]
        first = [i for i, codes in enumerate(calls) if is_way(names, codes)][:1]
        assert first and first[0] >= before, names
        above.append((column, name, first[0]))


def test_page_of_one_fit_lists_functions_in_order_below_their_callers(calls_of_fit):
    check_order(
        section_of("one_fit.rst", "All stages\n", "1. The method"), calls_of_fit
    )


def test_page_of_steps_lists_functions_in_order_below_their_callers():
    X, y = make_classification(5000, 60, n_informative=20, n_classes=10, random_state=0)
    calls = calls_of(lambda: SoftmaxClassifier().fit(X, y))
    page = "how_steps_are_computed.rst"
    check_order(section_of(page, "Newton's method\n----", "A step of Newton's"), calls)


def test_messages_name_extras_that_exist():
    text = "".join(path.read_text() for path in (ROOT / "skprob").rglob("*.py"))
    extras = re.findall(r"skprob\[([\w,]+)\]", text)
    assert extras
    assert {name for names in extras for name in names.split(",")} <= set(EXTRAS)


PUBLIC = "attention decision inspection linear_model losses mappings metrics onnx"


@pytest.mark.parametrize("package", PUBLIC.split())
def test_the_index_lists_every_public_object(package):
    listed = re.findall(
        rf"^   ~skprob\.{package}\.(\w+)$", (DOCS / "api.rst").read_text(), re.MULTILINE
    )
    module = import_module(f"skprob.{package}")
    objects = [name for name in module.__all__ if callable(getattr(module, name))]
    assert sorted(listed) == sorted(objects)


def test_the_gallery_shows_every_example():
    page = (ROOT / "examples" / "index.rst").read_text()
    names = [path.stem for path in (ROOT / "examples").glob("*.py")]
    shown = re.findall(r"^   \.\./examples/(\w+)\.py$", page, re.M)
    assert sorted(shown) == sorted(names)
    assert sorted(re.findall(r"^   (\w+)$", page, re.M)) == sorted(names)
