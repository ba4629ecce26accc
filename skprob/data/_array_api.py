"""Rows in an array of any library that follows the array API standard."""

import numpy as np

from .._utils.arrays import (
    as_type,
    beside,
    column_sums,
    concat,
    namespace,
    numpy_dtype,
    take,
    to_numpy,
)
from ._design import DesignMatrix

# Most numbers of X in a block (1 GiB in single precision). With small blocks the start
# of the computations would take longer than the computations.
_MOST_NUMBERS = 1 << 28


def n_array_blocks(shape, n_outputs):
    """Number of blocks of an array, before it is rounded up."""
    n_rows, n_columns = shape
    # About ten numbers are stored for each raw prediction. They may take 2.5 times as
    # much memory as X.
    return n_rows * max(n_columns, 4 * n_outputs) / _MOST_NUMBERS


class ArrayDesign(DesignMatrix):
    """Rows in an array of another library than NumPy, for instance on a GPU.

    Arrays with a number for each row remain on the device: raw predictions, residuals
    and weights. Arrays of the size of the coefficients are NumPy arrays, and are copied
    between host and device.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Numbers of type float32 or float64.
    """

    def __init__(self, X):
        self._X, self._xp = X, namespace(X)
        self.shape, self.dtype = tuple(X.shape), numpy_dtype(X)
        self.n_stored = self.shape[0] * self.shape[1]

    def matvec(self, coef, shift=None):
        result = self._X @ beside(coef, self._X).T
        return result if shift is None else result + beside(shift, self._X)

    def rmatvec(self, residual):
        product = beside(residual, self._X).T @ self._X
        return to_numpy(product).astype(np.float64)

    def moments(self, weight):
        weight = as_type(beside(weight, self._X), self._X.dtype)
        xp, total = self._xp, float(column_sums(weight))
        share = weight / (total or 1.0)
        unit = xp.max(abs(self._X), axis=0)
        unit = xp.where(unit > 0, unit, 1.0)
        z = self._X / unit
        mean = share @ z
        z -= mean
        mean_error = share @ z
        # Subtract the rounding error of the mean: a constant column has deviation zero.
        variance = xp.clip(share @ z**2 - mean_error**2, 0.0)
        result = unit, mean, mean_error, variance
        unit, mean, mean_error, variance = (
            to_numpy(a).astype(np.float64) for a in result
        )
        return total, unit * (mean + mean_error), unit * np.sqrt(variance)

    def take(self, rows):
        return ArrayDesign(take(self._X, rows))

    def joined(self, others):
        return ArrayDesign(concat([self._X, *(other._X for other in others)]))

    def columns(self, rows):
        """Some rows, transposed, in the library of X."""
        return take(self._X, rows).T

    def sandwich_of(self, columns, n_columns, weights):
        z = columns(slice(None))
        result = np.empty((weights.shape[1], n_columns, n_columns))
        weights = as_type(beside(weights, self._X), z.dtype)
        for k, sandwich in enumerate(result):
            sandwich[:] = to_numpy((z * weights[:, k]) @ z.T)
        return (result + result.swapaxes(1, 2)) / 2
