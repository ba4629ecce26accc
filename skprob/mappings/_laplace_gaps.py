"""The line below the largest of some scores, for perturb-max with Laplace noise.

Between two neighbouring scores the classes above x have log Φ = x - z_j - log 2. So G
is exp(m x) there, with m classes above, times a function that is nearly even: a panel
for each gap takes few nodes if it is narrow.
"""

import numpy as np

from ._panels import gauss_legendre

#: More classes take more time than an adaptive rule.
MOST_LAPLACE_CLASSES = 48
# Orders of the rules, and which of them is the first of at least each order.
_ORDERS = np.array([3, 5, 8, 14])
_FIRST = np.searchsorted(_ORDERS, np.arange(_ORDERS[-1] + 2)).astype(np.int8)
# What is left of a gap that is wider than the last of these is for has this order. An
# integrand may be as even as exp((m - 1) x) there, and is left out so many exponents
# below the top.
_ORDER_ABOVE, _WIDEST = 28, 50.0


def sorted_chunks(scores, size):
    """Some rows, the places of their scores in order, and these, (n_classes, n_rows).

    Places are those in the scores of all rows, taken as one axis.
    """
    n_rows, n_classes = scores.shape
    step = max(1, size // n_classes)
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        order = np.argsort(-scores[rows], axis=1)
        order += n_classes * np.arange(rows.start, rows.stop)[:, None]
        places = order.T.copy()
        z = scores.take(places).astype(np.float64, copy=False)
        yield rows, places, np.maximum(z, np.finfo(float).min / 2, out=z)


class Gaps:
    """The gaps between scores in decreasing order, and the line below all.

    Parameters
    ----------
    z : ndarray of shape (n_classes, n_rows)
        The largest of each row is 0.
    """

    def __init__(self, z):
        self._z, self._widths = z, z[:-1] - z[1:]
        m = np.arange(1, len(z))[:, None]
        with np.errstate(over="ignore"):
            sums = np.concatenate([0 * z[:1], -m * self._widths])
            # Of the m largest at the m-th of them, log(2 Φ), which is at least that of
            # 2^m G. Not by np.cumsum, which takes several times as long.
            for m in range(1, len(z)):
                sums[m] += sums[m - 1]
        self._sums = sums

    def panels(self, first, last, least, size=None):
        """Panels below m classes, first <= m < last, some at a time.

        There is a singular point log 2 below each score. So the rule for a panel of
        width w errs by about w rho^(-2 order), rho + 1 / rho = 2 + 4 log(2) / w, times
        the largest G on an ellipse through that point: 2^m times that at the upper end.

        Parameters
        ----------
        first, last : int
        least : float or ndarray of shape (n_rows,)
            Logarithm of the error. Rows with log G below it have no panel.
        size : int or None, default=None
            At most so many nodes at a time.

        Yields
        ------
        index : ndarray of shape (n,)
            In arrays (last - first, n_rows), taken as one axis; none comes twice.
        x : ndarray of shape (n_nodes, n)
        log_G : ndarray of shape (n_nodes, n)
            That of the distribution function of the largest of m.
        weights : ndarray of shape (n_nodes, n)
            Of the rule.
        """
        gaps, m = slice(first - 1, last - 1), np.arange(first, last)[:, None]
        lower, log_G = self._z[first:last], self._sums[gaps] - np.log(2) * m
        widths = np.maximum(self._widths[gaps], np.finfo(float).tiny)
        digits = np.log(widths) + self._sums[gaps] - least
        # Of log(rho) / 2.
        sinh = np.sqrt(np.log(2) / widths)
        orders = np.ceil(digits / (4 * np.log(sinh + np.sqrt(1 + sinh * sinh))))
        kinds = _FIRST.take(np.clip(orders, 0, _ORDERS[-1] + 1).astype(np.int8))
        kinds[(log_G <= least) | (self._widths[gaps] <= 0)] = -1
        by_kind = np.argsort(kinds, axis=None, kind="stable")
        ends = np.cumsum(np.bincount(kinds.ravel() + 1))
        m = np.repeat(np.arange(first, last), self._z.shape[1])
        lower, widths, log_G = lower.ravel(), widths.ravel(), log_G.ravel()
        for kind in range(len(ends) - 1):
            is_wide = kind == len(_ORDERS)
            order = _ORDERS[kind - is_wide]
            every = by_kind[ends[kind] : ends[kind + 1]]
            n_nodes = order + is_wide * _ORDER_ABOVE
            step = size // n_nodes if size else max(1, len(every))
            for start in range(0, len(every), step):
                index = every[start : start + step]
                low, width, count = lower[index], widths[index], m[index]
                if is_wide:
                    middle = (
                        np.log(2) / np.sinh(digits.ravel()[index] / (4 * order)) ** 2
                    )
                    rest = np.minimum(width - middle, _WIDEST / count)
                    lowest, highest = (
                        _nodes(order, low, middle),
                        _nodes(_ORDER_ABOVE, low + width - rest, rest),
                    )
                    x, weights = np.concatenate([lowest, highest], axis=1)
                else:
                    x, weights = _nodes(order, low, width)
                values = x - (low + width)
                values *= count
                values += log_G[index]
                yield index, x, values, weights

    def below(self):
        """The integral of G below all scores."""
        n_classes = len(self._z)
        return np.exp(self._sums[-1] - np.log(2) * n_classes) / n_classes

    def are_narrow(self):
        """Rows whose gap below the largest score is covered to the end."""
        return self._z[:2].min(axis=0) > -_WIDEST


def _nodes(order, left, width):
    """Nodes and weights on some intervals, each (order, n)."""
    rule = gauss_legendre(order, 1)
    x = (1 + rule.nodes[:, None]) / 2 * width
    x += left
    return x, rule.weights[:, None] / 2 * width
