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
_ORDERS, _RULE = (4, 6, 9, 14), 1e-11
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
        order = np.argsort(-scores[rows], axis=1)
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
        n_above, widths = np.arange(1, len(z))[:, None], z[:-1] - z[1:]
        with np.errstate(over="ignore"):
            falls = np.concatenate([0 * z[:1], n_above * widths])
            # log Φ of the m largest at the m-th of them, which is at least log G.
            self._log_G = np.cumsum(-falls - np.log(2), axis=0)
        # Which rule each gap takes, from 1 on.
        self._kinds = (widths > 0).astype(np.int8)
        for widest in _widest(len(z)).T:
            self._kinds += widths > widest[1:, None]

    def panels(self, first, last, least, size=None):
        """Panels below m classes, first <= m < last, some at a time.

        Parameters
        ----------
        first, last : int
        least : float or ndarray of shape (n_rows,)
            Rows with log G below it have no panel.
        size : int or None, default=None
            At most so many nodes at a time.

        Yields
        ------
        index : ndarray of shape (n,)
            In arrays (last - first, n_rows), taken as one axis; none comes twice.
        x : ndarray of shape (n_nodes, n)
        G : ndarray of shape (n_nodes, n)
            The distribution function of the largest of m, times the rule's weights.
        """
        gaps = slice(first - 1, last - 1)
        log_G, right = self._log_G[gaps].ravel(), self._z[gaps].ravel()
        left = self._z[first:last].ravel()
        kinds = np.where(self._log_G[gaps] > least, self._kinds[gaps], 0).ravel()
        m = np.repeat(np.arange(first, last), self._z.shape[1])
        for kind, order in enumerate((*_ORDERS, _ORDERS[-1] + _ORDER_ABOVE), 1):
            every = np.flatnonzero(kinds == kind)
            step = size // order if size else max(1, len(every))
            for start in range(0, len(every), step):
                index = every[start : start + step]
                count, low, high = m[index], left[index], right[index]
                if kind <= len(_ORDERS):
                    x, weights = _nodes(order, low, high)
                else:
                    middle = low + _widest(len(self._z))[count, -1]
                    next_to = np.maximum(middle, high - _WIDEST / count)
                    pieces = (_ORDERS[-1], low, middle), (_ORDER_ABOVE, next_to, high)
                    pieces = [_nodes(*piece) for piece in pieces]
                    x, weights = (
                        np.concatenate(both) for both in zip(*pieces, strict=True)
                    )
                G = x - high
                G *= count
                G += log_G[index]
                np.exp(G, out=G)
                G *= weights
                yield index, x, G

    def below(self):
        """The integral of G below all scores."""
        return np.exp(self._log_G[-1]) / len(self._z)

    def are_narrow(self):
        """Rows whose gap below the largest score is covered to the end."""
        return self._z[:2].min(axis=0) > -_WIDEST


def _nodes(order, left, right):
    """Nodes and weights on some intervals, (order, n)."""
    rule = gauss_legendre(order, 1)
    half = (right - left) / 2
    return left + half * (1 + rule.nodes[:, None]), rule.weights[:, None] * half


@lru_cache(maxsize=64)
def _widest(n_classes):
    """Widths of the widest panels below m classes that each rule is for, (m, rule).

    There is a singular point log 2 below each score, so that the rule for a panel of
    width w errs by less than rho^(-2 order), rho + 1 / rho = 2 + 4 log(2) / w. And of
    exp(m x) it errs by (m w)^(2 order) times a constant, for a G of at most 2^-m.
    """
    n, m = np.array(_ORDERS), np.maximum(np.arange(n_classes), 1)[:, None]
    rho = _RULE ** (-0.5 / n)
    of_hazards = 4 * np.log(2) / (rho + 1 / rho - 2)
    log_constant = 4 * gammaln(n + 1) - 3 * gammaln(2 * n + 1) - np.log(2 * n + 1)
    of_powers = np.exp((np.log(_RULE) + m * np.log(2) - log_constant) / (2 * n)) / m
    return np.minimum(of_hazards, of_powers)
