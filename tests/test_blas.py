"""BLAS is limited to one thread while a solver runs."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (loads SciPy's BLAS)
from threadpoolctl import threadpool_info, threadpool_limits

from skprob._blas import SerialBlas, serial_scipy_blas
from skprob.solvers._lbfgs import lbfgs

from .solvers.problems import classes, objective_of


class Pool:
    """A library as threadpoolctl describes it."""

    num_threads = 4

    def set_num_threads(self, n):
        self.num_threads = n


@pytest.fixture
def pools():
    pools = [Pool(), Pool()]
    pools[1].num_threads = 7
    return pools


def threads(pools):
    return [pool.num_threads for pool in pools]


def test_inside_one_thread_and_afterwards_what_was(pools):
    with SerialBlas(lambda: pools):
        assert threads(pools) == [1, 1]
    assert threads(pools) == [4, 7]


def test_nested_contexts_restore_at_the_last(pools):
    context = SerialBlas(lambda: pools)
    with context:
        with context:
            assert threads(pools) == [1, 1]
        assert threads(pools) == [1, 1]
    assert threads(pools) == [4, 7]


def test_the_first_thread_is_told_of_the_free_ones_and_the_others_of_one(pools):
    context, told = SerialBlas(lambda: pools), []

    def enter():
        with context as n_threads:
            told.append(n_threads)

    @context
    def decorated():
        enter()

    with context as n_threads:
        decorated()
        worker = threading.Thread(target=enter)
        worker.start()
        worker.join(10)
        enter()
    assert [n_threads, *told] == [7, 7, 1, 7]
    # What one thread has left, another may enter first.
    worker = threading.Thread(target=enter)
    worker.start()
    worker.join(10)
    assert told[-1] == 7
    assert threads(pools) == [4, 7]


def test_an_exception_restores(pools):
    with pytest.raises(KeyError, match="mine"), SerialBlas(lambda: pools):
        raise KeyError("mine")
    assert threads(pools) == [4, 7]


def test_threads_that_overlap_share_the_limit(pools):
    context = SerialBlas(lambda: pools)
    first_left, second_entered = threading.Event(), threading.Event()
    inside = []

    def second():
        with context:
            second_entered.set()
            assert first_left.wait(10)
            inside.append(threads(pools))

    worker = threading.Thread(target=second)
    with context:
        worker.start()
        assert second_entered.wait(10)
    first_left.set()
    worker.join(10)
    assert inside == [[1, 1]]
    assert threads(pools) == [4, 7]


def test_many_threads_leave_no_trace(pools):
    context = SerialBlas(lambda: pools)
    wrong = []

    def work():
        for _ in range(200):
            with context:
                if threads(pools) != [1, 1]:
                    wrong.append(threads(pools))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert not wrong
    assert threads(pools) == [4, 7]


def blas():
    """Threads of each BLAS of this process, SciPy's apart from the others."""
    libraries = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    own = [lib for lib in libraries if "scipy.libs" in lib["filepath"]]
    others = [lib for lib in libraries if lib not in own]
    return [[lib["num_threads"] for lib in group] for group in (own, others)]


@pytest.mark.skipif(
    not all(blas()), reason="NumPy and SciPy share a BLAS: there is nothing to limit"
)
def test_the_libraries_of_this_process():
    with threadpool_limits(2, user_api="blas"):
        before = blas()
        objective = objective_of(*classes())
        start = np.zeros(objective.n_parameters)
        inside = []
        lbfgs(
            objective,
            start,
            tol=1e-6,
            max_iter=3,
            callback=lambda *_: inside.append(blas()),
        )
        own, others = before
        assert inside == [[[1] * len(own), [1] * len(others)]] * 3
        assert blas() == before
        with serial_scipy_blas:
            assert blas() == [[1] * len(own), others]
        assert blas() == before


def test_importing_the_solvers_limits_nothing():
    code = (
        "import numpy, scipy.linalg, threadpoolctl as t;"
        "before = [i['num_threads'] for i in t.threadpool_info()];"
        "import skprob.solvers;"
        "after = [i['num_threads'] for i in t.threadpool_info()];"
        "assert after[:len(before)] == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
