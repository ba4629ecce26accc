"""Who imports whom, and what is sent to where blocks are."""

import ast
import pickle
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils._param_validation import make_constraint

import skprob
from skprob.data import LocalBlocks
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax, Sparsemax
from skprob.objective import CosineObjective, LinearObjective, split_rows
from skprob.solvers import SOLVERS, solve
from skprob.targets import LabelTarget

ROOT = Path(skprob.__file__).parent
PACKAGES = sorted(path.parent.name for path in ROOT.glob("[!_]*/__init__.py"))
# All may import the utilities (skprob/_utils), which import no package.
MAY_IMPORT = {
    "mappings": set(),
    "targets": set(),
    "losses": {"mappings", "targets"},
    "data": set(),
    "objective": {"mappings", "targets", "losses", "data"},
    # An objective comes to a solver as an argument.
    "solvers": set(),
    "attention": {"mappings", "targets"},
    # From scores and probabilities, of any classifier, to label sets.
    "decision": {"mappings"},
    # From a fitted classifier, by its public attributes, to a graph.
    "onnx": {"mappings", "decision"},
    "linear_model": {
        *("mappings", "targets", "losses", "data", "objective", "solvers", "decision"),
        # The default scores of searches are metrics.
        *("onnx", "metrics"),
    },
    "metrics": {"mappings", "targets", "losses"},
    "inspection": {"mappings", "targets"},
}


class Contents:
    """Parts of a file that the tests look at, from one walk through its syntax.

    Attributes
    ----------
    imports : list of ast.Import and ast.ImportFrom
    names : list of pairs of a line and a name
    stored : set of str
        Names with an underscore that the file gives to something of its own.
    attributes : list of ast.Attribute
        The attributes with an underscore that it uses.
    """

    def __init__(self, path):
        self.imports, self.names, self.attributes, stored = [], [], [], set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.append(node)
            name = getattr(node, "id", getattr(node, "arg", getattr(node, "name", "")))
            if name:
                self.names.append((node.lineno, name))
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                stored.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored.add(node.id)
            elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                self.attributes.append(node)
                if isinstance(node.ctx, ast.Store):
                    stored.add(node.attr)
        self.stored = {n for n in stored if n.startswith("_") and n[:2] != "__"}


contents = cache(Contents)  # Several tests read each file.


def own_imports(path):
    """Line and dotted parts, after skprob, of what a file imports of skprob."""
    folders = path.relative_to(ROOT.parent).parts[:-1]
    for node in contents(path).imports:
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            start = folders[: len(folders) - node.level + 1] if node.level else ()
            module = [*start, *(node.module.split(".") if node.module else ())]
            names = [[*module, alias.name] for alias in node.names]
        for top, *parts in names:
            if top == "skprob" and parts:
                yield node.lineno, tuple(parts)


def imports_of_others(package):
    """Where a package imports which parts of another."""
    for path in sorted((ROOT / package).rglob("*.py")):
        for line, parts in own_imports(path):
            if parts[0] in PACKAGES and parts[0] != package:
                yield f"{path.relative_to(ROOT)}:{line}", parts


def test_every_package_has_its_place():
    assert set(PACKAGES) <= set(MAY_IMPORT)
    assert PACKAGES == skprob._PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_one_way(package):
    wrong = [
        f"{where} imports {'.'.join(parts)}"
        for where, parts in imports_of_others(package)
        if parts[0] not in MAY_IMPORT[package]
    ]
    assert not wrong


@pytest.mark.parametrize("package", PACKAGES)
def test_other_packages_are_imported_through_their_face(package):
    wrong = [
        f"{where} imports {'.'.join(parts)}"
        for where, parts in imports_of_others(package)
        # The package, or a public name that its __init__ exports.
        if len(parts) > 2 or parts[-1].startswith("_")
    ]
    assert not wrong


def private_names(package):
    """Names with an underscore that a package gives to something of its own.

    With them the attributes with an underscore that it uses, and their places.
    """
    names, attributes = set(), []
    for path in sorted((ROOT / package).rglob("*.py")):
        names |= contents(path).stored
        for node in contents(path).attributes:
            attributes.append((f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return names, attributes


def private_uses():
    """Where a package uses a private attribute that only others define."""
    by_package = {package: private_names(package) for package in PACKAGES}
    every = set().union(*(names for names, _ in by_package.values()))
    for names, attributes in by_package.values():
        # The last is scikit-learn's, of every estimator.
        foreign = every - names - {"_validate_params"}
        for place, node in attributes:
            if node.attr in foreign:
                yield place, ast.unparse(node)


def test_no_package_uses_what_another_keeps_private():
    assert not list(private_uses())


def test_a_private_use_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    monkeypatch.setattr(f"{__name__}.PACKAGES", ["decision", "onnx"])
    for package, text in [
        ("decision", "class Rule:\n def _sets(self):\n  self._sizes = 1\n"),
        ("onnx", "def _own(rule):\n rule._own\n return rule._sets(rule._sizes)\n"),
    ]:
        (tmp_path / package).mkdir()
        (tmp_path / package / "_module.py").write_text(text)
    assert sorted(private_uses()) == [
        ("onnx/_module.py:3", "rule._sets"),
        ("onnx/_module.py:3", "rule._sizes"),
    ]


@pytest.mark.parametrize(
    "path",
    sorted([*ROOT.glob("*.py"), *ROOT.glob("_utils/*.py")]),
    ids=lambda path: path.name,
)
def test_utilities_import_no_package(path):
    assert not [parts for _, parts in own_imports(path) if parts[0] in PACKAGES]


def folder_of(parts):
    """The folder of a package that a module is in, "" for the package itself."""
    inside = (ROOT / parts[0]).joinpath(*parts[1:2])
    return parts[1] if len(parts) > 1 and inside.is_dir() else ""


def imports_past_an_init(package):
    """Places where code imports a module of a folder, past its `__init__`."""
    files = [*(ROOT / package).rglob("*.py"), *(ROOT / package).rglob("*.pyi")]
    for path in sorted(files):
        folder = folder_of(path.relative_to(ROOT).with_suffix("").parts)
        for line, parts in own_imports(path):
            other = folder_of(parts) if parts[0] == package else ""
            # The folder, or a name that its __init__ exports.
            if other not in ("", folder) and (len(parts) > 3 or parts[-1][0] == "_"):
                yield f"{path.relative_to(ROOT)}:{line}", ".".join(parts)


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_are_imported_through_their_init(package):
    assert not list(imports_past_an_init(package))


def test_an_import_past_an_init_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path / "skprob")
    for path, text in [
        ("losses/kitchen/_stove.py", "from . import _pan\nfrom ._pan import lid\n"),
        ("losses/study/_desk.py", "from ..kitchen import lid\nfrom .._base import a\n"),
        ("losses/study/_lamp.py", "def f():\n from ..kitchen._pan import lid\n"),
        ("losses/_base.py", "from .kitchen import _pan\nfrom .kitchen import lid\n"),
        ("losses/__init__.pyi", "from .kitchen._pan import lid\n"),
    ]:
        file = tmp_path / "skprob" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert sorted(imports_past_an_init("losses")) == [
        ("losses/__init__.pyi:1", "losses.kitchen._pan.lid"),
        ("losses/_base.py:1", "losses.kitchen._pan"),
        ("losses/study/_lamp.py:2", "losses.kitchen._pan.lid"),
    ]


@pytest.mark.parametrize(
    "face",
    sorted(
        ".".join(path.relative_to(ROOT.parent).parts[:-1])
        for path in ROOT.rglob("__init__.py")
    ),
)
def test_a_face_has_the_names_that_it_exports(face):
    module = import_module(face)
    for name in getattr(module, "__all__", []):
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=f"module '{face}' has no attribute 'lid'"):
        _ = module.lid


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_do_not_import_each_other_in_circles(package):
    known = {}
    for path in (ROOT / package).rglob("*.py"):
        folder = folder_of(path.relative_to(ROOT).with_suffix("").parts)
        for _, parts in own_imports(path):
            other = folder_of(parts) if parts[0] == package else ""
            if folder and other and other != folder:
                known.setdefault(folder, set()).add(other)
    TopologicalSorter(known).prepare()


def test_an_import_is_seen_however_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path / "skprob")
    path = tmp_path / "skprob" / "losses" / "family" / "_member.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "import numpy, skprob.mappings\n"
        "from skprob import targets\n"
        "from ... import mappings\n"
        "from ...mappings import Softmax, _base\n"
        "def later():\n"
        "    from ...mappings._base import Mapping\n"
        "from .._base import Loss\n"
        "from . import _other\n"
    )
    assert sorted(own_imports(path)) == [
        (1, ("mappings",)),
        (2, ("targets",)),
        (3, ("mappings",)),
        (4, ("mappings", "Softmax")),
        (4, ("mappings", "_base")),
        (6, ("mappings", "_base", "Mapping")),
        (7, ("losses", "_base", "Loss")),
        (8, ("losses", "family", "_other")),
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_errors_about_parameters_have_public_names(package):
    module = import_module(f"skprob.{package}")
    for name in module.__all__:
        # One constraint that needs no check is a text instead of a list.
        checked = getattr(getattr(module, name), "_parameter_constraints", {}).values()
        allowed = [each for some in checked if isinstance(some, list) for each in some]
        for constraint in map(str, map(make_constraint, allowed)):
            assert not re.search(r"skprob\S*\._", constraint), (name, constraint)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_documentation_lists_every_package(package):
    docs = Path(__file__).parents[1] / "docs"
    pages = docs / "api.rst", docs / "developer" / "index.rst"
    assert f"skprob.{package}" in "".join(page.read_text() for page in pages).split()


# Names that say nothing of the value.
EMPTY_NAMES = {"among", "found", "here", "how", "news", "own", "rest", "there", "way"}


FOLDERS = [
    *(f"skprob/{package}" for package in PACKAGES),
    *("tests", "examples", "docs/code", "docs/extensions", "docs/figures"),
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_say_what_the_value_is(folder):
    for path in sorted((ROOT.parent / folder).rglob("*.py")):
        for line, name in contents(path).names:
            assert name not in EMPTY_NAMES, f"{path.relative_to(ROOT.parent)}:{line}"


# Blocks on a cluster and on a GPU, which a reader of the numerics may leave out.
DASK = sorted((ROOT / "data" / "dask").glob("*.py"))
ARRAYS = ROOT / "data" / "_array_api.py"


def test_functions_that_go_to_blocks_are_picklable():
    """Their arguments, and the objects that they are called on, are picklable, too."""
    sent = []

    class Watched(LocalBlocks):
        def map(self, function, *args):
            sent.append((function, args))
            return Watched(super().map(function, *args)._blocks)

        def sum(self, function, *args):
            sent.append((function, args))
            return super().sum(function, *args)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    target = LabelTarget(rng.integers(3, size=60), 3)
    loss = FenchelYoungLoss(Sparsemax())
    blocks = Watched(split_rows(X, target, np.ones(60))._blocks)
    objective = LinearObjective(blocks, loss, l2=1e-3)
    unpenalised = objective.with_loss(FenchelYoungLoss(Softmax())).with_l2(0.0)
    unit_rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    blocks = Watched(split_rows(unit_rows, target, np.ones(60))._blocks)
    for each in objective, unpenalised, CosineObjective(blocks, loss):
        for solver in SOLVERS:
            if solver == "newton-cholesky" and not each.description.is_linear:
                continue
            start = each.initial()
            solution = solve(each, start, solver=solver, tol=1e-6, max_iter=100)
            point = each.at(solution.parameters)
            each.duality_gap(point)
            each.is_unbounded(point)
    assert len(sent) > 100
    for function, args in sent:
        assert pickle.loads(pickle.dumps(function)) is function
        pickle.dumps(args)
