"""Rows in an array of any library that follows the array API standard."""

import numpy as np

from .._arrays import as_type, beside, namespace, numpy_dtype, take, to_numpy, widened
from ._design import DesignMatrix

# Weighted columns take so many numbers at a time (128 MiB in double precision).
_SANDWICH_SIZE = 1 << 24
# The computations of a smaller block take no longer than to start them. X of a block is
# at most so many numbers (1 GiB in single precision), and its raw predictions, of which
# about ten are kept, so many (256 MiB).
_MOST_NUMBERS, _MOST_PREDICTIONS = 1 << 28, 1 << 26


def n_array_blocks(shape, n_outputs):
    """In how many blocks an array is cut, which need not be whole."""
    n_rows, n_columns = shape
    width = max(n_columns / _MOST_NUMBERS, n_outputs / _MOST_PREDICTIONS)
    return n_rows * width


class ArrayDesign(DesignMatrix):
    """Rows in an array of another library than NumPy, for instance on a GPU.

    What has a number for each row stays on the device: raw predictions, residuals and
    weights. What has the size of the coefficients is NumPy's, and comes and goes.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Of float32 or float64.
    """

    def __init__(self, X):
        self._X, self._xp = X, namespace(X)
        self.shape, self.dtype = tuple(X.shape), numpy_dtype(X)
        self.n_stored = self.shape[0] * self.shape[1]

    def matvec(self, coef, shift=None):
        found = self._X @ beside(coef, self._X).T
        return found if shift is None else found + beside(shift, self._X)

    def rmatvec(self, residual):
        product = beside(residual, self._X).T @ self._X
        return to_numpy(product).astype(np.float64)

    def totals(self, residual):
        residual = beside(residual, self._X)
        dtype = widened(residual[:0, ...]).dtype
        total = self._xp.sum(residual, axis=0, dtype=dtype)
        return to_numpy(total).astype(np.float64)

    def moments(self, weight):
        weight = as_type(beside(weight, self._X), self._X.dtype)
        xp, total = self._xp, float(self.totals(weight))
        share = weight / (total or 1.0)
        unit = xp.max(abs(self._X), axis=0)
        unit = xp.where(unit > 0, unit, 1.0)
        z = self._X / unit
        mean = share @ z
        z -= mean
        rest = share @ z
        # What rounding has left in the mean would give a constant column a deviation.
        variance = xp.clip(share @ z**2 - rest**2, 0.0)
        found = unit, mean, rest, variance
        unit, mean, rest, variance = (to_numpy(a).astype(np.float64) for a in found)
        return total, unit * (mean + rest), unit * np.sqrt(variance)

    def take(self, rows):
        return ArrayDesign(take(self._X, rows))

    def columns(self, rows):
        """Some rows, transposed, in the library of X."""
        return take(self._X, rows).T

    def sandwich_of(self, columns, n_columns, weights):
        n_rows, n_weights = weights.shape
        step = max(_SANDWICH_SIZE // max(n_columns * n_weights, 1), 1)
        total = 0.0
        for start in range(0, max(n_rows, 1), step):
            rows = slice(start, start + step)
            z, weight = columns(rows), take(weights, rows)
            weight = as_type(beside(weight, self._X), z.dtype)
            weighted = weight.T[:, None, :] * z[None, :, :]
            total = total + widened(weighted @ z.T)
        total = to_numpy(total).astype(np.float64)
        return (total + total.swapaxes(1, 2)) / 2
