"""What surrounds the code agrees with it: metadata, workflows, citation."""

import re
import runpy
import sys
import tomllib
from inspect import getsource
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skprob
from skprob.solvers import Tuning
from skprob.solvers._plan import Plan

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_the_makefile(path):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    jobs = read(path)["jobs"]
    commands = [
        step["run"] for job in jobs.values() for step in job["steps"] if "run" in step
    ]
    for command in commands:
        make, target, *_ = command.split()
        assert make == "make"
        assert target in targets
    assert commands


def test_only_what_publishes_may_do_so():
    for path in WORKFLOWS:
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}
        writers = [
            name for name, job in workflow["jobs"].items() if "permissions" in job
        ]
        assert set(writers) <= {"publish"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    """A tag can be moved to other code; the comment says which version it was."""
    used = re.findall(r"uses: *(.*)", path.read_text())
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", action), action


def test_what_builds_the_package_is_pinned_by_hash():
    text = (ROOT / ".ci" / "package.txt").read_text().replace("\\\n", "")
    pinned = set()
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, hashes = line.partition("==")
            assert re.search(r"--hash=sha256:[0-9a-f]{64}$", hashes), line
            pinned.add(name)
    named = (ROOT / ".ci" / "package.in").read_text().splitlines()
    assert {re.match(r"[\w-]*", line)[0] for line in named} - {""} <= pinned
    assert "hatchling" in pinned
    makefile = (ROOT / "Makefile").read_text()
    assert "--require-hashes -r $<" in makefile
    assert "-m build --quiet --no-isolation" in makefile


def test_every_python_that_is_named_is_tested():
    tests = read(ROOT / ".github" / "workflows" / "tests.yml")
    tested = tests["jobs"]["test"]["strategy"]["matrix"]["python"]
    named = [name.rpartition(" ")[2] for name in PROJECT["classifiers"]]
    assert tested == [version for version in named if re.fullmatch(r"3\.\d+", version)]
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_the_oldest_versions_are_the_lower_bounds():
    pinned = dict(
        line.split("==")
        for line in (ROOT / ".ci" / "oldest.txt").read_text().splitlines()
        if not line.startswith("#")
    )
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["test"]]
    for extra in ("plot", "progress", "dask", "onnx"):
        wanted += extras[extra]
    bounds = {}
    for requirement in wanted:
        match = re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement)
        if match:
            bounds[match[1]] = match[2]
    for name in set(pinned) & set(bounds):
        assert f"{pinned[name]}.".startswith(f"{bounds[name]}."), name
    core = {re.match(r"[\w-]+", name)[0] for name in PROJECT["dependencies"]}
    assert core <= set(pinned)


def test_the_citation_is_of_this_version():
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == skprob.__version__
    assert citation["license"] == PROJECT["license"]
    assert f"## [{skprob.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_no_address_is_made_up():
    """The repository that releases the package names itself."""
    assert "urls" in PROJECT["dynamic"]
    for name in ("pyproject.toml", "CITATION.cff"):
        assert "github.com" not in (ROOT / name).read_text()


@pytest.mark.skipif(not settings().derandomize, reason="fresh draws are asked for")
def test_random_tests_are_the_same_whatever_else_is_loaded(monkeypatch):
    def draws():
        drawn = []

        @given(st.lists(st.floats(-1e6, 1e6)))
        def draw(numbers):
            drawn.append(numbers)

        draw()
        return drawn

    alone, other = draws(), ModuleType("other")
    other.__file__ = str(ROOT / "benchmarks" / "label_distributions.py")
    monkeypatch.setitem(sys.modules, "other", other)
    assert draws() == alone


def heuristics():
    """The names of the file of the ablation."""
    return runpy.run_path(str(ROOT / "benchmarks" / "_heuristics.py"))


def test_every_number_of_the_tuning_has_a_row_in_the_ablation_or_a_reason():
    names, numbers = heuristics(), set(Tuning._fields)
    switched = set().union(*(row.fields for row in names["HEURISTICS"]))
    assert switched | set(names["WITHOUT_ROW"]) == numbers
    assert not switched & set(names["WITHOUT_ROW"])


def test_every_row_of_the_ablation_switches_its_heuristic_off():
    for row in heuristics()["HEURISTICS"]:
        values = zip(Tuning._fields, row.without, Tuning(), strict=True)
        changed = {name for name, value, usual in values if value != usual}
        assert changed - {"fixed_plan"} <= row.fields, row.name
        assert changed or row.name == "nothing", row.name
        assert dict(row.without.fixed_plan).keys() <= set(Plan._fields), row.name


def test_every_number_of_the_tuning_says_what_it_is():
    lines = [line.strip() for line in getsource(Tuning).splitlines()]
    for name in Tuning._fields:
        (number,) = (i for i, line in enumerate(lines) if line.startswith(f"{name}: "))
        assert lines[number - 1].startswith("#: "), name
