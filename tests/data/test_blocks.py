"""Blocks in memory: sums for any number of threads, and slices of rows for blocks."""

import itertools
import multiprocessing
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from skprob._utils.blas import serial_blas
from skprob.data import (
    CSRDesign,
    DenseDesign,
    LocalBlocks,
    SingleBlock,
    as_design,
    local_blocks,
    row_slices,
)


def blas_threads():
    return [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]


def slowly(item):
    """Late blocks are ready before early ones, and rounding depends on the order."""
    time.sleep(0.001 * (item % 3 == 0))
    term = (-1) ** item * 10.0 ** (7 * item % 17) / 3
    return term, np.float32([term, 1 / (item + 1)]), item


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_the_order_of_addition_is_that_of_the_blocks(n_threads):
    expected = [np.zeros(()), np.zeros(2), np.zeros(())]
    for item in range(50):
        for total, term in zip(expected, slowly(item), strict=True):
            total += term
    with threadpool_limits(n_threads):
        totals = LocalBlocks(range(50)).sum(slowly)
    for total, wanted in zip(totals, expected, strict=True):
        assert total.dtype == np.float64
        assert_array_equal(total, wanted)


def test_results_stay_in_the_order_of_the_blocks_and_take_arguments():
    with threadpool_limits(2):
        squares = LocalBlocks(range(20)).map(lambda item, power: item**power, 2)
        assert isinstance(squares, LocalBlocks)
        placed = squares.sum(lambda square, unit: (square * unit,), np.float64(0.5))
    assert placed == [sum(i**2 for i in range(20)) / 2]


def test_one_block_is_summed_in_float64_as_well():
    (total,) = LocalBlocks([np.float32([1, 2])]).sum(lambda block: (block,))
    assert total.dtype == np.float64
    assert_array_equal(total, [1, 2])


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_blocks_are_as_they_were_after_a_sum(n_blocks):
    arrays = [np.ones(3) for _ in range(n_blocks)]
    blocks = LocalBlocks(arrays)
    for _ in range(2):
        assert_array_equal(blocks.sum(lambda block: (1 * block,))[0], n_blocks)
    assert_array_equal(arrays, 1)


def test_as_many_threads_as_blas_may_use():
    both = threading.Barrier(2, timeout=30)

    def function(item):
        both.wait()  # Passed by two threads together only.
        return (item,)

    with threadpool_limits(2):
        assert LocalBlocks(range(8)).sum(function) == [28]


def test_one_thread_where_blas_may_use_one():
    seen = set()
    with threadpool_limits(1):
        LocalBlocks(range(8)).map(lambda item: seen.add(threading.get_ident()))
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("n_blocks", [1, 4])
def test_blas_is_serial_meanwhile_and_then_as_before(n_blocks):
    inside = []
    with threadpool_limits(2):
        before = blas_threads()
        blocks = LocalBlocks(range(n_blocks))
        blocks.map(lambda item: inside.append(blas_threads()))
        assert inside == [[1] * len(before)] * n_blocks
        with pytest.raises(ZeroDivisionError):
            blocks.sum(lambda item: (1 / (item - n_blocks + 1),))
        assert blas_threads() == before


@pytest.mark.parametrize(
    ("n_threads", "wrong", "error"),
    [(1, 7, KeyError("mine")), (2, 0, KeyError("mine")), (2, 7, KeyboardInterrupt())],
    ids=str,
)
def test_an_error_reaches_the_caller_and_no_thread_goes_on(n_threads, wrong, error):
    begun, ended = [], []

    def function(item):
        begun.append(item)
        if item == wrong:
            raise error
        time.sleep(0.002)
        ended.append(item)
        return (item,)

    blocks = LocalBlocks(range(60))
    with threadpool_limits(n_threads):
        for method in (blocks.sum, blocks.map):
            begun.clear(), ended.clear()
            with pytest.raises(type(error)):
                method(function)
            assert len(begun) == len(ended) + 1
            n_begun = len(begun)
            time.sleep(0.01)
            assert len(begun) == n_begun
        # The same threads serve the next sum.
        assert blocks.sum(lambda item: (item,)) == [sum(range(60))]


def test_an_interrupt_from_outside_leaves_no_thread_at_work():
    begun, caller = [], threading.main_thread()

    def function(item):
        begun.append(item)
        time.sleep(0.005)
        if len(begun) > 10 and threading.current_thread() is caller:
            signal.raise_signal(signal.SIGINT)

    with threadpool_limits(2):
        with pytest.raises(KeyboardInterrupt):
            LocalBlocks(range(200)).map(function)
        n_begun = len(begun)
        time.sleep(0.02)
    assert len(begun) == n_begun < 200


def test_handling_of_floating_point_errors_is_that_of_the_caller():
    def function(item):
        return (np.float64(1e300) * np.float64(1e300 + item),)

    blocks = LocalBlocks(range(8))
    with threadpool_limits(2), np.errstate(over="ignore"):
        assert blocks.sum(function) == [np.inf]
    with threadpool_limits(2), np.errstate(over="raise"):
        with pytest.raises(FloatingPointError):
            blocks.sum(function)


def test_sums_of_several_threads_at_once_do_not_meet():
    totals, blocks = [], LocalBlocks(range(40))

    def work(factor):
        for _ in range(10):
            totals.append((factor, *blocks.sum(lambda item: (factor * item,))))

    with threadpool_limits(2):
        before = blas_threads()
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert blas_threads() == before
    assert len(totals) == 40
    assert all(total == factor * 780 for factor, total in totals)


def _sum_in_two_threads():
    with threadpool_limits(2):
        return LocalBlocks(range(100)).sum(lambda item: (item,))[0]


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_threads_do_not_outlive_a_fork():
    assert _sum_in_two_threads() == 4950
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_sum_in_two_threads).get(60) == 4950


def test_blocks_are_pickled_with_what_they_hold():
    blocks = pickle.loads(pickle.dumps(LocalBlocks([np.arange(3), np.arange(2)])))
    assert blocks.sum(np.shape) == [5]


def _powers(block, exponent):
    return block**exponent, np.float32(block.sum())


def test_one_block_alone_gives_the_same_as_in_a_list():
    array = np.random.default_rng(0).normal(size=(4, 3))
    with serial_blas:
        for blocks in (SingleBlock(array), LocalBlocks([array])):
            totals = blocks.sum(_powers, 2)
            assert [total.dtype for total in totals] == [np.float64] * 2
            assert_array_equal(totals[0], array**2)
            assert totals[1] == np.float32(array.sum())
            mapped = blocks.map(np.multiply, 2.0)
            assert type(mapped) is type(blocks)
            assert_array_equal(mapped.sum(_powers, 1)[0], 2 * array)
            assert mapped.collect(np.shape) == [(4, 3)]
            assert (blocks.is_remote, blocks.traffic) == (False, (0, 0))
    assert_array_equal(array, np.random.default_rng(0).normal(size=(4, 3)))


def test_pairs_of_blocks_in_the_same_place():
    def text(pair):
        return "{} {}".format(*pair)

    pairs = LocalBlocks([1, 2]).paired_with(LocalBlocks("ab"))
    assert pairs.collect(text) == ["1 a", "2 b"]
    pairs = SingleBlock(1).paired_with(SingleBlock("a"))
    assert type(pairs) is SingleBlock
    assert pairs.collect(text) == ["1 a"]
    with pytest.raises(ValueError, match="shorter"):
        LocalBlocks([1, 2]).paired_with(LocalBlocks([3]))


def test_the_kind_of_blocks_is_that_of_their_number():
    assert type(local_blocks(iter([1]))) is SingleBlock
    assert type(local_blocks(iter([1, 2]))) is LocalBlocks
    assert local_blocks([3, 4]).sum(lambda item: (item,)) == [7]


def test_a_single_block_is_pickled_with_what_it_holds():
    block = pickle.loads(pickle.dumps(SingleBlock(np.arange(3))))
    assert type(block) is SingleBlock
    assert block.sum(np.shape) == [3]


def test_as_design_is_of_the_kind_of_X():
    assert type(as_design(np.ones((2, 2)))) is DenseDesign
    assert type(as_design(sparse.csr_array(np.ones((2, 2))))) is CSRDesign


DATA = {
    "dense": lambda shape: np.empty(shape),
    "single": lambda shape: np.empty(shape, dtype=np.float32),
    "sparse": lambda shape: sparse.random_array(
        shape, density=min(1.0, 3 / shape[1]), format="csr", rng=0
    ),
}


@pytest.mark.parametrize("make", DATA.values(), ids=DATA)
def test_all_rows_are_there_once_and_in_order(make):
    shapes = (1, 1), (7, 3), (50_000, 5), (3000, 4000)
    for shape, n_outputs in itertools.product(shapes, (1, 10, 5000)):
        X = make(shape)
        slices = row_slices(X, n_outputs)
        sizes = [rows.stop - rows.start for rows in slices]
        assert [0, *np.cumsum(sizes)] == [slices[0].start, *(s.stop for s in slices)]
        assert sum(sizes) == shape[0]
        assert all(rows.step is None for rows in slices)
        assert max(sizes) - min(sizes) <= 1
        assert min(sizes) > 0


def test_blocks_are_neither_too_large_nor_too_many():
    """X and the predictions of a block fit in a cache, and take a while to read."""
    X = np.empty((400_000, 50))  # of which nothing is read
    for n_outputs in (1, 20):
        n_rows = 400_000 / len(row_slices(X, n_outputs))
        assert n_rows * 50 * 8 < 2e7
        assert n_rows * n_outputs * 8 < 2e6
        # A block holds twice as many rows in single precision.
        wide = np.empty((400_000, 500), dtype=np.float32)
        n_single = 400_000 / len(row_slices(wide, n_outputs))
        n_double = 400_000 / len(row_slices(wide.view(np.float64), n_outputs))
        assert n_single * 500 == pytest.approx(2 * n_double * 250, rel=0.01)
        assert n_rows > 1000
    assert len(row_slices(X[:1000], 20)) == 1
    # They grow with the coefficients, which are read once for each.
    assert 400_000 / len(row_slices(X, 3000)) > 300
