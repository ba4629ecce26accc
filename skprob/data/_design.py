"""The operations with the rows of a block."""

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse

# What is written and read again at once has at most so many numbers (2 MiB): about a
# core's L2 cache. With a quarter, fits to badly scaled columns take 1.15 times as long.
CACHE_SIZE = 1 << 18


class DesignMatrix(ABC):
    """The rows of one block, as a matrix to multiply with."""

    shape: tuple  #: (n_rows, n_columns).
    dtype: np.dtype  #: float32 or float64.
    n_stored: int  #: Numbers in memory: all, or the non-zeros of a sparse matrix.
    #: Whether products in single precision are faster, and no number too large.
    fits_single_precision = False

    @abstractmethod
    def matvec(self, coef, shift=None):
        """Raw predictions X coefᵀ, (n_rows, M), of coefficients (M, n_columns).

        A new array in the dtype of X. The shift, (M,), is added to each row.
        """

    @abstractmethod
    def rmatvec(self, residual):
        """Residualᵀ X, (M, n_columns), of a residual (n_rows, M); a new array."""

    def totals(self, residual):
        """Sums of the columns of a residual, in float64."""
        return residual.sum(axis=0, dtype=np.float64)

    @abstractmethod
    def moments(self, weight):
        """Total weight, and weighted mean and deviation of each column, in float64.

        A column is in units of its largest entry where squares could overflow or
        vanish. The weight, (n_rows,), is not negative.
        """

    @abstractmethod
    def take(self, rows):
        """The design of some rows, given by a slice or by their numbers."""

    @abstractmethod
    def columns(self, rows):
        """Some rows, transposed, to be read: float64 of shape (n_columns, n_taken)."""

    def sandwich(self, weights):
        """Xᵀ diag(w) X for each column w of weights (n_rows, n_weights), of any sign.

        In float64, of shape (n_weights, n_columns, n_columns). Rows without weight cost
        nothing.
        """
        return self.sandwich_of(self.columns, self.shape[1], weights)

    def sandwich_of(self, columns, n_columns, weights):
        """The same of other columns, given by their method :meth:`columns`."""
        total = np.zeros((weights.shape[1], n_columns, n_columns))
        rows = np.flatnonzero(weights.any(axis=1))
        # Twice as many rows as columns at least: adding up takes time, too.
        step = max(CACHE_SIZE // n_columns, 2 * n_columns)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            # All rows need no copy.
            some = slice(None) if len(some) == len(weights) else some
            total += _sandwich(columns(some), weights[some])
        return total


def as_design(X):
    """The design matrix of an array or a CSR matrix, which is not copied."""
    from ._array_api import ArrayDesign
    from ._csr import CSRDesign
    from ._dense import DenseDesign

    if sparse.issparse(X):
        return CSRDesign(X)
    return DenseDesign(X) if isinstance(X, np.ndarray) else ArrayDesign(X)


def _sandwich(columns, weights):
    n_columns, n_weights = len(columns), weights.shape[1]
    found = np.empty((n_weights, n_columns, n_columns))
    if 2 * n_weights < n_columns and weights.min(initial=0) >= 0:
        for sandwich, root in zip(found, np.sqrt(weights).T, strict=True):
            weighted = columns * root
            # The product of an array with its own transpose costs half.
            np.matmul(weighted, weighted.T, out=sandwich)
        return found
    # Products with what all of them share are faster than one for each.
    for j, column in enumerate(columns):
        products = (column * columns[j:]) @ weights
        found[:, j, j:] = found[:, j:, j] = products.T
    return found
