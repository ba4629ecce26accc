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
# The squares of this number and of its inverse are far from the ends of the floats.
_LARGE = 1e100
# Bound of the error of a sum of at most 4, of probabilities in single precision.
_SLACK = 2.0**-20

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
        return _scaled(self._norm_of, excess)

    @_overflow_is_infinite
    def within(self, z, limit, uniform=None):
        """Boolean (n_rows, n_classes): classes whose score is at most the limit."""
        if not 1 / _LARGE < np.max(limit) < _LARGE:
            z, limit = _of_moderate_size(z, limit)
        if np.ndim(limit):
            below = -z.T
            distances = [self._norm(below, of_class) for of_class in below]
            return np.stack(distances, axis=1) <= limit
        # Class by class: reductions over rows of few classes take five times as long.
        below = np.array(z.T, order="C")
        np.subtract(below.max(axis=0), below, out=below)
        # The norm is at least the distance to the best class, and equal to it for the
        # second best.
        edge = np.full(len(z), float(limit))
        counts = np.min_scalar_type(z.shape[1])
        sizes = (below <= limit).view(np.uint8).sum(axis=0, dtype=counts)
        several = np.flatnonzero(sizes > 2)
        if len(several):
            most = int(sizes.max())
            edge[several] = self._edge(z.take(several, axis=0), limit, most)
        return (below <= edge).T

    def _edge(self, z, limit, most):
        """Largest distance below the best class in the set of each row.

        Sets have at most `most` classes.
        """
        z.sort(axis=1)
        rising = np.empty((most, len(z)))
        np.subtract(z[:, -1], z[:, : -most - 1 : -1].T, out=rising)
        if most > _FEW:
            return self._edge_by_bisection(rising, limit)
        edge = rising[1].copy()
        # Rows are dropped at the first class that is not in the set.
        rows = np.arange(len(edge))
        for rank in range(2, most):
            is_in = np.flatnonzero(self._norm(rising[:rank], rising[rank]) <= limit)
            if not len(is_in):
                break
            if len(is_in) < len(rows):
                rows, rising = rows[is_in], rising.take(is_in, axis=1)
            edge[rows] = rising[rank]
        return edge

    def _edge_by_bisection(self, rising, limit):
        rows = np.arange(rising.shape[1])
        low, high = np.ones_like(rows), np.full_like(rows, len(rising) - 1)
        while (low < high).any():
            middle = (low + high + 1) // 2
            is_in = self._norm(rising, rising[middle, rows]) <= limit
            low = np.where(is_in, middle, low)
            high = np.where(is_in, high, middle - 1)
        return rising[low, rows]

    def _norm(self, below, of_class):
        """Norm of what the scores are above one score, from distances to the best."""
        excess = of_class - below
        np.maximum(excess, 0, out=excess)
        # Squares of numbers of a moderate size neither overflow nor underflow.
        is_safe = self._power in (1, 2)
        return self._norm_of(excess) if is_safe else _scaled(self._norm_of, excess)

    def _norm_of(self, excess):
        """Norm of each column of an array, which is overwritten."""
        if self._power == 1:
            return np.add.reduce(excess, axis=0)
        if self._power == 2:
            np.square(excess, out=excess)
            return np.sqrt(np.add.reduce(excess, axis=0))
        np.power(excess, self._power, out=excess)
        return np.add.reduce(excess, axis=0) ** (1 / self._power)


def _scaled(norm, excess):
    """Norm of each column, of columns whose largest entry is one."""
    largest = excess.max(axis=0)
    excess /= np.where(largest > 0, largest, 1)
    return largest * norm(excess)


def _of_moderate_size(z, limit):
    """Distances and limits times a power of two, so that their squares are finite."""
    exponent = -int(np.frexp(np.max(limit))[1])
    z = np.ldexp(z - z.max(axis=1, keepdims=True), exponent)
    # Classes so far below the best one are in no set.
    return np.maximum(z, -_LARGE), np.ldexp(limit, exponent)


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
        result = self._of_all(p, uniform) <= limit
        if self._never_empty:
            # A product takes a sixth of the time of any(axis=1).
            ones = np.ones(p.shape[1], dtype=np.float32)
            sizes = result.astype(np.float32).dot(ones)
            empty = np.flatnonzero(sizes == 0)
            # Indexing by an array would take three times as long.
            result[empty, p.take(empty, axis=0).argmax(axis=1)] = True
        return result


class AdaptiveScore(_ProbabilityScore):
    """Sum of the probabilities from the largest down to the class.

    With `uniform`, a number from 0 to 1 for each row, that part of the class's own
    probability is left out. To ranks above `free_ranks`, of which 1 is the largest
    probability, `rank_penalty` is added for each rank.
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
        scores = np.empty_like(total)
        np.put_along_axis(scores, order, total, axis=1)
        return scores

    def _at_most(self, p, limit, uniform):
        if self._never_empty and limit * p.shape[1] < 1:
            rows, best = np.arange(len(p)), p.argmax(axis=1)
            least = p[rows, best].min(initial=np.inf)
            if least > limit and p.min(initial=0) >= 0:
                # The sum of any other class is larger than the limit.
                result = np.zeros(p.shape, dtype=bool)
                result[rows, best] = True
                return result
        # Sums of rounded probabilities settle nearly all rows, in half of the time.
        result, is_open = self._by_cut(p.astype(np.float32), limit, uniform, _SLACK)
        if is_open.any():
            rows = np.flatnonzero(is_open)
            draws = None if uniform is None else uniform[rows]
            result[rows], is_tied = self._by_cut(p[rows], limit, draws, 0.0)
            if is_tied.any():
                rows, draws = rows[is_tied], None if draws is None else draws[is_tied]
                result[rows] = self._scores(p[rows], draws) <= limit
        return result

    def _by_cut(self, p, limit, uniform, slack):
        """The sets, and the rows whose set may be another one.

        In these a sum differs from the limit by no more than `slack`, or some of the
        classes with equal probabilities are in the set and some are not.
        """
        rising, (n_rows, n_classes) = _sorted(p), p.shape
        # Numbers below zero, which some classifiers return, may be in another order.
        is_open = rising[:, 0] < 0
        total = np.zeros(n_rows)
        size = np.zeros(n_rows, dtype=np.min_scalar_type(n_classes))
        for rank in range(1, n_classes + 1):
            falling = rising[:, n_classes - rank]
            total += falling
            score = total if uniform is None else total - uniform * falling
            penalty = self._rank_penalty * max(rank - self._free_ranks, 0)
            if penalty:
                score = score + penalty
            is_in = may_be_in = score <= limit + slack
            n_in = np.count_nonzero(may_be_in)
            if not n_in:
                break
            if slack:
                is_in = score <= limit - slack
                if np.count_nonzero(is_in) < n_in:
                    is_open |= is_in != may_be_in
            size += is_in.view(np.uint8)
        # A row of `rising` begins with its smallest probability.
        starts = np.arange(0, rising.size, n_classes)
        last = starts + (n_classes - np.maximum(size, 1))
        cut = rising.ravel().take(last)
        next_one = rising.ravel().take(last - 1, mode="wrap")
        is_open |= (next_one == cut) & (last > starts)
        if not self._never_empty:
            cut[size == 0] = np.inf
        return p >= cut[:, None], is_open


def _sorted(p):
    """A copy with sorted rows."""
    rising = p.copy()
    # Integers are sorted in half of the time, and in the same order as the positive
    # numbers with the same bits.
    keys = rising.view(np.int32) if p.dtype == np.float32 else rising
    keys.sort(axis=1)
    return rising
