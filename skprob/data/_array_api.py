"""Rows in an array of any library that follows the array API standard."""

import numpy as np

from .._utils.arrays import (
    as_type,
    asarray_like,
    column_sums,
    concat,
    namespace,
    numpy_dtype,
    take,
    to_numpy,
    widened,
)
from ._design import DesignMatrix

# Most numbers of X in a block (4 GiB in single precision), because libraries may count
# them in 32 bits. Large blocks save starts of computations: on an H100 200,000 rows of
# 1,500 features take 0.7 times as long in one block as in two.
_MOST_NUMBERS = 1 << 30
# Most numbers of the rows that are standardised at once.
_MOST_STANDARDISED = 1 << 26


def n_array_blocks(shape, n_outputs):
    """Number of blocks of an array, before it is rounded up."""
    n_rows, n_columns = shape
    # About ten numbers are stored for each raw prediction. The limit is that they take
    # 2.5 times as much memory as X.
    return n_rows * max(n_columns, 4 * n_outputs) / _MOST_NUMBERS


class ArrayDesign(DesignMatrix):
    """Rows in an array of another library than NumPy, for instance on a GPU.

    Raw predictions, residuals, weights and sandwiches remain on the device. Arrays of
    the size of the coefficients are NumPy arrays, and are copied between host and
    device.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Numbers of type float32 or float64.
    """

    def __init__(self, X):
        self._X, self._xp = X, namespace(X)
        self.shape, self.dtype = tuple(X.shape), numpy_dtype(X)
        self.n_stored = self.shape[0] * self.shape[1]
        # An empty array of the widest type of real numbers of the device.
        self._widest = widened(X[:0, ...])

    def matvec(self, coef, shift=None):
        coef = as_type(asarray_like(coef, self._X), self._X.dtype)
        result = self._X @ coef.T
        if shift is not None:
            result += as_type(asarray_like(shift, self._X), self._X.dtype)
        return result

    def rmatvec(self, residual):
        return to_numpy(self.rmatvec_on_device(residual)).astype(np.float64)

    def rmatvec_on_device(self, residual):
        """The product residualᵀ X as an array of the library and on the device of X."""
        return asarray_like(residual, self._X).T @ self._X

    def wide(self, array):
        """A NumPy array on the device of X, in the widest type of the device."""
        return asarray_like(array, self._widest)

    def moments(self, weight):
        """See :meth:`DenseDesign.moments`."""
        weight = as_type(asarray_like(weight, self._X), self._X.dtype)
        xp, total = self._xp, float(column_sums(weight))
        share = weight / (total or 1.0)
        unit = xp.maximum(xp.max(self._X, axis=0), -xp.min(self._X, axis=0))
        unit = xp.where(unit > 0, unit, 1.0)
        n_rows, n_columns = self.shape
        step = max(_MOST_STANDARDISED // n_columns, 1)
        starts = range(0, n_rows, step)
        parts = [slice(start, min(start + step, n_rows)) for start in starts]
        mean = sum(share[rows] @ (take(self._X, rows) / unit) for rows in parts)
        mean_error = variance = 0.0
        for rows in parts:
            z = take(self._X, rows) / unit
            z -= mean
            mean_error += share[rows] @ z
            z *= z
            variance += share[rows] @ z
        # Subtract the rounding error of the mean: a constant column has deviation zero.
        variance = xp.clip(variance - mean_error**2, 0.0)
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
        """The sandwich, as an array of the library and on the device of X."""
        z = columns(slice(None))
        weights = as_type(asarray_like(weights, self._X), z.dtype)
        products = [(z * weights[:, k]) @ z.T for k in range(weights.shape[1])]
        result = widened(self._xp.stack(products))
        return (result + self._xp.matrix_transpose(result)) / 2
