"""Adaptive Gauss-Legendre quadrature for many integrals, over panels of many rows."""

from dataclasses import dataclass
from functools import cache

import numpy as np


@dataclass(frozen=True)
class Panels:
    """Intervals to integrate over.

    Attributes
    ----------
    rows : ndarray of shape (n_panels,)
        Index of the row that each belongs to, never decreasing.
    left, right : ndarray of shape (n_panels,)
    """

    rows: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def between(cls, edges):
        """The panels between the sorted edges of each row, (n_edges, n_rows)."""
        left, right = edges[:-1].T, edges[1:].T
        rows, index = np.nonzero(right > left)
        return cls(rows, left[rows, index], right[rows, index])

    @classmethod
    def merge(cls, parts):
        """All panels of several, in the order of their rows."""
        merged = cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.left for part in parts]),
            np.concatenate([part.right for part in parts]),
        )
        return merged[np.argsort(merged.rows, kind="stable")]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return Panels(self.rows[index], self.left[index], self.right[index])

    def chunks(self, size):
        """Parts with at most `size` panels."""
        return [self[i : i + size] for i in range(0, len(self), size)]

    def halves(self):
        """Both halves of each panel."""
        middle = (self.left + self.right) / 2
        left = np.stack([self.left, middle], axis=1).ravel()
        right = np.stack([middle, self.right], axis=1).ravel()
        return Panels(np.repeat(self.rows, 2), left, right)

    def are_points(self):
        """Which panels are too narrow to be cut."""
        middle = (self.left + self.right) / 2
        return (middle <= self.left) | (middle >= self.right)


class Rule:
    """A Gauss-Legendre rule that knows how well it does.

    Parameters
    ----------
    order : int
        Number of nodes.
    trust : int
        How far the decay of the integrand's coefficients is taken to go on, see
        :meth:`integral_and_error`.
    """

    def __init__(self, order, trust):
        self.order, self.trust = order, trust
        self._nodes, self.weights = np.polynomial.legendre.leggauss(order)
        legendre = np.polynomial.legendre.legvander(self._nodes, order - 1)
        legendre *= np.sqrt(2 * np.arange(order) + 1)
        # The integral, and coefficients of high and of middle degrees in the
        # orthonormal polynomials; two each, for one may vanish by symmetry.
        degrees = [0, order - 1, order - 2, order // 2 - 1, order // 2 - 2]
        self._functionals = self.weights * legendre[:, degrees].T

    def nodes(self, panels):
        """Nodes on each panel, (n_panels, order), and the panels' half widths."""
        half = (panels.right - panels.left)[:, None] / 2
        return panels.left[:, None] + half * (1 + self._nodes), half

    def integral_and_error(self, values):
        """Integral over [-1, 1] of values at the nodes (the last axis), and its error.

        The rule errs by the coefficients of twice its order. For an analytic function
        these are as far beyond its highest ones as two times (`trust`) those are
        beyond the middle ones.
        """
        # Not by BLAS, whose last digits depend on how many panels there are.
        moments = np.einsum("fn,...n->f...", self._functionals, values)
        integral, *coefficients = moments
        high_1, high_2, middle_1, middle_2 = np.abs(coefficients)
        high, middle = np.maximum(high_1, high_2), np.maximum(middle_1, middle_2)
        ratio = np.minimum(high / np.maximum(middle, np.finfo(float).tiny), 1)
        return integral, high * ratio**self.trust


rule = cache(Rule)


def add_logs(total, rows, logs):
    """log(exp(total) + the sums of exp(logs) by rows).

    Parameters
    ----------
    total : ndarray of shape (n, n_rows)
    rows : ndarray of shape (n_panels,)
        Row of each column of `logs`, never decreasing.
    logs : ndarray of shape (n, n_panels)
    """
    if len(rows) == 0:
        return total
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    counts = np.diff(starts, append=len(rows))
    old = total[:, rows[starts]]
    top = np.maximum(np.maximum.reduceat(logs, starts, axis=1), old)
    top[top == -np.inf] = 0
    terms = np.exp(logs - np.repeat(top, counts, axis=1))
    sums = np.add.reduceat(terms, starts, axis=1) + np.exp(old - top)
    result = total.copy()
    result[:, rows[starts]] = top + np.log(sums)
    return result


def sum_by_rows(rows, values, n_rows):
    """Sums by rows of an array whose last axis goes with `rows`, never decreasing."""
    result = np.zeros((*values.shape[:-1], n_rows))
    if len(rows):
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        result[..., rows[starts]] = np.add.reduceat(values, starts, axis=-1)
    return result
