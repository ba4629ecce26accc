"""What must be in force before scipy is imported: this file is the first one read."""

import gc
import os
from importlib.util import find_spec

# scikit-learn skips its check of array inputs without it.
os.environ["SCIPY_ARRAY_API"] = "1"

import pytest

import skprob.decision
import skprob.linear_model

# pytest finds a class's example in the package that has the class, and this one has
# it once it is used.
for package in skprob.linear_model, skprob.decision:
    for name in package.__all__:
        getattr(package, name)

collect_ignore = ["tests/typing"]  # For mypy, with errors on purpose.
# Examples that need another library; docs/conftest.py has those of pages.
if find_spec("distributed") is None:
    collect_ignore_glob = ["skprob/data/dask/_*.py", "skprob/linear_model/dask/_*.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for garbage neither while tests are collected nor in what stays.

    Modules and tests are 600,000 objects, which were visited nine times.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
