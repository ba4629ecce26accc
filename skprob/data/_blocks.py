"""Collections of blocks with the methods map and sum, and the rows of X as blocks."""

import math
from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse

from .._utils.arrays import is_host
from .._utils.tuning import Tuning
from ._array_api import ArrayDesign, n_array_blocks
from ._csr import CSRDesign
from ._dense import DenseDesign


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

    def merged(self, function, merge):
        """Result of a function for all rows; ``merge`` joins the results for blocks."""
        return merge(self.map(function))


class SingleBlock(Blocks):
    """One block in memory: functions are called in the calling thread."""

    def __init__(self, block):
        #: The block itself.
        self.single = block
        self._blocks = [block]  # LocalBlocks.split reads such a list of any blocks.

    def map(self, function, *args):
        return SingleBlock(function(self.single, *args))

    def sum(self, function, *args):
        terms = function(self.single, *args)
        return [np.asarray(term, dtype=np.float64) for term in terms]

    def merged(self, function, merge):
        return function(self.single)

    def paired_with(self, others):
        """The block of a pair: this block, and the block of `others`."""
        return SingleBlock((self.single, others.single))

    def joined(self, n_together):
        """The block itself, which has no others to be joined with."""
        return self

    def collect(self, function, *args):
        """The function's result, in a list."""
        return [function(self.single, *args)]


def as_design(X):
    """The design matrix of an array or a CSR matrix, which is not copied."""
    if sparse.issparse(X):
        return CSRDesign(X)
    return DenseDesign(X) if isinstance(X, np.ndarray) else ArrayDesign(X)


def row_slices(X, n_outputs, tuning=Tuning()):
    """Slices of the rows of X for blocks of a suitable size, in order.

    There is at least one, and their sizes differ by one row at most. A row has
    `n_outputs` raw predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import row_slices
    >>> len(row_slices(np.zeros((60_000, 784)), n_outputs=10))
    45
    """
    n_samples, n_features = X.shape
    if is_host(X):
        # BLAS is slow for blocks with fewer rows than raw predictions of a row.
        width, fewest = n_features, n_outputs
        if sparse.issparse(X):
            width = X.nnz / max(n_samples, 1)
            # The coefficients are scaled once for each block. For one coefficient this
            # takes as long as the products of 20 entries. With 64 entries for each
            # coefficient, Reuters and bibtex take 0.5 to 0.8 times as long as with 4.
            fewest = max(fewest, 64 * n_features / max(width, 1))
        # Raw predictions and their gradient fit in L2 together.
        rows_of_X = tuning.block_bytes / (X.dtype.itemsize * max(width, 1))
        step = max(min(rows_of_X, tuning.block_size / (2 * n_outputs)), fewest)
        n_blocks = n_samples / step
    else:
        n_blocks = n_array_blocks(X.shape, n_outputs)
    n_blocks = max(math.ceil(n_blocks), 1)
    if n_blocks == 1:
        return [slice(0, n_samples)]
    # Blocks of equal size, so that threads finish at the same time.
    ends = n_samples * np.arange(n_blocks + 1) // n_blocks
    return list(map(slice, ends.tolist(), ends[1:].tolist()))
