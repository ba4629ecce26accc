"""The base class of the rows of a block, with their products."""

import math
from abc import ABC, abstractmethod

import numpy as np

from .._utils.arrays import upper_triangle, weighted_one_hot

# Most numbers of an array that fits the L2 cache of a core (2 MiB).
CACHE_SIZE = 1 << 18
# Smallest mean square of a column that has not lost digits by underflow.
SMALLEST_SQUARE = np.finfo(np.float64).tiny / np.finfo(np.float64).eps


class DesignMatrix(ABC):
    """The rows of one block, as a matrix to multiply with."""

    shape: tuple  #: (n_rows, n_columns).
    dtype: np.dtype  #: float32 or float64.
    n_stored: int  #: Number of stored numbers: all, or the non-zeros of a sparse X.
    #: Whether products in single precision are faster and do not overflow.
    fits_single_precision = False
    #: A copy of the rows in single precision, made at first use: a `SingleDesign`, or
    #: None if no copy is made.
    single = None

    @abstractmethod
    def matvec(self, coef, shift=None):
        """Raw predictions X coefᵀ, (n_rows, M), of coefficients (M, n_columns).

        The result is a new array in the dtype of X. The shift, (M,), is added to each
        row.
        """

    @abstractmethod
    def rmatvec(self, residual):
        """Residualᵀ X, (M, n_columns), of a residual (n_rows, M); a new array."""

    def class_sums(self, class_numbers, weight, n_classes):
        """Weighted sums of the rows of each class: (n_classes, n_columns)."""
        return self.rmatvec(weighted_one_hot(class_numbers, weight, n_classes))

    @abstractmethod
    def take(self, rows):
        """The design of some rows, given by a slice or by their numbers."""

    @abstractmethod
    def joined(self, others):
        """The rows of this design, then those of other parts of the same X."""

    @abstractmethod
    def columns(self, rows):
        """Some rows, transposed: float64 of shape (n_columns, n_taken), read-only."""

    def is_sparse(self, share):
        """Whether less than this share of all numbers is stored."""
        n_rows, n_columns = self.shape
        return self.n_stored < share * n_rows * n_columns

    @property
    def largest(self):
        """Largest absolute number of the rows; infinite where it is not computed."""
        return math.inf

    def in_single_precision(self):
        """The design of the same rows whose products are in single precision.

        None if the squares of the rows might overflow, by :meth:`largest`.
        """
        return None

    def power_sums(self, weights):
        """Sums of w x and w x² over the rows, for each column w of weights.

        Weights are of shape (n_rows, n_weights), both results of shape (n_weights,
        n_columns). Weights in single precision may be multiplied in single precision.
        """
        n_rows, n_columns = self.shape
        first, second = np.zeros((2, weights.shape[1], n_columns))
        for some in _parts(np.arange(n_rows), n_rows, max(CACHE_SIZE // n_columns, 1)):
            columns, weight = self.columns(some), weights[some]
            first += (columns @ weight).T
            second += (np.square(columns) @ weight).T
        return first, second

    def gram(self, columns, factors, outputs):
        """Σ_i v_i v_iᵀ with v_ip = factors[i, outputs[p]] x_i[columns[p]].

        Factors are of shape (n_rows, n_outputs), outputs and columns of shape
        (n_numbers,). It is None if the rows are not sparse.
        """
        return None

    def sandwich(self, weights):
        """Xᵀ diag(w) X for each column w of weights (n_rows, n_weights), of any sign.

        The result is float64 of shape (n_weights, n_columns, n_columns), or an array of
        the library and on the device of X. Rows without weight are omitted.
        """
        return self.sandwich_of(self.columns, self.shape[1], weights)

    def sandwich_of(self, columns, n_columns, weights):
        """The sandwich of other columns, given by their method :meth:`columns`."""
        rows, n_weights = np.flatnonzero(weights.any(axis=1)), weights.shape[1]
        if 3 * n_weights < n_columns:
            # At least twice as many rows as columns, so that adding the products up
            # takes little of the time.
            step = max(CACHE_SIZE // n_columns, 2 * n_columns)
            total = np.zeros((n_weights, n_columns, n_columns))
            for some in _parts(rows, len(weights), step):
                _add_one_by_one(total, columns(some), weights[some])
            return total
        # One product of all pairs of columns takes 0.4 times as long on wine.
        first, second, number = upper_triangle(n_columns)
        total = np.zeros((n_weights, len(first)))
        for some in _parts(rows, len(weights), max(CACHE_SIZE // len(first), 64)):
            z = columns(some)
            total += weights[some].T @ (z[first] * z[second]).T
        return total.take(number, axis=1)


def _parts(rows, n_rows, step):
    """Indices of rows in parts; a slice of all rows needs no copy."""
    if len(rows) == n_rows <= step:
        return [slice(None)]
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def _add_one_by_one(total, columns, weights):
    for sandwich, weight in zip(total, weights.T, strict=True):
        if weight.min(initial=0) < 0:
            sandwich += (columns * weight) @ columns.T
            continue
        weighted = columns * np.sqrt(weight)
        # BLAS computes half of the product of an array with its transpose.
        sandwich += weighted @ weighted.T
