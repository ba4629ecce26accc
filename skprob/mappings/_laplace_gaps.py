"""The line below the largest of some scores, for perturb-max with Laplace noise.

Between two neighbouring scores the classes above x have log Φ = x - z_j - log 2. So G
is exp(m x) there, with m classes above, times a function that is nearly even: a panel
for each gap takes few nodes if it is narrow.
"""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from ._panels import gauss_legendre

#: More classes take more time than an adaptive rule.
MOST_LAPLACE_CLASSES = 48
# Orders of the rules, and the error that they are chosen for.
_ORDERS, _RULE = np.array([3, 4, 5, 6, 8, 11, 14]), 1e-11
# What is left of a gap that is wider than the last of these is for has this order. An
# integrand may be as even as exp((m - 1) x) there, and is left out so many exponents
# below the top.
_ORDER_ABOVE, _WIDEST = 28, 50.0


def sorted_chunks(scores, size):
    """Rows, the order of their classes, and the scores in it, (n_classes, n_rows)."""
    n_rows, n_classes = scores.shape
    step = max(1, size // n_classes)
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        order = np.argsort(-scores[rows], axis=1, kind="stable")
        z = np.take_along_axis(scores[rows], order, axis=1).T
        z = np.array(z, dtype=np.float64, order="C")
        yield rows, order, np.maximum(z, np.finfo(float).min / 2, out=z)


class Gaps:
    """The gaps between scores in decreasing order, and the line below all.

    Parameters
    ----------
    z : ndarray of shape (n_classes, n_rows)
        The largest of each row is 0.
    """

    def __init__(self, z):
        self._z = z
        n_above = np.arange(1, len(z))[:, None]
        with np.errstate(over="ignore"):
            steps = np.concatenate([0 * z[:1], n_above * np.diff(z, axis=0)])
            # log Φ of the m largest at the m-th of them, which is at least log G.
            self._log_G = np.cumsum(steps - np.log(2), axis=0)

    def panels(self, m, least):
        """Panels below m classes, for some rows at a time.

        Parameters
        ----------
        least : ndarray of shape (n_rows,)
            Rows with log G below it have no panel.

        Yields
        ------
        rows : ndarray of shape (n,)
        x : ndarray of shape (n_nodes, n)
        G : ndarray of shape (n_nodes, n)
            The distribution function of the largest of m, times the rule's weights.
        """
        left, right = self._z[m], self._z[m - 1]
        width = np.where(self._log_G[m - 1] > least, right - left, 0)
        limits = _widest(m)
        index = np.searchsorted(limits, width)
        index[width == 0] = -1
        for i, order in enumerate(_ORDERS):
            rows = np.flatnonzero(index == i)
            if len(rows):
                yield rows, *self._nodes(m, order, rows, left[rows], right[rows])
        rows = np.flatnonzero(index == len(_ORDERS))
        if len(rows):
            middle = left[rows] + limits[-1]
            yield rows, *self._nodes(m, _ORDERS[-1], rows, left[rows], middle)
            middle = np.maximum(middle, right[rows] - _WIDEST / m)
            yield rows, *self._nodes(m, _ORDER_ABOVE, rows, middle, right[rows])

    def below(self):
        """The integral of G below all scores."""
        return np.exp(self._log_G[-1]) / len(self._z)

    def are_narrow(self):
        """Rows whose gap below the largest score is covered to the end."""
        return self._z[:2].min(axis=0) > -_WIDEST

    def _nodes(self, m, order, rows, left, right):
        rule = gauss_legendre(int(order), 1)
        half = (right - left) / 2
        x = left + half * (1 + rule.nodes[:, None])
        G = m * (x - self._z[m - 1, rows])
        G += self._log_G[m - 1, rows]
        np.exp(G, out=G)
        G *= rule.weights[:, None] * half
        return x, G


@lru_cache(maxsize=256)
def _widest(m):
    """Widths of the widest panels below m classes that each rule is for.

    There is a singular point log 2 below each score, so that the rule for a panel of
    width w errs by less than rho^(-2 order), rho + 1 / rho = 2 + 4 log(2) / w. And of
    exp(m x) it errs by (m w)^(2 order) times a constant, for a G of at most 2^-m.
    """
    n = _ORDERS
    rho = _RULE ** (-0.5 / n)
    of_hazards = 4 * np.log(2) / (rho + 1 / rho - 2)
    log_constant = 4 * gammaln(n + 1) - 3 * gammaln(2 * n + 1) - np.log(2 * n + 1)
    of_powers = np.exp((np.log(_RULE) + m * np.log(2) - log_constant) / (2 * n)) / m
    return np.minimum(of_hazards, of_powers)
