"""Rows in a NumPy array."""

import numpy as np

from ._design import DesignMatrix, need_units

# Rows of a part of which both products of a Hessian product are computed while it is in
# the cache: 60,000 x 784 takes 0.62 times as long with 3 and 5 outputs, 0.87 with 10
# and 16 (0.95 with other kernels than for AVX-512). With 128 rows 10 outputs take 1.3
# times as long as with 64.
_PART_ROWS = 64
# Most multiplications of a product that OpenBLAS's AVX-512 kernels compute without
# packing.
_SMALL_PRODUCT = 10**6
# Most outputs, and fewest columns, of products by parts: with 20 outputs they take 1.5
# times as long, and 100 columns 1.03 times.
_MOST_OUTPUTS = 16
_FEWEST_COLUMNS = 200


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
        # In this order OpenBLAS's kernels for small products are faster.
        coef = np.ascontiguousarray(coef, self.dtype)
        # Fortran order, class by class, is faster for the kernels of mappings.
        raw = np.empty((self.shape[0], len(coef)), self.dtype, order="F")
        for rows in self.parts(len(coef)) or [slice(None)]:
            np.matmul(coef, self._X[rows].T, out=raw[rows].T)
        if shift is not None:
            raw += shift.astype(self.dtype)
        return raw

    def rmatvec(self, residual):
        return residual.T @ self._X

    def parts(self, n_outputs):
        n_rows, n_columns = self.shape
        n_multiplications = _PART_ROWS * n_columns * n_outputs
        pays = (
            1 < n_outputs <= _MOST_OUTPUTS
            and n_columns >= _FEWEST_COLUMNS
            and n_multiplications <= _SMALL_PRODUCT
        )
        return _slices(n_rows, _PART_ROWS) if pays else None

    def product_by_parts(self, coef, function, parts):
        return self.products_by_parts(coef, None, function, parts)[0]

    def products_by_parts(self, coef, shift, function, parts):
        """The product by parts, and the values (n_rows, M) of the function.

        The shift, (M,) or None, is added to each row before.
        """
        coef = np.ascontiguousarray(coef, self.dtype)
        values = np.empty((self.shape[0], len(coef)), self.dtype, order="F")
        total, product = np.zeros(coef.shape, self.dtype), np.empty_like(coef)
        if shift is not None:
            shift = shift.astype(self.dtype)
        for rows in parts:
            X, part = self._X[rows], values[rows]
            np.matmul(coef, X.T, out=part.T)
            if shift is not None:
                part += shift
            result = function(part, rows)
            if result is not part:
                part[...] = result
            total += np.matmul(part.T, X, out=product)
        return total, values

    def moments(self, weight):
        X, total = self._X, weight.sum(dtype=np.float64)
        share = weight / (total or np.float64(1))
        unit = 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            mean, mean_error, variance = _moments(X, share)
            squares = mean**2 + variance
        if need_units(squares, lambda tiny: X[:, tiny].any()):
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


def _slices(n_rows, length):
    return [slice(i, i + length) for i in range(0, max(n_rows, 1), length)]


def _moments(X, share):
    """Mean, its rounding error, and mean square about it."""
    mean = share @ X
    z = X - mean
    return mean, share @ z, share @ np.square(z, out=z)
