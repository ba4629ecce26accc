"""Rows in a NumPy array."""

import numpy as np

from ._design import DesignMatrix

# Most multiplications of a product that OpenBLAS's AVX-512 kernels compute without
# packing. With few columns this takes 0.6 times as long (1.05 times with other
# kernels).
_SMALL_PRODUCT = 10**6


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
        coef = coef.astype(self.dtype, copy=False)
        # Fortran order, class by class, is faster for the kernels of mappings.
        raw = np.empty((self.shape[0], len(coef)), self.dtype, order="F")
        for rows in self._parts(len(coef)):
            np.matmul(coef, self._X[rows].T, out=raw[rows].T)
        if shift is not None:
            raw += shift.astype(self.dtype)
        return raw

    def rmatvec(self, residual):
        parts = self._parts(residual.shape[1])
        return sum(residual[rows].T @ self._X[rows] for rows in parts)

    def _parts(self, n_outputs):
        """Slices of rows: one, or several such that each product is small."""
        n_rows, n_columns = self.shape
        # There may be no columns: of a working set without features.
        length = _SMALL_PRODUCT // max(n_columns * n_outputs, 1)
        if length < n_columns:
            return [slice(None)]
        return [slice(i, i + length) for i in range(0, max(n_rows, 1), length)]

    def moments(self, weight):
        X, total = self._X, weight.sum(dtype=np.float64)
        share = weight / (total or np.float64(1))
        unit = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            mean, mean_error, variance = _moments(X, share)
            squares = mean**2 + variance
        # Squares below this are inaccurate because of underflow, or a column is zero.
        vanishing = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
        tiny = squares < vanishing
        has_tiny = tiny.any() and X[:, tiny].any()
        if has_tiny or not np.isfinite(squares).all():
            unit = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
            unit[unit == 0] = 1
            mean, mean_error, variance = _moments(X / unit, share)
        # Subtract the rounding error of the mean: a constant column has deviation zero.
        variance = np.maximum(variance - mean_error**2, 0)
        return total, unit * (mean + mean_error), unit * np.sqrt(variance)

    def take(self, rows):
        return DenseDesign(self._X[rows])

    def columns(self, rows):
        return self._X[rows].T.astype(np.float64, copy=False)


def _moments(X, share):
    """Mean, its rounding error, and mean square about it."""
    mean = share @ X
    z = X - mean
    return mean, share @ z, share @ np.square(z, out=z)
