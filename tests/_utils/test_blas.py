"""BLAS is limited to one thread while a solver runs."""

import threading

import pytest
import scipy.linalg  # noqa: F401  (loads SciPy's BLAS)
from threadpoolctl import threadpool_info, threadpool_limits

from skprob._utils import blas as _blas
from skprob._utils.blas import SerialBlas
from skprob.solvers import SOLVERS, solve

from ..solvers.training_problems import classes, objective_of


class Pool:
    """A library as threadpoolctl describes it."""

    def __init__(self, num_threads):
        self.num_threads = num_threads

    def set_num_threads(self, n):
        self.num_threads = n


@pytest.fixture
def pools(monkeypatch):
    pools = [Pool(4), Pool(7)]
    monkeypatch.setattr(_blas, "_libraries", lambda: pools)
    return pools


def threads(pools):
    return [pool.num_threads for pool in pools]


def test_inside_one_thread_and_afterwards_what_was(pools):
    with SerialBlas():
        assert threads(pools) == [1, 1]
    assert threads(pools) == [4, 7]


def test_nested_contexts_restore_at_the_last(pools):
    context = SerialBlas()
    with context:
        with context:
            assert threads(pools) == [1, 1]
        assert threads(pools) == [1, 1]
    assert threads(pools) == [4, 7]


def test_the_first_thread_is_told_of_the_free_ones_and_the_others_of_one(pools):
    context, set_numbers = SerialBlas(), []

    def enter():
        with context as n_threads:
            set_numbers.append(n_threads)

    @context
    def decorated():
        enter()

    with context as n_threads:
        decorated()
        worker = threading.Thread(target=enter)
        worker.start()
        worker.join(10)
        enter()
    assert [n_threads, *set_numbers] == [7, 7, 1, 7]
    # After one thread has left, another may enter first.
    worker = threading.Thread(target=enter)
    worker.start()
    worker.join(10)
    assert set_numbers[-1] == 7
    assert threads(pools) == [4, 7]


def test_an_exception_restores(pools):
    with pytest.raises(KeyError, match="mine"), SerialBlas():
        raise KeyError("mine")
    assert threads(pools) == [4, 7]


def test_threads_that_overlap_share_the_limit(pools):
    context = SerialBlas()
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
    context, wrong = SerialBlas(), []

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


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_libraries_of_this_process(solver):
    with threadpool_limits(2, user_api="blas"):
        before, inside = blas_threads(), []
        objective = objective_of(*classes())
        solve(
            objective,
            objective.initial(),
            solver=solver,
            tol=1e-9,
            max_iter=3,
            callback=lambda *_: inside.append(blas_threads()),
        )
        assert inside == [[1] * len(before)] * 3
        assert blas_threads() == before


def blas_threads():
    return [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]


def test_any_thread_of_python_sets_the_limit_and_gives_it_back():
    """threadpoolctl 3.8 heeds only the first one that has set a limit, else."""
    threads = []

    def work():
        with _blas.serial_blas:
            threads.append(blas_threads())

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        for _ in range(2):
            worker = threading.Thread(target=work)
            worker.start()
            worker.join(10)
            work()
        assert threads == [[1] * len(before)] * 4
        assert blas_threads() == before == [2] * len(before)
