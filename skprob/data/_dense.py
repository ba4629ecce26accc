"""Rows in a NumPy array: as they are, rounded, or in standardised columns."""

from functools import cached_property

import numpy as np
from scipy import sparse

from .._utils.arrays import upper_triangle
from .._utils.tuning import Tuning
from ._design import DesignMatrix

# Fewest numbers whose sums and sums of squares are computed first: a spread about the
# mean needs two more passes. Of 500 rows of 5,000 features they take 0.4 times as long.
_MANY = 1 << 16
# Numbers at once, that remain in the cache.
_AT_ONCE = 1 << 16
# Part of the mean square of a column above which its variance has lost few digits.
_LITTLE_LOST = 0.1
# Mean squares of columns that are not smaller have all digits.
_SMALLEST_SQUARE = np.finfo(np.float64).tiny / np.finfo(np.float64).eps


class DenseDesign(DesignMatrix):
    """Rows in a NumPy array, in C or Fortran order.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    """

    def __init__(self, X):
        self._X = X
        self.shape, self.dtype, self.n_stored = X.shape, X.dtype, X.size

    @property
    def host_X(self):
        """The array itself."""
        return self._X

    def matvec(self, coef, shift=None):
        # In this order OpenBLAS's kernels for small products are faster.
        coef = np.ascontiguousarray(coef, self.dtype)
        # Fortran order, class by class, is faster for the kernels of mappings.
        raw = np.empty((self.shape[0], len(coef)), self.dtype, order="F")
        if coef[:, :1].any() or coef.any():
            np.matmul(coef, self._X.T, out=raw.T)
        else:  # Most fits start at zero.
            raw[...] = 0
        if shift is not None:
            raw += shift.astype(self.dtype)
        return raw

    def rmatvec(self, residual):
        return residual.T @ self._X

    def moments(self, weight):
        X, total = self._X, weight.sum(dtype=np.float64)
        share = weight / (total or np.float64(1))
        if X.size < _MANY:
            return total, *_precise_moments(X, share)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, squares = _mean_and_squares(X, share)
            variance, lost = variance_of_sums(
                mean, squares, lambda tiny: X[:, tiny].any(axis=0)
            )
        if len(lost) == len(mean):
            return total, *_precise_moments(X, share)
        deviation = np.sqrt(np.maximum(variance, 0))
        if len(lost):
            mean[lost], deviation[lost] = _precise_moments(X[:, lost], share)
        return total, mean, deviation

    def take(self, rows):
        return DenseDesign(self._X[rows])

    def joined(self, others):
        # Some columns of a sparse X are dense in some blocks, and sparse in others.
        parts = [other._X for other in others]
        parts = [part.toarray() if sparse.issparse(part) else part for part in parts]
        return DenseDesign(np.concatenate([self._X, *parts]))

    @property
    def largest(self):
        return np.abs(self._X).max(initial=0)

    def in_single_precision(self):
        return RoundedDesign(self._X)

    def columns(self, rows):
        return self._X[rows].T.astype(np.float64, copy=False)


class LittleDesign(DenseDesign):
    """Standardised rows in an array that fits the cache, with a constant column.

    On little data calls of functions take longer than arithmetic, so every product here
    is one call.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_columns)
        float64.
    tuning : Tuning
    """

    def __init__(self, Z, tuning=Tuning()):
        super().__init__(Z)
        self.tuning = tuning
        self._columns = np.ascontiguousarray(Z.T)

    def matvec(self, coef, shift=None):
        raw = np.dot(coef, self._columns).T
        return raw if shift is None else raw + shift

    def rmatvec(self, residual):
        return np.dot(self._columns, residual).T

    def take(self, rows):
        return LittleDesign(self._X[rows], self.tuning)

    def columns(self, rows):
        return self._columns[:, rows]

    def sandwich(self, weights):
        n_weights, n_columns = weights.shape[1], self.shape[1]
        if n_weights == 1:
            return self._one_sandwich(weights[:, 0])[None]
        if self.tuning.pair_columns * n_weights < n_columns:
            return np.array([self._one_sandwich(weight) for weight in weights.T])
        if self.shape[0] * n_columns * (n_columns + 1) / 2 > self.tuning.most_pairs:
            return super().sandwich(weights)
        # One product of all weights and all pairs of columns: wine in 0.4 times the
        # time.
        pairs = np.dot(weights.T, self._pairs.T)
        return pairs.take(upper_triangle(n_columns)[2], axis=1)

    def sandwich_of_columns(self, columns, weight):
        """Sandwich of some columns, given by their numbers, with one weight a row."""
        if len(columns) == self.shape[1]:
            return self._one_sandwich(weight)
        return self._sandwich(self._columns.take(columns, axis=0), weight)

    def _one_sandwich(self, weight):
        return self._sandwich(self._columns, weight)

    def _sandwich(self, columns, weight):
        if len(columns) < self.tuning.many_columns or weight.min(initial=0) < 0:
            return np.dot(columns * weight, columns.T)
        weighted = columns * np.sqrt(weight)
        return np.dot(weighted, weighted.T)

    @cached_property
    def single(self):
        return SingleDesign.of(self._columns)

    @cached_property
    def _pairs(self):
        """Products of pairs of columns: (n_pairs, n_rows)."""
        first, second, _ = upper_triangle(self.shape[1])
        return self._columns[first] * self._columns[second]


class SingleDesign(DenseDesign):
    """Standardised rows in an array of single precision, with a constant column.

    Products and Gram matrices take half the time of those in double precision.

    Parameters
    ----------
    columns : ndarray of float32 of shape (n_columns, n_rows)
    """

    def __init__(self, columns):
        super().__init__(columns.T)
        self._columns = columns

    @classmethod
    def of(cls, columns):
        """The design of columns in any precision; None if some number overflows."""
        with np.errstate(over="ignore"):
            columns = columns.astype(np.float32, order="C", copy=False)
        return cls(columns) if np.isfinite(columns.sum()) else None

    def matvec(self, coef, shift=None):
        raw = np.dot(coef.astype(np.float32, copy=False), self._columns).T
        return raw if shift is None else raw + shift.astype(np.float32)

    def rmatvec(self, residual):
        return np.dot(self._columns, residual).T.astype(np.float64)

    def take(self, rows):
        return SingleDesign(self._columns[:, rows])

    def columns(self, rows):
        """The same as for other designs, in float32."""
        return self._columns[:, rows]

    def sandwich(self, weights):
        return super().sandwich(weights.astype(np.float32))


class RoundedDesign(DenseDesign):
    """Rows in an array of float64, whose products are in single precision.

    Rows are rounded for each product, so that there is no copy of all. With many
    outputs the products take much longer than that.
    """

    def __init__(self, X):
        super().__init__(X)
        self.dtype = np.dtype(np.float32)

    def matvec(self, coef, shift=None):
        return DenseDesign(self._X.astype(np.float32)).matvec(coef, shift)

    def rmatvec(self, residual):
        return residual.T @ self._X.astype(np.float32)

    def take(self, rows):
        return RoundedDesign(self._X[rows])

    def joined(self, others):
        return super().joined(others).in_single_precision()


def _precise_moments(X, share):
    """Means and deviations of columns whatever their units."""
    unit = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        mean, mean_error, variance = _mean_and_variance(X, share)
        squares = mean**2 + variance
    if lost_digits(squares, lambda tiny: X[:, tiny].any()):
        unit = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
        unit[unit == 0] = 1
        mean, mean_error, variance = _mean_and_variance(X / unit, share)
    # Subtract the rounding error of the mean: a constant column has deviation zero.
    variance = np.maximum(variance - mean_error**2, 0)
    return unit * (mean + mean_error), unit * np.sqrt(variance)


def _mean_and_squares(X, share):
    """Means and mean squares of the columns, in one pass."""
    n_rows, n_columns = X.shape
    length = max(_AT_ONCE // n_columns, 1)
    mean, squares = np.zeros(n_columns), np.zeros(n_columns)
    z = np.empty((min(length, n_rows), n_columns))
    for start in range(0, n_rows, length):
        x, part = X[start : start + length], share[start : start + length]
        mean += part @ x
        squares += part @ np.square(x, out=z[: len(x)], dtype=np.float64)
    return mean, squares


def variance_of_sums(mean, squares, has_numbers):
    """Variances of columns, and numbers of those whose variance has lost digits.

    Parameters
    ----------
    mean, squares : ndarray of shape (n_columns,)
        Means and mean squares.
    has_numbers : callable
        ``has_numbers(mask)`` returns whether the columns of a mask have non-zeros, for
        each or for all.
    """
    variance = squares - mean**2
    has_lost = ~(np.isfinite(squares) & (variance >= _LITTLE_LOST * squares))
    tiny = squares < _SMALLEST_SQUARE
    if tiny.any():
        has_lost[tiny] = has_numbers(tiny)
    return variance, np.flatnonzero(has_lost)


def _mean_and_variance(X, share):
    """Mean, its rounding error, and mean square about it."""
    mean = share @ X
    z = X - mean
    return mean, share @ z, share @ np.square(z, out=z)


def lost_digits(squares, has_numbers):
    """Whether mean squares of columns overflowed, or underflowed.

    Then they are computed again in units of the largest number of each column.

    Parameters
    ----------
    squares : ndarray of shape (n_columns,)
    has_numbers : callable
        ``has_numbers(mask)`` returns whether the columns of a mask have non-zeros.
    """
    # Others are inaccurate because of underflow, or a column is zero.
    tiny = squares < _SMALLEST_SQUARE
    return bool(not np.isfinite(squares).all() or (tiny.any() and has_numbers(tiny)))
