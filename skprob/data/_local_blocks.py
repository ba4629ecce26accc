"""Several blocks in memory, computed by threads."""

import functools
import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from .._utils.blas import serial_blas
from ._blocks import Blocks, SingleBlock


class LocalBlocks(Blocks):
    """Blocks in memory, computed by as many threads as BLAS may use.

    BLAS itself uses one thread in each of them. So the total is at most the number that
    the user allows: one in a worker of joblib, or under threadpoolctl's limit of one.

    Parameters
    ----------
    blocks : iterable
        At least one block.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import LocalBlocks
    >>> blocks = LocalBlocks([np.array([1.0, 2.0]), np.array([3.0])])
    >>> def total_and_count(block):
    ...     return block.sum(), len(block)
    >>> [total.item() for total in blocks.sum(total_and_count)]
    [6.0, 3.0]
    """

    def __init__(self, blocks):
        self._blocks = list(blocks)

    def map(self, function, *args):
        results = [None] * len(self._blocks)
        self._run(function, args, results.__setitem__)
        return LocalBlocks(results)

    def sum(self, function, *args):
        total = _OrderedSum()
        self._run(function, args, total.add)
        return total.totals

    def paired_with(self, others):
        """Blocks of pairs: each block with the block of `others` of the same number."""
        return LocalBlocks(zip(self._blocks, others._blocks, strict=True))

    def split(self, function, *args):
        """Blocks of all blocks in the function's results, which are Blocks."""
        parts = self.map(function, *args)
        return LocalBlocks(block for part in parts._blocks for block in part._blocks)

    def joined(self, n_together):
        """Blocks that each have the rows of `n_together` of these, in order."""
        firsts = range(0, len(self._blocks), n_together)
        groups = [self._blocks[first : first + n_together] for first in firsts]
        return local_blocks(first.joined(others) for first, *others in groups)

    def collect(self, function, *args):
        """The function's results, which should be small, in a list."""
        return self.map(function, *args)._blocks

    def _run(self, function, args, store):
        """Call ``store(i, function(block, *args))`` for every block."""
        if len(self._blocks) == 1:  # With little data threads would take longer.
            with serial_blas:
                return store(0, function(self._blocks[0], *args))
        left = deque(enumerate(self._blocks))

        def work(error_handling):
            with np.errstate(**error_handling):
                while left:
                    try:
                        i, block = left.popleft()
                    except IndexError:  # Another thread took the last block.
                        return
                    store(i, function(block, *args))

        with serial_blas as n_threads:
            others = [
                _pool(n_threads - 1).submit(work, np.geterr())
                for _ in range(min(n_threads, len(self._blocks)) - 1)
            ]
            try:
                work({})
            finally:
                # After an error or an interrupt all threads must stop.
                left.clear()
                wait(others)
        for other in others:
            other.result()


def local_blocks(blocks):
    """LocalBlocks of an iterable of blocks, or a SingleBlock if there is only one."""
    blocks = list(blocks)
    return SingleBlock(*blocks) if len(blocks) == 1 else LocalBlocks(blocks)


class _OrderedSum:
    """Sums of tuples of arrays, in the order of the blocks, not of their arrival."""

    def __init__(self):
        self.totals = None
        self._next, self._waiting = 0, {}
        self._lock = threading.Lock()

    def add(self, i, terms):
        """Add the i-th tuple as soon as all before it have been added."""
        with self._lock:
            self._waiting[i] = terms
            while (terms := self._waiting.pop(self._next, None)) is not None:
                self._next += 1
                if self.totals is None:
                    self.totals = [np.asarray(t, dtype=np.float64) for t in terms]
                else:
                    for total, term in zip(self.totals, terms, strict=True):
                        total += term


@functools.lru_cache(maxsize=1)
def _pool(n_threads):
    return ThreadPoolExecutor(n_threads, thread_name_prefix="skprob")


# A forked process has none of the threads, so it needs a new pool.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
