"""Collections of blocks with the methods map and sum, and the rows of X as blocks."""

import functools
import itertools
import math
import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from scipy import sparse

from .._utils.arrays import is_host
from .._utils.blas import serial_blas
from ._array_api import ArrayDesign, n_array_blocks
from ._csr import CSRDesign
from ._dense import DenseDesign
from ._design import CACHE_SIZE


class Blocks(ABC):
    """Blocks of rows, or results of a function for each block, in memory or elsewhere.

    Functions are called as ``function(block, *args)``. They are pure and defined at the
    top of a module, so they can be sent to another process. Only `args`, such as
    coefficients, are sent, and only sums are returned.
    """

    #: Whether a sum is a round trip to other processes.
    is_remote = False
    #: Number of round trips, and of bytes sent in both directions, so far.
    traffic = 0, 0

    @abstractmethod
    def map(self, function, *args):
        """Blocks of the function's results, each stored where its block is."""

    @abstractmethod
    def sum(self, function, *args):
        """Totals of the function's results, which are tuples of new arrays or numbers.

        The result is a list of float64 arrays. The terms are added in the order of the
        blocks, for any number of threads, processes or machines.
        """


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

    def beside(self, others):
        """Blocks of pairs: a block of these, and the one of others in its place."""
        return LocalBlocks(zip(self._blocks, others._blocks, strict=True))

    def split(self, function, *args):
        """Blocks of all blocks in the function's results, which are Blocks."""
        parts = self.map(function, *args)
        return LocalBlocks(block for part in parts._blocks for block in part._blocks)

    def collect(self, function, *args):
        """The function's results, which should be small, in a list."""
        return self.map(function, *args)._blocks

    def _run(self, function, args, take):
        """Call ``take(i, function(block, *args))`` for every block."""
        if len(self._blocks) == 1:  # With little data threads would take longer.
            with serial_blas:
                return take(0, function(self._blocks[0], *args))
        left = deque(enumerate(self._blocks))

        def work(error_handling):
            with np.errstate(**error_handling):
                while left:
                    try:
                        i, block = left.popleft()
                    except IndexError:  # Another thread took the last block.
                        return
                    take(i, function(block, *args))

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


class SingleBlock(LocalBlocks):
    """One block in memory: functions are called in the calling thread.

    Parameters
    ----------
    block : object

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import SingleBlock
    >>> def total(block):
    ...     return (block.sum(),)
    >>> SingleBlock(np.array([1.0, 2.0])).sum(total)
    [array(3.)]
    """

    def __init__(self, block):
        #: The block itself.
        self.single = block
        self._blocks = [block]

    def map(self, function, *args):
        return SingleBlock(function(self.single, *args))

    def beside(self, others):
        return SingleBlock((self.single, others.single))

    def sum(self, function, *args):
        terms = function(self.single, *args)
        return [np.asarray(term, dtype=np.float64) for term in terms]


def local_blocks(blocks):
    """LocalBlocks of an iterable of blocks, or a SingleBlock if there is only one."""
    blocks = list(blocks)
    return SingleBlock(*blocks) if len(blocks) == 1 else LocalBlocks(blocks)


def as_design(X):
    """The design matrix of an array or a CSR matrix, which is not copied."""
    if sparse.issparse(X):
        return CSRDesign(X)
    return DenseDesign(X) if isinstance(X, np.ndarray) else ArrayDesign(X)


def row_slices(X, n_outputs):
    """Slices of the rows of X for blocks of a suitable size, in order.

    There is at least one, and their sizes differ by one row at most.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    n_outputs : int
        Number of raw predictions of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import row_slices
    >>> len(row_slices(np.zeros((60_000, 784)), n_outputs=10))
    45
    """
    n_samples, n_features = X.shape
    if not is_host(X):
        return _cut(n_samples, n_array_blocks(X.shape, n_outputs))
    # BLAS is slow for blocks with fewer rows than raw predictions of a row.
    width, fewest = n_features, n_outputs
    if sparse.issparse(X):
        width = X.nnz / max(n_samples, 1)
        # The coefficients are scaled once for each block. For one coefficient this
        # takes as long as the products of 20 entries. With 64 entries for each
        # coefficient, Reuters and bibtex take 0.5 to 0.8 times as long as with 4.
        fewest = max(fewest, 64 * n_features / max(width, 1))
    # Raw predictions and their gradient fit in L2 together. X may be four times as
    # large (8 MiB): it is still in L3 for the second product.
    step = max(CACHE_SIZE * min(4 / max(width, 1), 0.5 / n_outputs), fewest)
    return _cut(n_samples, n_samples / step)


def _cut(n_samples, n_blocks):
    # Blocks of equal size, so that threads finish at the same time.
    n_blocks = max(math.ceil(n_blocks), 1)
    ends = [n_samples * i // n_blocks for i in range(n_blocks + 1)]
    return [slice(*pair) for pair in itertools.pairwise(ends)]


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
