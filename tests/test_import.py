"""Importing skprob is quick and pulls in nothing optional."""

import os
import subprocess
import sys

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


def test_no_optional_package_is_imported():
    code = "import sys; import sklearn.linear_model; before = set(sys.modules); "
    code += f"import {', '.join(MODULES)}; print(*set(sys.modules) - before)"
    loaded = run(code).stdout.split()
    assert set(MODULES) <= set(loaded)
    assert not OPTIONAL.intersection(name.split(".")[0] for name in loaded)


def test_the_name_alone_imports_nothing():
    code = "import sys; import skprob; print({'numpy', 'sklearn'} & set(sys.modules))"
    assert run(code).stdout.strip() == "set()"


def own_part():
    """CPU time that the first classifier takes, by that of sklearn.linear_model."""
    code = "from time import process_time as now; start = now(); "
    code += "import sklearn.linear_model; middle = now(); "
    code += "from skprob import LinearClassifier; "
    code += "print((now() - middle) / (middle - start))"
    return float(run(code).stdout)


# scikit-learn 1.7.2 is imported in less time, of which skprob takes 5.5 to 6.4 %.
@since_1_9
def test_it_adds_5_percent_at_most_to_sklearn_linear_model(monkeypatch):
    # An installed package has been compiled; here the first run does that.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    # The threads of BLAS are as many as for a user.
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    # Measured 4.3 to 4.9 %; any of several, because of what else runs on the machine.
    assert any(own_part() < 0.05 for _ in range(10))
