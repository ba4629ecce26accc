"""Fixtures of all tests: estimators, data sets and profiles of hypothesis.

The conftest.py of the repository imports it, where tests are run.
"""

import multiprocessing
import os
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy.sparse import csr_array
from sklearn.base import clone

from skprob.linear_model.predict import _prediction
from skprob.objective import _block
from skprob.solvers import Tuning, _path, _solve, method_for, plan
from skprob.solvers.newton import _by_products

from .estimators import ESTIMATORS, LINEAR, SAMPLE

# The same examples in every run, so that a change alone can turn a test red;
# HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile(
    "repeatable", max_examples=50, derandomize=True, deadline=None
)
settings.register_profile("explore", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
if settings().derandomize:
    # Hypothesis also draws numbers that occur in the modules of this project which are
    # loaded by then: other ones in each process, and after each change of the code.
    with suppress(ImportError, AttributeError):  # of versions that do not
        from hypothesis.internal.conjecture import providers

        constants = providers._local_constants
        monkey = pytest.MonkeyPatch()
        monkey.setattr(providers, "_get_local_constants", lambda: constants)


def pytest_collection_modifyitems(items):
    """Refuse names of tests that differ from process to process."""
    bad = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if bad:
        raise pytest.UsageError(f"name the cases by ids, not by addresses: {bad[0]}")


@pytest.fixture(scope="session", autouse=True)
def interrupts():
    """Interrupts work, also where a shell has started the tests in the background.

    Such a process ignores SIGINT, and Python then raises no KeyboardInterrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=list(ESTIMATORS.values()), ids=list(ESTIMATORS))
def classifier(request):
    """Every classifier and every mapping in turn, unfitted."""
    return clone(request.param)


@pytest.fixture(params=list(LINEAR.values()), ids=list(LINEAR))
def linear_classifier(request):
    """Every classifier whose scores are W x + b in turn, unfitted."""
    return clone(request.param)


@pytest.fixture(params=list(SAMPLE.values()), ids=list(SAMPLE))
def sample_classifier(request):
    """A few classifiers in turn, unfitted: for tests that no mapping changes."""
    return clone(request.param)


@pytest.fixture
def rows_of_a_block(monkeypatch):
    """Return ``set_rows(n)``: from then on blocks have n rows, the last one fewer."""

    def set_rows(n):
        def row_slices(X, *_):
            return [slice(i, min(i + n, X.shape[0])) for i in range(0, X.shape[0], n)]

        for module in (_block, _prediction):
            monkeypatch.setattr(module, "row_slices", row_slices)

    return set_rows


@pytest.fixture
def plan_with(monkeypatch):
    """Return ``plan_with(**numbers)``: from then on plans use this tuning."""

    def plan_with(**numbers):
        tuning = Tuning(**numbers)
        for module in (_solve, _by_products):
            monkeypatch.setattr(module, "plan", lambda of, *_: plan(of, tuning))
        for module in (_solve, _path):
            monkeypatch.setattr(
                module, "method_for", lambda of, *_: method_for(of, tuning)
            )

    return plan_with


@pytest.fixture(scope="module")
def forked_workers():
    """Make workers of Dask by forks, where there are forks, of one with all imports.

    Otherwise each worker, and each that replaces a lost one, imports for 6 s.
    """
    dask = pytest.importorskip("dask")
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield multiprocessing.get_context("spawn")
        return
    from multiprocessing import forkserver

    preloaded = ["distributed", "dask.dataframe", "skprob.linear_model.dask"]
    forkserver.set_forkserver_preload([*preloaded, "skprob.linear_model.classifiers"])
    forkserver.ensure_running()
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        yield multiprocessing.get_context("forkserver")


@pytest.fixture(scope="session")
def data():
    """Return ``load(name)``, which reads a data set of the folder SKPROB_DATA.

    A set is a dict of its arrays, with the pieces of a CSR matrix put together.
    """
    folder = os.environ.get("SKPROB_DATA")
    if not folder:
        pytest.skip("needs the data sets of the folder that SKPROB_DATA names")

    def load(name):
        with np.load(Path(folder) / f"{name}.npz") as file:
            arrays = dict(file)
        for key in [k.removesuffix("_indptr") for k in arrays if "_indptr" in k]:
            values, indices, indptr, shape = (
                arrays.pop(f"{key}_{piece}")
                for piece in ("data", "indices", "indptr", "shape")
            )
            arrays[key] = csr_array((values, indices, indptr), shape=tuple(shape))
        return arrays

    return load
