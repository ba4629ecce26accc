"""Sums over blocks by several threads."""

import multiprocessing
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

from skprob.losses import FenchelYoungLoss, SparseTarget
from skprob.objective import LinearObjective, _parallel, split_rows
from skprob.objective._parallel import sum_over


def blas_threads():
    return [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]


def problem(n_samples=3000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, 30))
    target = SparseTarget.from_labels(rng.integers(5, size=n_samples), 5)
    return X, target, rng.uniform(0.5, 2, n_samples)


@pytest.mark.parametrize("n_items", [1, 2, 63, 64, 65, 1000])
@pytest.mark.parametrize("size", [1, 1 << 20, 1 << 30])
def test_every_item_is_added_once(n_items, size):
    def function(item):
        return item, np.float32([item, -2 * item])

    items = [2**i for i in range(20)] + list(range(980))
    total, pair = sum_over(items[:n_items], function, size)
    assert pair.dtype == np.float64
    assert total == sum(items[:n_items])
    assert_array_equal(pair, [total, -2 * total])


def test_as_many_threads_as_blas_may_use():
    both = threading.Barrier(2, timeout=30)

    def function(item):
        # Passed by two threads together only.
        both.wait()
        return (item,)

    with threadpool_limits(2):
        assert sum_over(range(8), function, 1)[0] == 28


def test_one_thread_where_blas_may_use_one():
    with threadpool_limits(1):
        seen = []
        sum_over(range(8), lambda i: seen.append(threading.get_ident()) or (i,), 1)
    assert set(seen) == {threading.get_ident()}


def test_blas_is_serial_meanwhile_and_then_as_before():
    with threadpool_limits(2):
        before = blas_threads()
        inside = []
        sum_over(range(4), lambda i: inside.append(blas_threads()) or (i,), 1)
        assert all(1 in threads for threads in inside)
        with pytest.raises(KeyError, match="third"):
            sum_over(range(9), lambda i: (i,) if i < 3 else {}["third"], 1)
        assert blas_threads() == before


def test_handling_of_floating_point_errors_is_that_of_the_caller():
    def function(item):
        return (np.float64(1e300) * np.float64(1e300 + item),)

    with threadpool_limits(2), np.errstate(over="ignore"):
        assert sum_over(range(8), function, 1)[0] == np.inf
    with threadpool_limits(2), np.errstate(over="raise"):
        with pytest.raises(FloatingPointError):
            sum_over(range(8), function, 1)


@pytest.mark.parametrize("mapping", ["softmax", "entmax"])
def test_the_result_does_not_depend_on_the_number_of_threads(mapping, monkeypatch):
    monkeypatch.setattr("skprob.objective._blocks._BLOCK_BYTES", 16_000)
    monkeypatch.setattr("skprob.objective._blocks._FEWEST_ROWS", 1)
    blocks = split_rows(*problem())
    assert len(blocks) > 40
    theta = np.random.default_rng(1).standard_normal(155)
    results = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads):
            objective = LinearObjective(blocks, FenchelYoungLoss(mapping), l2=0.1)
            linear = objective.linearize(theta)
            results.append(
                [
                    *objective.value_and_gradient(theta),
                    linear.value,
                    linear.gradient,
                    linear.hessian_product(theta),
                ]
            )
    for other in results[1:]:
        for one, same in zip(results[0], other, strict=True):
            assert_array_equal(one, same)


def _value():
    with threadpool_limits(2):
        return sum_over(range(100), lambda i: (i,), 1)[0]


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_threads_do_not_outlive_a_fork():
    assert _value() == 4950
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_value).get(60) == 4950


def test_partial_sums_are_bounded():
    parts = []

    def function(item):
        parts.append(threading.get_ident())
        return (np.ones(3),)

    # One part: no second sum of that size is kept.
    with threadpool_limits(2):
        (total,) = sum_over(range(50), function, _parallel._MOST_NUMBERS)
    assert_allclose(total, 50)
    assert set(parts) == {threading.get_ident()}
