"""Rows in a NumPy array."""

import numpy as np

from ._design import DesignMatrix


class DenseDesign(DesignMatrix):
    """Rows in a NumPy array, in C or Fortran order.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    """

    def __init__(self, X):
        self._X = X
        self.shape, self.dtype, self.n_stored = X.shape, X.dtype, X.size

    def matvec(self, coef, shift=None):
        # In Fortran order, class by class: the kernels of mappings are faster so.
        found = (coef.astype(self.dtype, copy=False) @ self._X.T).T
        if shift is not None:
            found += shift.astype(self.dtype)
        return found

    def rmatvec(self, residual):
        return residual.T @ self._X

    def moments(self, weight):
        X, total = self._X, weight.sum(dtype=np.float64)
        share = weight / (total or np.float64(1))
        unit = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            mean, rest, variance = _moments(X, share)
            squares = mean**2 + variance
        # Squares below this have lost digits to underflow, unless a column is zero.
        vanishing = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
        if not np.isfinite(squares).all() or X[:, squares < vanishing].any():
            unit = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
            unit[unit == 0] = 1
            mean, rest, variance = _moments(X / unit, share)
        # What rounding has left in the mean would give a constant column a deviation.
        variance = np.maximum(variance - rest**2, 0)
        return total, unit * (mean + rest), unit * np.sqrt(variance)

    def take(self, rows):
        return DenseDesign(self._X[rows])

    def columns(self, rows):
        return self._X[rows].T.astype(np.float64, order="C", copy=False)


def _moments(X, share):
    """Mean, what rounding has left of it, and mean square about it."""
    mean = share @ X
    z = X - mean
    return mean, share @ z, share @ np.square(z, out=z)
