"""Blocks on the workers of a Dask cluster.

Dask computes and stores the partitions, each of which is a future. If a worker is lost,
Dask computes its partitions again on another one. Sums over the partitions do not use
Dask's scheduling of tasks, which would take several times as long as a pass over a
block. Instead each worker gets one message, and returns the sums over all partitions
that it stores.

- A partition stores the results of `map`. They are lost if the partition is moved or
  stored on disk, and then computed again: functions are pure, and every message
  contains all of them.
- Sums are added along a binary tree over the partitions, in their order. A worker adds
  the branches that it stores, and the caller adds the others. So the order of addition
  does not depend on the location of the partitions.
"""

import asyncio
import contextlib
import itertools
import os
import pickle
import tempfile
import time
import weakref

import numpy as np

from .._blocks import Blocks
from .._local_blocks import LocalBlocks
from ._workers import PATIENCE, Workers, lost_scheduler, wait_for

# Share of a worker's memory above which partitions are stored in files. Dask spills
# from 0.6 on.
_MUCH_MEMORY = 0.4

_numbers = itertools.count()


class DaskBlocks(Blocks):
    """Blocks on workers, several in each partition.

    Parameters
    ----------
    cluster : Cluster
    step : Step, default=None
        The call that made the blocks; None stands for the partitions themselves, each
        of which is one block.

    Examples
    --------
    >>> import numpy as np
    >>> from distributed import Client
    >>> from skprob.data import Cluster, DaskBlocks, Partition
    >>> def total_and_count(block):
    ...     return block.sum(), len(block)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     futures = client.map(Partition, [np.array([1.0, 2.0]), np.array([3.0])])
    ...     blocks = DaskBlocks(Cluster(client, futures))
    ...     [total.item() for total in blocks.sum(total_and_count)]
    [6.0, 3.0]
    """

    is_remote = True

    def __init__(self, cluster, step=None):
        self._cluster, self._step = cluster, step

    @property
    def traffic(self):
        return self._cluster.n_round_trips, self._cluster.n_bytes

    def map(self, function, *args):
        return self._after("map", function, args)

    def split(self, function, *args):
        """Blocks of all blocks in the function's results, which are Blocks."""
        return self._after("split", function, args)

    def sum(self, function, *args):
        return self._cluster.sum(self._step, function, args)

    def collect(self, function, *args):
        """The function's results, which should be small, in a list."""
        return self._cluster.collect(self._step, function, args)

    def _after(self, verb, function, args):
        # The call is sent with the next sum, to save a round trip.
        call = _dumps((verb, function, args))
        return DaskBlocks(self._cluster, self._cluster.step(self._step, call))


class Step:
    """A call that makes blocks from blocks, as bytes, and the step before it."""

    def __init__(self, before, call):
        self.number, self.before, self.call = next(_numbers), before, call

    def chain(self):
        """Numbers and calls from the first step to this one."""
        earlier = self.before.chain() if self.before else []
        return [*earlier, (self.number, self.call)]


class Cluster:
    """Partitions on the workers of a cluster, and the messages to the workers.

    Parameters
    ----------
    client : distributed.Client
    futures : list of Future
        Futures of :class:`Partition`, in order.
    """

    def __init__(self, client, futures):
        self._client, self._futures = client, futures
        self._places, self._alive = {}, weakref.WeakSet()
        self._workers = Workers(client)
        self.n_round_trips = self.n_bytes = 0

    def step(self, before, call):
        """A step; the workers store its results until it is deleted."""
        step = Step(before, call)
        self._alive.add(step)
        return step

    def sum(self, step, function, args):
        """See :meth:`Blocks.sum`."""
        total = PairwiseSum(len(self._futures))
        for nodes in self._answers("sum", step, function, args):
            for place, terms in nodes.items():
                total.add(*place, terms)
        return total.total

    def collect(self, step, function, args):
        """Results in the order of the blocks."""
        gathered = {}
        for results in self._answers("collect", step, function, args):
            gathered |= results
        return list(
            itertools.chain.from_iterable(gathered[i] for i in sorted(gathered))
        )

    def wait(self):
        """Wait until the workers have computed the partitions; see :func:`wait_for`."""
        wait_for(self._client, self._futures, self._workers)

    def release(self):
        """Release the partitions and all results that were computed from them."""
        for future in self._futures:
            future.release()

    def _answers(self, *question):
        """Answers of the workers, until each partition is in one of them."""
        verb, step, function, args = question
        request = _dumps(
            {
                "verb": verb,
                "call": (function, args),
                "chain": step.chain() if step else [],
                "alive": {step.number for step in self._alive},
                "errors": np.geterr(),
                "n_partitions": len(self._futures),
            }
        )
        left, errors = set(range(len(self._futures))), {}
        while left:
            places = self._located(left)
            for results, done, failed in self._ask(request, places):
                errors |= failed
                if done:
                    self._workers.progress()
                left -= done | failed.keys()
                yield results
            if left:  # Some partitions were moved, or a worker is lost.
                self._workers.check()
                self._places.clear()
                time.sleep(PATIENCE / 5)
        if errors:
            # Raise the error of the first partition, not of the fastest worker.
            raise errors[min(errors)]

    def _ask(self, request, places):
        """Answers of the workers that sent one."""
        self.n_round_trips += 1
        try:
            # Call all workers of the scheduler: a call of a lost worker would wait for
            # a time-out.
            answers = self._client.run(_answer, request, places, on_error="return")
        except OSError as error:
            raise lost_scheduler(self._client) from error
        self.n_bytes += len(request) * len(answers)
        for answer in answers.values():
            if isinstance(answer, bytes):
                self.n_bytes += len(answer)
                yield pickle.loads(answer)
            elif not isinstance(answer, OSError):  # An OSError means a lost worker.
                raise RuntimeError(
                    "A Dask worker could not compute the sums of its blocks. The same "
                    "version of skprob must be installed on all workers. "
                    f"{type(answer).__name__}: {answer}"
                ) from answer

    def _located(self, numbers):
        """Keys of some partitions by number, by the worker that has them.

        Waits for partitions that are being computed.
        """
        places = {}
        while not numbers <= self._places.keys():
            futures = [self._futures[i] for i in sorted(numbers)]
            wait_for(self._client, futures, self._workers)
            holders = self._client.who_has(self._futures)
            self._places = {
                i: min(holders[future.key])
                for i, future in enumerate(self._futures)
                if holders.get(future.key)
            }
        for i in sorted(numbers):
            places.setdefault(self._places[i], {})[i] = self._futures[i].key
        return places


class Partition:
    """A block on a worker, with the results that were computed from it.

    On a worker with too little memory the block is stored in a file, which is read at
    every use, and results are not stored. Dask's own spilling would write to the disk
    in every pass.
    """

    def __init__(self, block):
        self._results, folder = {}, _folder_if_short_of_memory()
        self._held = block if folder is None else None
        self._file = None if folder is None else _BlockFile(block, folder)

    def __reduce__(self):
        return Partition, (self._block(),)

    def __sizeof__(self):
        return sum(len(part) for part in _parts(self._held))

    def _block(self):
        return self._held if self._file is None else self._file.read()

    def after(self, chain, alive):
        """The LocalBlocks that a chain of steps makes from the block.

        The stored results of other steps are deleted unless the step is in `alive`.
        """
        kept = {n: made for n, made in list(self._results.items()) if n in alive}
        blocks = LocalBlocks([self._block()])
        for number, call in chain:
            if number not in kept:
                verb, function, args = pickle.loads(call)
                kept[number] = getattr(blocks, verb)(function, *args)
            blocks = kept[number]
        if self._file is None:
            self._results = kept
        return blocks


class _BlockFile:
    """A file with an object; it is removed when this object is deleted."""

    def __init__(self, block, folder):
        parts = _parts(block)
        self._sizes = [len(part) for part in parts]
        handle, self._path = tempfile.mkstemp(suffix=".skprob", dir=folder)
        weakref.finalize(self, _remove, self._path)
        with open(handle, "wb") as file:
            file.writelines(parts)

    def read(self):
        with open(self._path, "rb", buffering=0) as file:
            head, *buffers = (_read(file, size) for size in self._sizes)
        return pickle.loads(head, buffers=buffers)


def _parts(block):
    """The pickle of an object: a head, and the memory of its arrays."""
    buffers = []
    head = pickle.dumps(block, protocol=5, buffer_callback=buffers.append)
    return [head, *(buffer.raw() for buffer in buffers)]


def _read(file, size):
    buffer = np.empty(size, dtype=np.uint8)
    left = memoryview(buffer)
    while left:
        n_read = file.readinto(left)
        if not n_read:
            raise OSError(f"{file.name} has become shorter.")
        left = left[n_read:]
    return buffer


def _remove(path):
    with contextlib.suppress(OSError):
        os.remove(path)


def _folder_if_short_of_memory():
    """Folder of a worker that has used much of its memory; None for others."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):  # This process is not a worker.
        return None
    limit = worker.memory_manager.memory_limit
    if limit and worker.monitor.get_process_memory() > _MUCH_MEMORY * limit:
        return worker.local_directory
    return None


class PairwiseSum:
    """Sums of tuples of arrays by a binary tree over their places.

    The children of place i on level l + 1 are 2 i and 2 i + 1 on level l. The sum does
    not depend on the order in which terms are added.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data.dask._dask_blocks import PairwiseSum
    >>> one, other = PairwiseSum(3), PairwiseSum(3)
    >>> one.add(0, 2, [np.float64(4)])
    >>> one.add(0, 0, [np.float64(1)])
    >>> one.nodes.keys()
    dict_keys([(1, 1), (0, 0)])
    >>> other.add(0, 1, [np.float64(2)])
    >>> for place, terms in one.nodes.items():
    ...     other.add(*place, terms)
    >>> other.total
    [np.float64(7.0)]
    """

    def __init__(self, n_leaves):
        self._n_leaves = n_leaves
        #: Terms that wait for their sibling, by level and number.
        self.nodes = {}

    def add(self, level, number, terms):
        """Add the sum of a branch; None is the sum of a branch without blocks."""
        width = -(-self._n_leaves // 2**level)
        while width > 1:
            sibling = number ^ 1
            if sibling < width:  # The last node of a level may have no sibling.
                if (level, sibling) not in self.nodes:
                    break
                # Addition is commutative in floating point: the order has no effect.
                terms = _added(self.nodes.pop((level, sibling)), terms)
            level, number, width = level + 1, number // 2, -(-width // 2)
        self.nodes[level, number] = terms

    @property
    def total(self):
        """The total, after all terms have been added."""
        (total,) = self.nodes.values()
        return total


def _added(one, other):
    if one is None or other is None:
        return other if one is None else one
    return [a + b for a, b in zip(one, other, strict=True)]


def _dumps(obj):
    from distributed.protocol.pickle import dumps

    return dumps(obj)


# Functions that run on the workers.


async def _answer(request, places, dask_worker):
    """Results for the partitions that a worker has, and the errors, as bytes.

    The results are sums, as nodes of the tree, or lists by the partitions' number.
    """
    request, keys = pickle.loads(request), places.get(dask_worker.address, {})
    total, results, errors, done = PairwiseSum(request["n_partitions"]), {}, {}, set()
    n_threads = asyncio.Semaphore(dask_worker.state.nthreads)

    async def ask(number, key):
        async with n_threads:
            # Only the thread of the event loop may use the data of a worker.
            partition = dask_worker.data.get(key)
            if partition is None:
                return
            try:
                result = await asyncio.to_thread(_evaluate, partition, request)
            except Exception as error:
                error.add_note(f"(In partition {number} of the Dask collection.)")
                errors[number] = error
                return
        done.add(number)
        if request["verb"] == "sum":
            total.add(0, number, result)
        else:
            results[number] = result

    await asyncio.gather(*(ask(number, key) for number, key in keys.items()))
    results = total.nodes if request["verb"] == "sum" else results
    return _dumps((results, done, errors))


def _evaluate(partition, request):
    function, args = request["call"]
    with np.errstate(**request["errors"]):
        blocks = partition.after(request["chain"], request["alive"])
        return getattr(blocks, request["verb"])(function, *args)
