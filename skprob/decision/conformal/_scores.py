"""Nonconformity scores: how badly a class fits a row, from 0 for the best one.

A score has three members. ``response`` names its input: the "scores" of the classes or
their "probabilities". ``of_pairs`` gives the nonconformity of stated
classes, for calibration, and ``within`` says which classes are at most a limit away,
for prediction. Both compute a nonconformity by the same sums: a class that is exactly
at the limit must not be lost to rounding.
"""

from __future__ import annotations

import numpy as np

# Largest number of classes in a set for which the norms of all of them take less time
# than a bisection.
_FEW = 16


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
        if np.ndim(limit):
            columns = range(z.shape[1])
            distances = [self._distance(z, z[:, column]) for column in columns]
            return np.stack(distances, axis=1) <= limit
        # Class by class: reductions over rows of few classes take five times as long.
        below = np.array(z.T, order="C")
        np.subtract(below.max(axis=0), below, out=below)
        # The norm is at least the distance to the best class, and equal to it for the
        # second best.
        result = below <= limit
        sizes = result.view(np.uint8).sum(axis=0, dtype=np.uint32)
        several = np.flatnonzero(sizes > 2)
        if len(several):
            below = below.take(several, axis=1)
            edge = self._edge(below, limit, int(sizes.max()))
            result[:, several] = below <= edge
        return result.T

    def _edge(self, below, limit, most):
        """Largest distance below the best class in the set of each row.

        The distances have shape (n_classes, n_rows); sets have at most `most` classes.
        """
        rising = np.sort(below, axis=0)[:most]
        rows = np.arange(rising.shape[1])
        if most > _FEW:
            low, high = np.ones_like(rows), np.full_like(rows, most - 1)
            while (low < high).any():
                middle = (low + high + 1) // 2
                is_in = self._norm(rising, rising[middle, rows]) <= limit
                low = np.where(is_in, middle, low)
                high = np.where(is_in, high, middle - 1)
            return rising[low, rows]
        last = np.ones_like(rows)
        for rank in range(2, most):
            is_in = self._norm(rising[:rank], rising[rank]) <= limit
            if not is_in.any():
                break
            last += is_in
        return rising[last, rows]

    def _norm(self, below, of_class):
        """Norm of what the scores are above one score, from distances to the best."""
        excess = of_class - below
        np.maximum(excess, 0, out=excess)
        if self._power == 2:
            np.square(excess, out=excess)
            return np.sqrt(np.add.reduce(excess, axis=0))
        return self._distance(excess.T, np.zeros(excess.shape[1]))

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
        if np.ndim(limit):
            return self._scores(p, uniform) <= limit
        result = self._at_most(p, limit, uniform)
        if self._never_empty:
            empty = np.flatnonzero(~result.any(axis=1))
            result[empty, p[empty].argmax(axis=1)] = True
        return result

    def _at_most(self, p, limit, uniform):
        """Classes whose score is at most a number; a set may be empty."""
        return self._of_all(p, uniform) <= limit

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

    def _at_most(self, p, limit, uniform):
        # Class by class, and only as many classes as are in some set.
        by_class = np.array(p.T, order="C")
        rising = np.sort(by_class, axis=0)
        total, rows = np.zeros(len(p)), np.arange(len(p))
        size, n_classes = np.zeros(len(p), dtype=np.intp), len(rising)
        for rank in range(1, n_classes + 1):
            falling = rising[n_classes - rank]
            total += falling
            score = total if uniform is None else total - uniform * falling
            score = score + self._rank_penalty * max(rank - self._free_ranks, 0)
            is_in = score <= limit
            if not is_in.any():
                break
            size += is_in
        last = n_classes - np.maximum(size, 1)
        cut = rising[last, rows]
        result = by_class >= np.where(size > 0, cut, np.inf)
        # Only some of the classes with equal probabilities may be in the set.
        is_tied = (size > 0) & (last > 0) & (rising[last - 1, rows] == cut)
        tied = np.flatnonzero(is_tied)
        if len(tied):
            draws = None if uniform is None else uniform[tied]
            result[:, tied] = (self._of_all(p[tied], draws) <= limit).T
        return result.T
