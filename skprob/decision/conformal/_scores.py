"""Nonconformity scores: how badly a class fits a row, from 0 for the best one.

A score has three members. ``response`` says what it is computed from, the "scores" of
the classes or their "probabilities". ``of_pairs`` gives the nonconformity of stated
classes, for calibration, and ``within`` says which classes are at most a limit away,
for prediction. Both compute a nonconformity by the same sums: a class that is exactly
at the limit must not be lost to rounding.
"""

from __future__ import annotations

import numpy as np


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

    def of_pairs(self, z, rows, columns, uniform=None):
        """Nonconformity of the class `columns[i]` of the row `rows[i]`."""
        return self._distance(z[rows], z[rows, columns])

    def within(self, z, limit, uniform=None):
        """Boolean (n_rows, n_classes): classes whose score is at most the limit."""
        if np.ndim(limit) == 0:
            # The norm is at least the distance to the best class, and equal to it for
            # the second best.
            result = z.max(axis=1, keepdims=True) - z <= limit
            several = np.flatnonzero(np.count_nonzero(result, axis=1) > 2)
            if len(several):
                z = z[several]
                result[several] = z >= self._edge(z, limit)[:, None]
            return result
        columns = range(z.shape[1])
        distances = [self._distance(z, z[:, column]) for column in columns]
        return np.stack(distances, axis=1) <= limit

    def _edge(self, z, limit):
        """Lowest score of the set of each row, by bisection over the falling scores."""
        falling = -np.sort(-z, axis=1)
        rows = np.arange(len(z))
        low, high = np.zeros_like(rows), np.full_like(rows, z.shape[1] - 1)
        while (low < high).any():
            middle = (low + high + 1) // 2
            is_in = self._is_within(z, falling[rows, middle], limit)
            low = np.where(is_in, middle, low)
            high = np.where(is_in, high, middle - 1)
        return falling[rows, low]

    def _is_within(self, z, score, limit):
        """Whether the norm is at most the limit, without the root of a square."""
        if self._power != 2:
            return self._distance(z, score) <= limit
        excess = z - score[:, None]
        np.maximum(excess, 0, out=excess)
        return np.einsum("ij,ij->i", excess, excess) <= limit**2

    def _distance(self, z, score):
        """The norm of what the scores z of a row are above one score."""
        excess = np.maximum(z - score[:, None], 0)
        if self._power == 1:
            return excess.sum(axis=1)
        if self._power == 2:
            return np.sqrt(np.square(excess).sum(axis=1))
        # A power of the largest could overflow.
        largest = excess.max(axis=1)
        excess /= np.where(largest > 0, largest, 1)[:, None]
        total = (excess**self._power).sum(axis=1)
        return largest * total ** (1 / self._power)


class _ProbabilityScore:
    """A score that is computed for all classes of a row at once."""

    response = "probabilities"

    def __init__(self, never_empty):
        self._never_empty = never_empty

    def of_pairs(self, p, rows, columns, uniform=None):
        """Nonconformity of the class `columns[i]` of the row `rows[i]`."""
        return self._scores(p, uniform)[rows, columns]

    def within(self, p, limit, uniform=None):
        """Boolean (n_rows, n_classes): classes whose score is at most the limit."""
        return self._scores(p, uniform) <= limit

    def _scores(self, p, uniform):
        scores = self._of_all(p, uniform)
        if self._never_empty:
            scores[np.arange(len(p)), p.argmax(axis=1)] = 0
        return scores


class ThresholdScore(_ProbabilityScore):
    """One minus the probability."""

    def _of_all(self, p, uniform):
        return 1 - p


class AdaptiveScore(_ProbabilityScore):
    """Sum of the probabilities from the largest down to the class.

    With `uniform`, a number from 0 to 1 for each row, that part of the class's own
    probability is left out. To ranks above `free_ranks`, of which 1 is the largest
    probability, `rank_penalty` is added for each rank.
    """

    def __init__(self, never_empty, rank_penalty, free_ranks):
        super().__init__(never_empty)
        self._rank_penalty, self._free_ranks = rank_penalty, free_ranks

    def _of_all(self, p, uniform):
        order = np.argsort(-p, axis=1, kind="stable")
        falling = np.take_along_axis(p, order, axis=1)
        total = np.cumsum(falling, axis=1)
        if uniform is not None:
            total -= uniform[:, None] * falling
        beyond = np.arange(1, p.shape[1] + 1) - self._free_ranks
        total += self._rank_penalty * np.maximum(beyond, 0)
        scores = np.empty_like(total)
        np.put_along_axis(scores, order, total, axis=1)
        return scores
