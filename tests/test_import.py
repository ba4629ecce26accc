"""Importing skprob is quick and pulls in nothing optional."""

import os
import subprocess
import sys
from ast import literal_eval

import pytest

import skprob

from .versions import since_1_9

OPTIONAL = {
    "dask",
    "distributed",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "skl2onnx",
    "torch",
    "array_api_strict",
    "entmax",
}
MODULES = ["skprob", *(f"skprob.{package}" for package in skprob._PACKAGES)]


def run(code, *options):
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


@pytest.fixture(scope="module")
def loaded():
    """Modules that a classifier loads after `sklearn.linear_model`, and all packages.

    With them the threads of libraries, before and after. One process imports all,
    since scikit-learn takes seconds.
    """
    code = "import sys; import sklearn.linear_model; before = set(sys.modules); "
    code += "from threadpoolctl import threadpool_info; "
    code += "threads = lambda: {x['filepath']: x['num_threads'] for x in "
    code += "threadpool_info()}; threads_before = threads(); "
    code += "from skprob import LinearClassifier; print(*set(sys.modules) - before); "
    code += f"import {', '.join(MODULES)}; print(*set(sys.modules) - before); "
    code += "print(threads_before); print(threads())"
    modules, packages, *threads = run(code).stdout.splitlines()
    return set(modules.split()), set(packages.split()), *map(literal_eval, threads)


def test_no_optional_package_is_imported(loaded):
    _, by_packages, *_ = loaded
    assert set(MODULES) <= by_packages
    assert not OPTIONAL.intersection(name.split(".")[0] for name in by_packages)


def test_the_name_alone_imports_nothing():
    code = "import sys; import skprob; print({'numpy', 'sklearn'} & set(sys.modules))"
    assert run(code).stdout.strip() == "set()"


def test_importing_limits_no_threads(loaded):
    """A solver limits them while it runs: ``_utils/test_blas.py``."""
    *_, before, after = loaded
    assert before and before.items() <= after.items()


# Older versions of scikit-learn load a few modules of SciPy later.
@since_1_9
def test_a_classifier_loads_no_module_that_sklearn_linear_model_does_not(loaded):
    """It is why an import takes little longer (``benchmarks/import_time.py``)."""
    by_classifier, *_ = loaded
    assert {name for name in by_classifier if name.split(".")[0] != "skprob"} == set()
    # Nor a package of ours that a fit does not need.
    others = ("attention", "inspection", "metrics", "onnx")
    assert by_classifier.isdisjoint(f"skprob.{package}" for package in others)
