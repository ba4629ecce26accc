"""Nonconformity by the probability of a class, and by those of more probable ones."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

# Larger than the number of classes of any data set, and an integer of NumPy.
_ALL_RANKS = 1 << 53


class _ProbabilityScore(ABC):
    """A score that is computed for all classes of a row at once.

    Parameters
    ----------
    never_empty : bool
        Whether the most probable class of each row has the nonconformity 0.
    """

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

    @abstractmethod
    def _of_all(self, p, uniform):
        """Nonconformity of all classes, as a new array."""


class ThresholdScore(_ProbabilityScore):
    """One minus the probability."""

    def _of_all(self, p, uniform):
        return 1 - p


class AdaptiveScore(_ProbabilityScore):
    """Sum of the probabilities from the largest down to the class.

    With `uniform`, a number from 0 to 1 for each row, that part of the class's own
    probability is left out. To ranks above `free_ranks`, of which 1 is the largest
    probability, `rank_penalty` is added for each rank. One is added for classes whose
    probability is zero: they have the same sum as the least probable of the others.
    """

    def __init__(self, never_empty, rank_penalty, free_ranks):
        super().__init__(never_empty)
        self._rank_penalty = rank_penalty
        self._free_ranks = min(free_ranks, _ALL_RANKS)

    def within(self, p, limit, uniform=None):
        """Boolean (n_rows, n_classes): classes whose score is at most the limit."""
        if np.ndim(limit):
            return super().within(p, limit, uniform)
        # Sorting the probabilities alone takes a quarter of the time of all scores.
        rising = np.sort(p, axis=1)
        n_rows, n_classes = p.shape
        penalties = self._penalties(n_classes)
        total, size = np.zeros(n_rows), np.zeros(n_rows, dtype=np.intp)
        for rank in range(n_classes):
            p_of_rank = rising[:, n_classes - 1 - rank]
            total += p_of_rank
            scores = self._of_rank(total, p_of_rank, uniform, penalties[rank])
            is_in = scores <= limit
            if not is_in.any():
                break
            size += is_in
        last = n_classes - np.maximum(size, 1)
        rows = np.arange(n_rows)
        smallest = rising[rows, last]
        result = p >= smallest[:, None]
        if not self._never_empty:
            result[size == 0] = False
        # Some classes with equal probabilities may be in the set and others not.
        is_tied = (last > 0) & (rising[rows, last - 1] == smallest)
        # Sums do not rise with numbers below zero, which some classifiers return.
        by_scores = np.flatnonzero(is_tied | (rising[:, 0] < 0))
        if len(by_scores):
            draws = None if uniform is None else uniform[by_scores]
            result[by_scores] = super().within(p[by_scores], limit, draws)
        return result

    def _of_all(self, p, uniform):
        order = np.argsort(-p, axis=1, kind="stable")
        falling = np.take_along_axis(p, order, axis=1)
        total = np.cumsum(falling, axis=1)
        draws = None if uniform is None else uniform[:, None]
        of_ranks = self._of_rank(total, falling, draws, self._penalties(p.shape[1]))
        scores = np.empty_like(total)
        np.put_along_axis(scores, order, of_ranks, axis=1)
        return scores

    def _penalties(self, n_classes):
        """Penalties (n_classes,) of the ranks, from the largest probability."""
        ranks = np.arange(1, n_classes + 1)
        with np.errstate(over="ignore"):
            return self._rank_penalty * np.maximum(ranks - self._free_ranks, 0)

    def _of_rank(self, total, p_of_rank, uniform, penalty):
        """Nonconformity of the class of a rank.

        Parameters
        ----------
        total : ndarray
            Sum of the probabilities up to this rank.
        p_of_rank : ndarray
            Probability of the class.
        uniform : ndarray or None
        penalty : float or ndarray
        """
        if uniform is not None:
            total = total - uniform * p_of_rank
        return total + penalty + (p_of_rank <= 0)
