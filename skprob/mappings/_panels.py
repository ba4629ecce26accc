"""Adaptive quadrature of many integrals, over panels of many rows.

Values at the nodes are arrays (..., n_nodes, n_panels): sums over nodes are then fast,
and do not depend on how many panels there are.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache

import numpy as np


class Rule(ABC):
    """A quadrature rule on [-1, 1] that knows how well it does.

    Attributes
    ----------
    order : int
        Number of nodes.
    nodes, weights : ndarray of shape (order,)
    """

    @abstractmethod
    def integral_and_error(self, values):
        """Integral over [-1, 1] of values (..., n_nodes, n_panels), and its error."""


class GaussLegendre(Rule):
    """The Gauss-Legendre rule.

    Parameters
    ----------
    order : int
    trust : int
        How far the decay of the integrand's coefficients is taken to go on: the rule
        errs by the coefficients of twice its order, and for an analytic function
        these are as far beyond its highest ones as two times (`trust`) those are
        beyond the middle ones.
    is_graded : bool
        Whether it is the rule in a variable v of which the place is (3 v - v³) / 2: at
        both ends powers of the distance are then twice as high.
    """

    def __init__(self, order, trust, is_graded=False):
        self.order, self.trust = order, trust
        self.nodes, self.weights = np.polynomial.legendre.leggauss(order)
        legendre = np.polynomial.legendre.legvander(self.nodes, order - 1)
        if is_graded:
            self.weights = self.weights * 1.5 * (1 - self.nodes**2)
            self.nodes = self.nodes * (3 - self.nodes**2) / 2
        legendre *= np.sqrt(2 * np.arange(order) + 1)
        # The integral, and coefficients of high and of middle degrees in the
        # orthonormal polynomials; two each, for one may vanish by symmetry.
        degrees = [0, order - 1, order - 2, order // 2 - 1, order // 2 - 2]
        self._functionals = self.weights * legendre[:, degrees].T

    def integral_and_error(self, values):
        # Not by BLAS, whose last digits depend on how many panels there are.
        moments = np.einsum("fn,...np->f...p", self._functionals, values)
        integral, *coefficients = moments
        high_1, high_2, middle_1, middle_2 = np.abs(coefficients)
        high, middle = np.maximum(high_1, high_2), np.maximum(middle_1, middle_2)
        return integral, extrapolated(high, middle, self.trust)


class Trapezoid(Rule):
    """The trapezoidal rule, for analytic functions that vanish at both ends.

    With steps h it errs by the Fourier transform at the frequency 2π/h, which is
    extrapolated from those at π/h and π/2h.

    Parameters
    ----------
    order : int
        A multiple of four.
    """

    def __init__(self, order):
        self.order = order
        self.nodes = np.linspace(-1, 1, order)
        self.weights = np.full(order, 2 / (order - 1))

    def integral_and_error(self, values):
        *others, order, n_panels = values.shape
        fourths = values.reshape(*others, order // 4, 4, n_panels).sum(axis=-3)
        fourths *= 2 / (order - 1)
        a, b, c, d = np.moveaxis(fourths, -2, 0)
        even, odd = a + c, b + d
        high, middle = np.abs(even - odd), np.abs(a - c) + np.abs(b - d)
        return even + odd, extrapolated(high, middle, 2)


def by_fourths(start, end, step):
    """Even steps: of each four, all the first ones, all the second ones, and so on."""
    n_nodes = 4 * int(np.ceil((end - start) / step / 4))
    return start + step * np.arange(n_nodes).reshape(-1, 4).T.ravel()


def extrapolated(high, middle, trust):
    """The error of a rule, from what it makes of high and of middle frequencies."""
    ratio = np.minimum(high / np.maximum(middle, np.finfo(float).tiny), 1)
    return high * ratio**trust


gauss_legendre = cache(GaussLegendre)
trapezoid = cache(Trapezoid)


@dataclass(frozen=True)
class Panels:
    """Intervals to integrate over, by one rule.

    Attributes
    ----------
    rule : Rule
    rows : ndarray of shape (n_panels,)
        Index of the row that each belongs to, never decreasing.
    left, right : ndarray of shape (n_panels,)
    """

    rule: Rule
    rows: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def between(cls, edges, rule):
        """The panels between the sorted edges of each row, (n_edges, n_rows)."""
        left, right = edges[:-1].T, edges[1:].T
        rows, index = np.nonzero(right > left)
        return cls(rule, rows, left[rows, index], right[rows, index])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return Panels(self.rule, self.rows[index], self.left[index], self.right[index])

    def chunks(self, size):
        """Parts with at most `size` panels."""
        return [self[i : i + size] for i in range(0, len(self), size)]

    def halves(self, rule):
        """Both halves of each panel, for a rule."""
        middle = (self.left + self.right) / 2
        left = np.stack([self.left, middle], axis=1).ravel()
        right = np.stack([middle, self.right], axis=1).ravel()
        return Panels(rule, np.repeat(self.rows, 2), left, right)

    def are_points(self):
        """Which panels are too narrow to be cut."""
        middle = (self.left + self.right) / 2
        return (middle <= self.left) | (middle >= self.right)

    def nodes(self):
        """Nodes on each panel, (order, n_panels), and the panels' half widths."""
        half = (self.right - self.left) / 2
        return self.left + (1 + self.rule.nodes[:, None]) * half, half


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


def add_by_rows(total, rows, values):
    """Add to `total`, in place, the sums by rows of `values`.

    The last axis of `total` counts rows; that of `values` goes with `rows`, which
    never decrease.
    """
    if len(rows):
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        total[..., rows[starts]] += np.add.reduceat(values, starts, axis=-1)
