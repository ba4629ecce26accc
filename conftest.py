"""What must be in force before scipy is imported: this file is the first one read."""

import gc
import os
from importlib import import_module
from importlib.util import find_spec

# scikit-learn skips its check of array inputs without it.
os.environ["SCIPY_ARRAY_API"] = "1"

import pytest

collect_ignore = ["tests/typing"]  # For mypy, with errors on purpose.
# Examples that need another library; docs/conftest.py has those of pages.
if find_spec("distributed") is None:
    collect_ignore_glob = ["skprob/data/dask/_*.py", "skprob/linear_model/dask/_*.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Import what tests need, and collect them.

    The process that distributes the tests among others runs none: with these imports
    the others would start 4 s later.

    Garbage is looked for neither while tests are collected nor in what stays. Modules
    and tests are 600,000 objects, which were visited nine times.
    """
    if session.config.pluginmanager.hasplugin("dsession"):
        return (yield)
    import_packages()
    session.config.pluginmanager.import_plugin("tests.fixtures")
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def import_packages():
    """Use all names of two packages.

    pytest finds a class's example in the package that has the class, and these have it
    once it is used.
    """
    for package in "skprob.linear_model", "skprob.decision":
        module = import_module(package)
        for name in module.__all__:
            getattr(module, name)
