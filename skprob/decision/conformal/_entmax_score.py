"""The nonconformity of entmax: how far the score of a class is below better ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ._by_class import by_class

_overflow_is_infinite = np.errstate(over="ignore", invalid="ignore")


class EntmaxScore:
    r"""Distance below the better classes, in the norm that belongs to entmax.

    .. math:: s(x, y) = \Big(\sum_k (z_k - z_y)_+^\delta\Big)^{1 / \delta},
        \quad \delta = 1 / (\alpha - 1)

    A class has a positive probability under entmax of z / T exactly if its score is
    less than T / (α - 1). So the set of the classes whose score is less than a limit is
    the support of entmax at the temperature (α - 1) times the limit.

    Parameters
    ----------
    alpha : float
        Larger than 1.
    """

    response = "scores"

    def __init__(self, alpha):
        self._power = 1 / (float(alpha) - 1)

    @_overflow_is_infinite
    def of_pairs(self, z, rows, columns, uniform=None):
        """Nonconformity of the class `columns[i]` of the row `rows[i]`."""
        excess = np.maximum(z[rows] - z[rows, columns][:, None], 0).T
        # The largest of the numbers whose powers are summed is one.
        largest = excess.max(axis=0)
        excess /= np.where(largest > 0, largest, 1)
        return largest * self._sum_of_powers(excess) ** (1 / self._power)

    @_overflow_is_infinite
    def within(self, z, limit, uniform=None):
        """Boolean (n_rows, n_classes): classes whose score is at most the limit."""
        z_by_class = by_class(z)
        if np.ndim(limit):
            return self._within_by_class(z_by_class, limit).T
        # The norm is at least the distance to the best class, and equal to it for the
        # second best.
        lowest = z_by_class.max(axis=0) - limit
        within = z_by_class >= lowest
        if len(within) == 2:
            return within.T
        sizes = within.sum(axis=0)
        several = np.flatnonzero(sizes > 2)
        if len(several):
            most = int(sizes.max())
            rising = np.sort(z.take(several, axis=0), axis=1)
            falling = by_class(rising[:, : -most - 1 : -1])
            steps = falling[:-1] - falling[1:]
            steps /= limit
            last = self._last_rank(steps)
            lowest[several] = falling[last, np.arange(len(several))]
            within = z_by_class >= lowest
        return within.T

    def _within_by_class(self, z_by_class, limit):
        """Boolean (n_classes, n_rows), with a limit for each class."""
        best, result = z_by_class.max(axis=0), np.zeros(z_by_class.shape, dtype=bool)
        for k, (y, t) in enumerate(zip(z_by_class, limit, strict=True)):
            # The norm is at least the distance to the best class: in most rows it is
            # above the limit. Copies of few rows take less time than norms of all.
            rows = np.flatnonzero((best - y) / t <= 1)
            if 2 * len(rows) < len(y):
                part = z_by_class.take(rows, axis=1)
                result[k, rows] = self._is_in((part - y[rows]) / t)
            else:
                result[k] = self._is_in((z_by_class - y) / t)
        return result

    def _last_rank(self, steps):
        """Rank, from 0 for the best class, of the last class in the set of each row.

        Parameters
        ----------
        steps : ndarray of shape (most classes of a set - 1, n_rows)
            Differences of each class and the next in the order of the scores, in units
            of the limit. The array is overwritten.
        """
        if self._power not in (1, 2):
            rising = np.concatenate([np.zeros_like(steps[:1]), _running_sum(steps)])
            return self._last_rank_by_bisection(rising)
        # Sums of distances, and of their squares, to all better classes.
        sums = _running_sum(steps * np.arange(1.0, len(steps) + 1)[:, None])
        if self._power == 2:
            steps[1:] *= sums[1:] + sums[:-1]
            steps[0] *= steps[0]
            sums = _running_sum(steps)
        return (sums <= 1).sum(axis=0)

    def _last_rank_by_bisection(self, rising):
        """The same, from the distances of all classes below the best one."""
        rows = np.arange(rising.shape[1])
        low, high = np.ones_like(rows), np.full_like(rows, len(rising) - 1)
        while (low < high).any():
            middle = (low + high + 1) // 2
            is_in = self._is_in(rising[middle, rows] - rising)
            low = np.where(is_in, middle, low)
            high = np.where(is_in, high, middle - 1)
        return low

    def _is_in(self, above):
        """Whether one class is in the set of each row.

        Parameters
        ----------
        above : ndarray of shape (n_classes, n_rows)
            Scores of all classes minus that of the class, in units of the limit. The
            array is overwritten.
        """
        return self._sum_of_powers(np.maximum(above, 0, out=above)) <= 1

    def _sum_of_powers(self, excess):
        """Sum over each column of an array, which is overwritten."""
        if self._power == 2:
            np.square(excess, out=excess)
        elif self._power != 1:
            np.power(excess, self._power, out=excess)
        return np.add.reduce(excess, axis=0)


def _running_sum(values):
    """Sums over the first rows, in place: np.cumsum takes four times as long."""
    for before, row in pairwise(values):
        row += before
    return values
