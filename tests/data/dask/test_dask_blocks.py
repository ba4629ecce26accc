"""Blocks on the workers of a Dask cluster, here in this process."""

import pickle
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skprob.data import Cluster, DaskBlocks, LocalBlocks, Partition, wait_for
from skprob.data.dask import _dask_blocks as module

distributed = pytest.importorskip("distributed", reason="needs the extra skprob[dask]")


def terms(number):
    """Numbers whose sum depends on the order of addition, by rounding."""
    return [(-1) ** number * 10.0 ** (7 * number % 17) / 3, np.float64([number, 1])]


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 7, 64, 100])
def test_a_pairwise_sum_does_not_depend_on_who_adds_what(n_leaves):
    totals, rng = [], np.random.default_rng(0)
    for n_workers in (1, 2, 3, 50):
        owner = rng.integers(n_workers, size=n_leaves)
        parts = [module.PairwiseSum(n_leaves) for _ in range(n_workers)]
        for i in rng.permutation(n_leaves):
            parts[owner[i]].add(0, int(i), terms(int(i)) if i % 5 != 4 else None)
        total = module.PairwiseSum(n_leaves)
        for part in parts:
            for place, some in part.nodes.items():
                total.add(*place, some)
        totals.append(total.total)
    present = [i for i in range(n_leaves) if i % 5 != 4]
    exact = sum(present), len(present)
    for value, counts in totals:
        assert value == totals[0][0]
        assert_array_equal(counts, exact)


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=2, dashboard_address=None
    ) as client:
        yield client


def remote(client, blocks):
    futures = client.map(Partition, blocks, pure=False)
    cluster = Cluster(client, futures)
    wait_for(client, futures)
    return DaskBlocks(cluster), cluster


def halves(block):
    return LocalBlocks(np.array_split(block, 2) if len(block) > 1 else [])


def total(block, factor=1.0):
    return factor * block.sum(), np.array([len(block)])


def test_the_verbs_are_those_of_blocks_in_memory(client):
    arrays = [np.arange(float(n)) for n in (3, 5, 1, 4, 2)]
    (blocks, cluster), local = remote(client, arrays), LocalBlocks(arrays)
    for each in (blocks, local):
        scaled = each.map(np.multiply, 3.0).split(halves).map(np.subtract, 1.0)
        sums, counts = scaled.sum(total, 2.0)
        assert (sums, counts.tolist()) == (2 * (3 * 20 - 14), [14])
        assert each.collect(len) == [3, 5, 1, 4, 2]
        assert [len(part) for part in scaled.collect(np.copy)] == [
            2,
            1,
            3,
            2,
            2,
            2,
            1,
            1,
        ]
    # Two sums and two lists, of which `map` and `split` are no part.
    assert cluster.n_round_trips == 3
    assert blocks.traffic == (3, cluster.n_bytes)
    assert 1000 < cluster.n_bytes < 100_000
    cluster.release()


def test_results_are_kept_while_they_are_asked_for(client):
    partition = Partition(np.arange(4.0))
    step = module._dumps(("map", np.multiply, (2.0,)))
    chain = [(0, step)]
    partition.after(chain, {0})
    (first,) = partition.after(chain, {0}).collect(np.copy)
    assert_array_equal(first, [0, 2, 4, 6])
    assert list(partition._results) == [0]
    kept = partition._results[0]
    assert partition.after([*chain, (1, step)], {0, 1}) is partition._results[1]
    assert partition._results[0] is kept
    partition.after([], set())
    assert not partition._results
    # Computed results are not pickled.
    partition.after(chain, {0})
    moved = pickle.loads(pickle.dumps(partition))
    assert not moved._results
    assert_array_equal(moved.after([], set()).collect(np.copy)[0], np.arange(4.0))
    assert partition.__sizeof__() >= 32


def test_a_worker_short_of_memory_keeps_its_partitions_in_files(
    client, monkeypatch, tmp_path
):
    monkeypatch.setattr(module, "_folder_if_short_of_memory", lambda: tmp_path)
    arrays = [np.asfortranarray(np.arange(12.0).reshape(4, 3)) + i for i in range(3)]
    blocks, cluster = remote(client, arrays)
    assert len(list(tmp_path.iterdir())) == 3
    doubled = blocks.map(np.multiply, 2.0)
    for _ in range(2):
        assert doubled.sum(total)[0] == 2 * (3 * 66 + 36)
    for array, block in zip(arrays, blocks.collect(np.asanyarray), strict=True):
        assert_array_equal(block, array)
        assert block.flags.f_contiguous
    cluster.release()
    for _ in range(100):
        if not list(tmp_path.iterdir()):
            break
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())


def test_memory_is_short_above_a_share_of_the_limit(monkeypatch):
    class Worker:
        class memory_manager:
            memory_limit = 100

        class monitor:
            get_process_memory = staticmethod(lambda: 45)

        local_directory = "here"

    assert module._folder_if_short_of_memory() is None
    monkeypatch.setattr(distributed, "get_worker", Worker)
    assert module._folder_if_short_of_memory() == "here"
    Worker.memory_manager.memory_limit = 200
    assert module._folder_if_short_of_memory() is None
    Worker.memory_manager.memory_limit = None
    assert module._folder_if_short_of_memory() is None


def test_errors_are_those_of_the_first_block(client):
    blocks, cluster = remote(client, [1.0, 0.0, 2.0, 0.0])
    with pytest.raises(ZeroDivisionError) as error:
        blocks.sum(inverse)
    assert "partition 1" in error.value.__notes__[0]
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        blocks.sum(overflow)
    with np.errstate(over="ignore"):
        assert blocks.sum(overflow) == [np.inf]
    # The client works with other blocks afterwards.
    cluster.release()
    assert remote(client, [2.0])[0].sum(inverse) == [0.5]


def inverse(block):
    return (1 / block,)


def overflow(block):
    return (np.float64(1e300) * np.float64(1e300 + block),)
