"""Nonconformity by the probability of a class, and by those of more probable ones."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ._by_class import by_class


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
        # Products of Python's numbers overflow to infinity without a warning.
        self._rank_penalty = float(rank_penalty)
        self._free_ranks = int(free_ranks)

    def within(self, p, limit, uniform=None):
        """Boolean (n_rows, n_classes): classes whose score is at most the limit."""
        p_by_class = by_class(p)
        # Scores rise with the rank, if no probability is below zero: some classifiers
        # return such numbers. A set is then the classes down to its least probable one.
        if isinstance(limit, np.ndarray) or p_by_class.min(initial=0) < 0:
            return super().within(p, limit, uniform)
        smallest = p_by_class.max(axis=0)
        is_in = self._of_rank(smallest, smallest, uniform, self._penalty(1)) <= limit
        # Only a row whose best class is within the limit may have others.
        several = is_in.nonzero()[0]
        n_in = len(p)
        if not self._never_empty:
            smallest[~is_in], n_in = np.inf, len(several)
        if len(several):
            draws = None if uniform is None else uniform[several]
            smallest[several], n_more = self._smallest_in_set(
                p.take(several, axis=0), limit, draws
            )
            n_in += n_more
        result = p_by_class >= smallest
        # Some classes with equal probabilities may be in the set and others not.
        if np.count_nonzero(result) > n_in:
            n_equal = np.count_nonzero(p_by_class == smallest, axis=0)
            tied = np.flatnonzero(n_equal > 1)
            draws = None if uniform is None else uniform[tied]
            result[:, tied] = super().within(p[tied], limit, draws).T
        return result.T

    def _smallest_in_set(self, p, limit, uniform):
        """Least probability in the set of each row whose set has the best class.

        Parameters
        ----------
        p : ndarray of shape (n_rows, n_classes)
            The array is overwritten.
        limit : float
        uniform : ndarray of shape (n_rows,) or None

        Returns
        -------
        smallest : ndarray of shape (n_rows,)
        n_more : int
            Number of classes in all sets, without the best ones.
        """
        p.sort(axis=1)
        falling, n_more = by_class(p[:, ::-1]), 0
        total, smallest = falling[0].copy(), falling[0].copy()
        for rank, p_of_rank in enumerate(falling[1:], start=2):
            total += p_of_rank
            scores = self._of_rank(total, p_of_rank, uniform, self._penalty(rank))
            is_in = scores <= limit
            n_of_rank = np.count_nonzero(is_in)
            if not n_of_rank:
                break
            n_more += n_of_rank
            np.copyto(smallest, p_of_rank, where=is_in)
        return smallest, n_more

    def _of_all(self, p, uniform):
        order = np.argsort(-p, axis=1, kind="stable")
        falling = np.take_along_axis(p, order, axis=1)
        total = np.cumsum(falling, axis=1)
        draws = None if uniform is None else uniform[:, None]
        penalties = np.array([self._penalty(k) for k in range(1, p.shape[1] + 1)])
        of_ranks = self._of_rank(total, falling, draws, penalties)
        scores = np.empty_like(total)
        np.put_along_axis(scores, order, of_ranks, axis=1)
        return scores

    def _penalty(self, rank):
        """Penalty of a rank, 1 for the largest probability."""
        return self._rank_penalty * max(rank - self._free_ranks, 0)

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
        if self._rank_penalty:
            total = total + penalty
        is_zero = p_of_rank <= 0
        return total + is_zero if is_zero.any() else total
