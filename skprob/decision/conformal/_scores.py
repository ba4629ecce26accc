"""Nonconformity scores: how badly a class fits a row, from 0 for the best one.

A score has three members. ``response`` names its input: the "scores" of the classes or
their "probabilities". ``of_pairs`` gives the nonconformity of stated
classes, for calibration, and ``within`` says which classes are at most a limit away,
for prediction. Both are exact but for rounding errors, which the limit allows for: a
class that is exactly at the quantile must not be lost.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

# Largest number of classes in a set for which the norms of all of them take less time
# than a bisection.
_FEW = 16

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
        by_class = _by_class(z)
        if np.ndim(limit):
            return self._within_by_class(by_class, limit).T
        # The norm is at least the distance to the best class, and equal to it for the
        # second best.
        lowest = by_class.max(axis=0) - limit
        within = by_class >= lowest
        if len(within) == 2:
            return within.T
        # In small integers sums over bytes take a fifth of the time.
        counts = np.min_scalar_type(len(within))
        sizes = within.view(np.uint8).sum(axis=0, dtype=counts)
        several = np.flatnonzero(sizes > 2)
        if len(several):
            most = int(sizes.max())
            rising = np.sort(z.take(several, axis=0), axis=1)
            falling = _by_class(rising[:, : -most - 1 : -1])
            steps = falling[:-1] - falling[1:]
            steps /= limit
            last = self._last_rank(steps, counts)
            lowest[several] = falling[last, np.arange(len(several))]
            within = by_class >= lowest
        return within.T

    def _within_by_class(self, by_class, limit):
        """Boolean (n_classes, n_rows), with a limit for each class."""
        best, result = by_class.max(axis=0), np.zeros(by_class.shape, dtype=bool)
        for k, (y, t) in enumerate(zip(by_class, limit, strict=True)):
            # The norm is at least the distance to the best class: in most rows it is
            # above the limit. Copies of few rows take less time than norms of all.
            rows = np.flatnonzero((best - y) / t <= 1)
            if 2 * len(rows) < len(y):
                part = by_class.take(rows, axis=1)
                result[k, rows] = self._is_in((part - y[rows]) / t)
            else:
                result[k] = self._is_in((by_class - y) / t)
        return result

    def _last_rank(self, steps, counts):
        """Rank, from 0 for the best class, of the last class in the set of each row.

        Parameters
        ----------
        steps : ndarray of shape (most classes of a set - 1, n_rows)
            Differences of each class and the next in the order of the scores, in units
            of the limit. The array is overwritten.
        counts : dtype
            Type of the result.
        """
        if self._power not in (1, 2):
            rising = np.concatenate([np.zeros_like(steps[:1]), _running_sum(steps)])
            few = len(rising) <= _FEW
            find = self._last_rank_by_norms if few else self._last_rank_by_bisection
            return find(rising)
        # Sums of distances, and of their squares, to all better classes.
        sums = _running_sum(steps * np.arange(1.0, len(steps) + 1)[:, None])
        if self._power == 2:
            steps[1:] *= sums[1:] + sums[:-1]
            steps[0] *= steps[0]
            sums = _running_sum(steps)
        return (sums <= 1).view(np.uint8).sum(axis=0, dtype=counts)

    def _last_rank_by_norms(self, rising):
        """The same, from the distances of all classes below the best one."""
        last = np.ones(rising.shape[1], dtype=np.intp)
        # Rows are dropped at the first class that is not in the set.
        rows = np.arange(len(last))
        for rank in range(2, len(rising)):
            is_in = np.flatnonzero(self._is_in(rising[rank] - rising[:rank]))
            if not len(is_in):
                break
            if len(is_in) < len(rows):
                rows, rising = rows[is_in], rising.take(is_in, axis=1)
            last[rows] = rank
        return last

    def _last_rank_by_bisection(self, rising):
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


def _by_class(z):
    """A transposed copy: reductions over rows of few classes take five times as long.

    Blocks of 512 rows stay in the cache. The copy then takes half to all of the time.
    """
    result = np.empty(z.shape[::-1])
    for start in range(0, len(z), 512):
        result[:, start : start + 512] = z[start : start + 512].T
    return result


def _only_best(by_class, best):
    """Boolean (n_classes, n_rows): the first class with the largest value of each row.

    Parameters
    ----------
    by_class : ndarray of shape (n_classes, n_rows)
        The result of :func:`_by_class`.
    best : ndarray of shape (n_rows,)
        Its maximum over the classes.
    """
    result = by_class == best
    if np.count_nonzero(result) > len(best):
        # Some rows have several. argmax takes four times as long for few classes.
        result[:] = False
        result[by_class.argmax(axis=0), np.arange(len(best))] = True
    return result


def _is_about_zero(limit, p):
    """Whether the limit is below the probability of the best class in each row.

    It is so where the accuracy exceeds the coverage. Most sets are the best class
    alone, if it is in every set.
    """
    return limit * p.shape[1] < 1


def _running_sum(values):
    """Sums over the first rows, in place: np.cumsum takes four times as long."""
    for before, row in pairwise(values):
        row += before
    return values


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
        return self._at_most(p, limit, uniform)

    def _scores(self, p, uniform):
        scores = self._of_all(p, uniform)
        if self._never_empty:
            scores[np.arange(len(p)), p.argmax(axis=1)] = 0
        return scores


class ThresholdScore(_ProbabilityScore):
    """One minus the probability."""

    def _of_all(self, p, uniform):
        return 1 - p

    def _at_most(self, p, limit, uniform):
        if self._never_empty and _is_about_zero(limit, p):
            by_class = _by_class(p)
            best = _only_best(by_class, by_class.max(axis=0))
            return (best | (1 - by_class <= limit)).T
        result = self._of_all(p, uniform) <= limit
        if self._never_empty:
            # A product takes a sixth of the time of any(axis=1).
            ones = np.ones(p.shape[1], dtype=np.float32)
            empty = np.flatnonzero(result.astype(np.float32).dot(ones) == 0)
            result[empty, p.take(empty, axis=0).argmax(axis=1)] = True
        return result


class AdaptiveScore(_ProbabilityScore):
    """Sum of the probabilities from the largest down to the class.

    With `uniform`, a number from 0 to 1 for each row, that part of the class's own
    probability is left out. To ranks above `free_ranks`, of which 1 is the largest
    probability, `rank_penalty` is added for each rank. One is added for classes whose
    probability is zero: they have the same sum as the least probable of the others.
    """

    def __init__(self, never_empty, rank_penalty, free_ranks):
        super().__init__(never_empty)
        self._rank_penalty, self._free_ranks = rank_penalty, free_ranks

    @_overflow_is_infinite
    def _of_all(self, p, uniform):
        order = np.argsort(-p, axis=1, kind="stable")
        falling = np.take_along_axis(p, order, axis=1)
        total = np.cumsum(falling, axis=1)
        if uniform is not None:
            total -= uniform[:, None] * falling
        n_classes = p.shape[1]
        beyond = np.arange(1, n_classes + 1) - min(self._free_ranks, n_classes)
        total += self._rank_penalty * np.maximum(beyond, 0)
        total += falling <= 0
        scores = np.empty_like(total)
        np.put_along_axis(scores, order, total, axis=1)
        return scores

    def _at_most(self, p, limit, uniform):
        n_rows, n_classes = p.shape
        # With sorted rows predict_set takes 1.2 times as long.
        if self._never_empty and _is_about_zero(limit, p) and p.min(initial=0) >= 0:
            by_class = _by_class(p)
            best = by_class.max(axis=0)
            if best.min(initial=np.inf) > limit:
                return _only_best(by_class, best).T
        # Probabilities have the order of their bits, and integers are sorted in three
        # quarters of the time. Numbers with a minus sign come first, in no order.
        bits = np.sort(p.view(np.int64), axis=1)
        rising = bits.view(np.float64)
        # Sums of small integers take a fourth of the time.
        counts = np.min_scalar_type(n_classes)
        total, size = np.zeros(n_rows), np.zeros(n_rows, dtype=counts)
        for rank in range(1, n_classes + 1):
            largest = rising[:, n_classes - rank]
            total += largest
            score = total if uniform is None else total - uniform * largest
            penalty = self._rank_penalty * max(rank - self._free_ranks, 0)
            if penalty:
                score = score + penalty
            is_in = score <= limit
            if not is_in.any():
                break
            size += is_in
        last = n_classes - np.maximum(size, 1).astype(np.intp)
        places = np.arange(0, rising.size, n_classes) + last
        # Places in the raveled array take a third of the time of pairs.
        cut, below = rising.take(places), rising.take(places - 1)
        # Some of the classes with equal probabilities may be in the set, and others
        # not. Sums of numbers below zero, which some classifiers return, do not rise.
        is_tied = (last > 0) & (below == cut) & (cut > 0)
        # Where classes of probability zero were counted, all others are in the set.
        has_all = cut <= 0
        cut[has_all] = np.finfo(np.float64).smallest_subnormal
        has_zeros = has_all & ((total + 1 <= limit) | (rising[:, -1] <= 0))
        by_scores = np.flatnonzero(is_tied | has_zeros | (bits[:, 0] < 0))
        if not self._never_empty:
            cut[size == 0] = np.inf
        result = p >= cut[:, None]
        if len(by_scores):
            draws = None if uniform is None else uniform[by_scores]
            result[by_scores] = self._scores(p[by_scores], draws) <= limit
        return result
