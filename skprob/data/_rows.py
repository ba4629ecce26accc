"""The division of rows in memory into blocks."""

import itertools
import math

from scipy import sparse

from .._utils.arrays import is_host
from ._array_api import n_array_blocks
from ._design import CACHE_SIZE


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
