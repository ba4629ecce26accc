"""Importing skprob is quick and pulls in nothing optional."""

import os
import subprocess
import sys

import pytest

OPTIONAL = {"matplotlib", "pandas", "polars", "pyarrow", "rich", "torch", "entmax"}


def run(code, *options):
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


@pytest.mark.parametrize(
    "module", ["skprob", "skprob.metrics", "skprob.mappings", "skprob.losses"]
)
def test_no_optional_package_is_imported(module):
    code = "import sys; import sklearn.linear_model; before = set(sys.modules); "
    code += f"import {module}; print(*set(sys.modules) - before)"
    loaded = run(code).stdout.split()
    assert module in loaded
    assert not OPTIONAL.intersection(name.split(".")[0] for name in loaded)


def own_milliseconds():
    """What skprob takes to import after sklearn.linear_model, in time of the CPU."""
    code = "import sklearn.linear_model; from time import process_time as now; "
    code += "start = now(); import skprob; print(1000 * (now() - start))"
    return float(run(code).stdout)


def test_it_costs_50_ms_at_most_beyond_sklearn_linear_model():
    # The least of several: what else runs on the machine only ever adds to it.
    assert any(own_milliseconds() < 50 for _ in range(10))
