"""Rows in a NumPy array."""

import numpy as np
from scipy import sparse

from ._design import SMALLEST_SQUARE, DesignMatrix
from ._one_pass import mean_and_squares, variance_of_sums

# Fewest numbers of X for which moments are computed from sums and sums of squares, in
# one pass instead of three. For 500 rows of 5,000 features this takes 0.4 times as
# long.
_MANY = 1 << 16


class DenseDesign(DesignMatrix):
    """Rows in a NumPy array `host_X`, in C or Fortran order."""

    def __init__(self, X):
        self.host_X = X
        self.shape, self.dtype, self.n_stored = X.shape, X.dtype, X.size

    def matvec(self, coef, shift=None):
        # OpenBLAS's kernels for small products are faster with C order.
        coef = np.ascontiguousarray(coef, self.dtype)
        # Fortran order, class by class, is faster for the kernels of mappings.
        raw = np.empty((self.shape[0], len(coef)), self.dtype, order="F")
        if coef[:, :1].any() or coef.any():
            np.matmul(coef, self.host_X.T, out=raw.T)
        else:  # Coefficients of zero, at which most fits start, need no product.
            raw[...] = 0
        if shift is not None:
            raw += shift.astype(self.dtype)
        return raw

    def rmatvec(self, residual):
        return residual.T @ self.host_X

    def class_sums(self, class_numbers, weight, n_classes):
        # A product with few non-zeros: with 500 classes it takes 0.01 times as long as
        # one with an array of all numbers. In double precision no digits are lost where
        # the mean of a column is large.
        entries = weight.astype(np.float64), class_numbers, np.arange(len(weight) + 1)
        one_hot = sparse.csc_array(entries, shape=(n_classes, len(weight)))
        return one_hot @ self.host_X

    def moments(self, weight):
        """Total weight, and weighted mean and deviation of each column, in float64.

        Columns whose squares could overflow or underflow are divided by their largest
        entry for the computation. The weight, (n_rows,), is not negative.
        """
        X, total = self.host_X, weight.sum(dtype=np.float64)
        share = weight / (total or np.float64(1))
        if X.size < _MANY:
            return total, *precise_moments(self, share)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, squares = mean_and_squares(X, share)
            variance, lost = variance_of_sums(
                mean, squares, lambda tiny: X[:, tiny].any(axis=0)
            )
        if len(lost) == len(mean):
            return total, *precise_moments(self, share)
        deviation = np.sqrt(np.maximum(variance, 0))
        if len(lost):
            columns = DenseDesign(X[:, lost])
            mean[lost], deviation[lost] = precise_moments(columns, share)
        return total, mean, deviation

    def moments_in_units(self, share, unit=None):
        """Sums for ``precise_moments``."""
        X = self.host_X if unit is None else self.host_X / unit
        mean = share @ X
        z = X - mean
        return mean, share @ z, share @ np.square(z, out=z)

    def largest_of_columns(self):
        """Largest absolute number of each column, in float64."""
        X = self.host_X
        ends = X.max(axis=0, initial=0), -X.min(axis=0, initial=0)
        return np.maximum(*ends).astype(np.float64)

    def take(self, rows):
        return DenseDesign(self.host_X[rows])

    def joined(self, others):
        # Chosen columns of a sparse X may be dense in one block and sparse in another.
        parts = [other.host_X for other in others]
        parts = [part.toarray() if sparse.issparse(part) else part for part in parts]
        return DenseDesign(np.concatenate([self.host_X, *parts]))

    @property
    def largest(self):
        return np.abs(self.host_X).max(initial=0)

    def in_single_precision(self):
        from ._rounded import RoundedDesign  # It is a subclass.

        return RoundedDesign(self.host_X)

    def columns(self, rows):
        return self.host_X[rows].T.astype(np.float64, copy=False)


def precise_moments(design, share):
    """Means and deviations of columns, accurate for all units of the columns.

    If mean squares overflow, or are so small that they lose digits, the columns are
    divided by their largest numbers. The weights `share` of the rows sum to one.
    ``design.moments_in_units(share, unit)`` returns the means of the columns divided by
    a unit (None for 1), the rounding errors of the means, and the mean squares about
    the means.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean, mean_error, variance = design.moments_in_units(share)
        squares = mean**2 + variance
    unit, is_finite = 1.0, np.isfinite(squares).all()
    tiny = squares < SMALLEST_SQUARE
    if tiny.any() or not is_finite:
        largest = design.largest_of_columns()
        # Columns of zeros have tiny squares, too.
        if largest[tiny].any() or not is_finite:
            unit = np.where(largest == 0, 1.0, largest)
            mean, mean_error, variance = design.moments_in_units(share, unit)
    # Subtract the rounding error of the mean: a constant column has deviation zero.
    variance = np.maximum(variance - mean_error**2, 0)
    return unit * (mean + mean_error), unit * np.sqrt(variance)
