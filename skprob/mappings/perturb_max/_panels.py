"""Panels of many rows: intervals with a quadrature rule that estimates its error.

Integrands are arrays (n_integrals, n_nodes, n_panels).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np


class GaussLegendre:
    """The Gauss-Legendre rule on [-1, 1], with an estimate of its error.

    Parameters
    ----------
    order : int
        Number of nodes.
    trust : int
        Exponent of the extrapolation of the error. The rule's error is about the
        integrand's coefficient at twice the order in Legendre polynomials. It is
        estimated as high × (high / middle)^trust, from the coefficients at the order
        and at half the order. An analytic integrand has trust 2.
    is_graded : bool
        Whether nodes are those of a variable v with place (3v - v³) / 2. At both ends
        powers of the distance are then twice as high, which resolves cusps.
    """

    def __init__(self, order, trust, is_graded=False):
        self.order, self.trust = order, trust
        self.nodes, self.weights = np.polynomial.legendre.leggauss(order)
        legendre = np.polynomial.legendre.legvander(self.nodes, order - 1)
        if is_graded:
            self.weights = self.weights * 1.5 * (1 - self.nodes**2)
            self.nodes = self.nodes * (3 - self.nodes**2) / 2
        legendre *= np.sqrt(2 * np.arange(order) + 1)
        # The integral, and two coefficients each at the order and at half the order,
        # because one of two may vanish by symmetry.
        degrees = [0, order - 1, order - 2, order // 2 - 1, order // 2 - 2]
        self._functionals = self.weights * legendre[:, degrees].T

    def integral_and_error(self, values):
        """Integral over [-1, 1] and its error, each (n_integrals, n_panels)."""
        # By einsum: rounding errors of BLAS would depend on the number of panels.
        integral = np.einsum("n,inp->ip", self._functionals[0], values)
        sizes = np.abs(self._functionals[1:] @ values)
        high, middle = sizes[:, :2].max(axis=1), sizes[:, 2:].max(axis=1)
        ratio = np.minimum(high / np.maximum(middle, np.finfo(float).tiny), 1)
        return integral, high * ratio**self.trust


gauss_legendre = cache(GaussLegendre)


@dataclass(frozen=True)
class Panels:
    """Intervals of rows, with one rule.

    Attributes
    ----------
    rule : GaussLegendre
    rows : ndarray of shape (n_panels,)
        Row of each panel, in increasing order.
    left, right : ndarray of shape (n_panels,)
    """

    rule: GaussLegendre
    rows: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return Panels(self.rule, self.rows[index], self.left[index], self.right[index])

    def chunks(self, size):
        """Parts of at most `size` panels."""
        return [self[i : i + size] for i in range(0, len(self), size)]

    def halves(self):
        """Both halves of each panel."""
        middle = (self.left + self.right) / 2
        left = np.stack([self.left, middle], axis=1).ravel()
        right = np.stack([middle, self.right], axis=1).ravel()
        return Panels(self.rule, np.repeat(self.rows, 2), left, right)

    def are_points(self):
        """Panels without a number between their ends."""
        middle = (self.left + self.right) / 2
        return (middle <= self.left) | (middle >= self.right)

    def nodes(self):
        """Nodes on each panel, (order, n_panels), and half widths, (n_panels,)."""
        half = (self.right - self.left) / 2
        return self.left + (1 + self.rule.nodes[:, None]) * half, half


def add_logs(total, rows, logs):
    """log(exp(total) + the sums by rows of exp(logs)).

    Parameters
    ----------
    total : ndarray of shape (n_rows, n)
    rows : ndarray of shape (n_panels,)
        Row of each line of `logs`, in increasing order.
    logs : ndarray of shape (n_panels, n)
    """
    if len(rows) == 0:
        return total
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    counts = np.diff(starts, append=len(rows))
    old = total[rows[starts]]
    top = np.maximum(np.maximum.reduceat(logs, starts, axis=0), old)
    top[top == -np.inf] = 0
    terms = np.exp(logs - np.repeat(top, counts, axis=0))
    sums = np.add.reduceat(terms, starts, axis=0) + np.exp(old - top)
    result = total.copy()
    result[rows[starts]] = top + np.log(sums)
    return result
