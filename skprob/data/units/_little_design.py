"""Little data: standardised rows in one array, where every product is one call."""

from functools import cached_property

import numpy as np

from ..._utils.arrays import upper_triangle
from ..._utils.tuning import Tuning
from .._dense import DenseDesign
from ._single_design import SingleDesign


class LittleDesign(DenseDesign):
    """Standardised rows in an array that fits the cache, with a constant column.

    Calls of functions take longer than arithmetic on little data, so every product is
    one call.

    Parameters
    ----------
    columns : ndarray of float64 of shape (n_columns, n_rows)
        The transposed rows.
    tuning : Tuning
    """

    def __init__(self, columns, tuning=Tuning()):
        self._columns, self.tuning = np.ascontiguousarray(columns), tuning
        super().__init__(self._columns.T)

    def matvec(self, coef, shift=None):
        raw = np.dot(coef, self._columns).T
        return raw if shift is None else raw + shift

    def rmatvec(self, residual):
        return np.dot(self._columns, residual).T

    def class_sums(self, class_numbers, weight, n_classes):
        # A sparse product, as for a DenseDesign, would take longer.
        one_hot = np.zeros((len(weight), n_classes))
        one_hot[np.arange(len(weight)), class_numbers] = weight
        return np.dot(self._columns, one_hot).T

    def take(self, rows):
        return LittleDesign(self._columns[:, rows], self.tuning)

    def columns(self, rows):
        return self._columns[:, rows]

    def sandwich(self, weights):
        n_weights, n_columns = weights.shape[1], self.shape[1]
        if n_weights == 1:
            return _sandwich(self._columns, weights[:, 0])[None]
        if self.tuning.pair_columns * n_weights < n_columns:
            return np.array([_sandwich(self._columns, w) for w in weights.T])
        if self.shape[0] * n_columns * (n_columns + 1) / 2 > self.tuning.most_pairs:
            return super().sandwich(weights)
        # One product of all weights and all pairs of columns takes 0.4 times as long on
        # wine.
        pairs = np.dot(weights.T, self._pairs.T)
        return pairs.take(upper_triangle(n_columns)[2], axis=1)

    def sandwich_of_columns(self, columns, weight):
        """Sandwich of some columns, given by their numbers, with one weight a row."""
        has_all = len(columns) == self.shape[1]
        some = self._columns if has_all else self._columns.take(columns, axis=0)
        return _sandwich(some, weight)

    @cached_property
    def single(self):
        return SingleDesign.of(self._columns)

    @cached_property
    def _pairs(self):
        """Products of pairs of columns: (n_pairs, n_rows)."""
        first, second, _ = upper_triangle(self.shape[1])
        return self._columns[first] * self._columns[second]


def _sandwich(columns, weight):
    return np.dot(columns * weight, columns.T)
