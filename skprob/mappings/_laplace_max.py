"""Perturb-max with Laplace noise: sums of powers of exponentials of sorted scores.

Between two neighbouring scores the classes above x have log Φ = x - z_j - log 2, and
those below have, with u = exp(z_j - x) of at most 1,

    log Φ = log(1 - u / 2),    h = u / (2 - u).

These two are polynomials in u, to rounding. So log G(x) takes the sums of the powers of
exp(z_j) over the classes below, and a class's own integral takes those of G exp(-r x)
over the line above it: both are sums over sorted classes.
"""

from functools import cache

import numpy as np

from ._panels import gauss_legendre
from ._reach import reach

#: More classes take more nodes than an adaptive rule.
MOST_CLASSES = 48
# Of the polynomials in u.
_DEGREE = 15
# Of the tolerance: what is left out below, and what the sum may be off one by.
_TAIL, _OFF = 1e-3, 1e-1
# Orders of the rules between the scores, and the error that they are chosen for.
# Above all scores the integrand is a polynomial in u.
_ORDERS, _RULE = (5, 8, 14, 28), 1e-11
_ABOVE = 28
# Scores of a chunk of rows.
_CHUNK_SIZE = 1 << 16


def laplace_max(scores, noise, tol):
    """Probabilities, potential, and the rows that have the tolerance.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    noise : Noise
        Laplace noise.
    tol : float

    Returns
    -------
    p : ndarray of shape (n_rows, n_classes), float64
    potential : ndarray of shape (n_rows,)
    done : ndarray of bool, shape (n_rows,)
    """
    n_rows, n_classes = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    z = np.take_along_axis(scores, order, axis=1).T.astype(np.float64)
    z = np.maximum(z, np.finfo(float).min / 2)
    lower = reach(noise, n_classes, _TAIL * tol).lower
    ordered, potential = np.empty((n_classes, n_rows)), np.empty(n_rows)
    step = max(1, _CHUNK_SIZE // n_classes)
    with np.errstate(under="ignore"):
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            sums = _Sorted(np.ascontiguousarray(z[:, rows]), lower)
            ordered[:, rows], potential[rows] = sums.values()
    p = np.empty((n_rows, n_classes))
    np.put_along_axis(p, order, ordered.T, axis=1)
    p[scores == -np.inf] = 0
    total = p.sum(axis=1)
    done = np.abs(total - 1) <= _OFF * tol
    return p / total[:, None], potential, done


class _Sorted:
    """Scores (n_classes, n_rows) in decreasing order, and their sums of powers."""

    def __init__(self, z, lower):
        self.z = z
        self.low = (z + lower[:, None]).max(axis=0)
        # exp(r (z_j - z_j-1)) for r = 1, 2, ..., (_DEGREE, n_classes, n_rows).
        self.falls = _powers(np.exp(np.diff(z, axis=0, prepend=0)))

    def values(self):
        z, (log_series, hazard_series) = self.z, _series()
        n_classes, n_rows = z.shape
        # Over the class m and those below, of exp(r (z_j - z_m)), times a coefficient.
        sums = np.empty((n_classes, _DEGREE, n_rows))
        total = np.zeros((_DEGREE, n_rows))
        for m in reversed(range(n_classes)):
            total += 1
            np.multiply(total, log_series[:, None], out=sums[m])
            total *= self.falls[:, m]
        p = np.empty((n_classes, n_rows))
        # Of G exp(r (z_m - x)) over the line above class m.
        above, potential = self._above(sums[0])
        p[0] = hazard_series @ above
        # Of G between a score and the next one above.
        between = np.zeros((n_classes + 1, n_rows))
        log_top = np.zeros(n_rows)
        for m in range(1, n_classes + 1):
            log_top -= z[m - 1] + np.log(2)
            moments = np.zeros((_DEGREE, n_rows))
            self._panel(m, log_top, sums, moments, between[m])
            if m < n_classes:
                above *= self.falls[:, m]
                above += moments
                p[m] = hazard_series @ above
        below = between[:0:-1].cumsum(axis=0)[::-1]
        return p + below, potential - below[0]

    def _above(self, sums):
        """Moments above all scores, and the integral of 1 - G there."""
        rule = gauss_legendre(_ABOVE, 1)
        u = (1 + rule.nodes) / 2
        powers = _powers(u)
        log_G = powers.T @ sums
        weights = rule.weights / 2 / u
        potential = weights @ -np.expm1(log_G)
        return (powers * weights) @ np.exp(log_G), potential

    def _panel(self, m, log_top, sums, moments, whole):
        """Set the integrals over the panel below m classes, where it has a width."""
        is_last = m == len(self.z)
        left = self.low if is_last else np.maximum(self.z[m], self.low)
        width = self.z[m - 1] - left
        least = 0
        for order in _ORDERS:
            most = _widest(order)
            rows = np.flatnonzero((width > least) & (width <= most))
            least = most
            if len(rows) == 0:
                continue
            rule = gauss_legendre(order, 1)
            half = width[rows] / 2
            x = left[rows] + half * (1 + rule.nodes[:, None])
            log_G = m * x + log_top[rows]
            if not is_last:
                powers = _powers(np.exp(self.z[m, rows] - x))
                log_G += np.einsum("rn,rqn->qn", sums[m][:, rows], powers)
            G = np.exp(log_G, out=log_G)
            G *= rule.weights[:, None] * half
            whole[rows] = G.sum(axis=0)
            if not is_last:
                moments[:, rows] = np.einsum("qn,rqn->rn", G, powers)


def _widest(order):
    """Width of the widest panel between scores that a rule of some order is for.

    There is a singular point log 2 below each score, so that the rule for a panel of
    width w errs by less than rho^(-2 order), rho + 1 / rho = 2 + 4 log(2) / w.
    """
    if order == _ORDERS[-1]:
        return np.inf
    rho = _RULE ** (-0.5 / order)
    return 4 * np.log(2) / (rho + 1 / rho - 2)


def _powers(u):
    """Powers 1 to _DEGREE of an array, along a new first axis."""
    powers = np.empty((_DEGREE, *u.shape))
    powers[0], n = u, 1
    while n < _DEGREE:
        more = min(n, _DEGREE - n)
        np.multiply(powers[:more], powers[n - 1], out=powers[n : n + more])
        n += more
    return powers


@cache
def _series():
    """Coefficients of the powers of u in log(1 - u / 2) and u / (2 - u)."""
    return tuple(
        np.polynomial.Chebyshev.interpolate(function, _DEGREE - 1, domain=[0, 1])
        .convert(kind=np.polynomial.Polynomial, domain=[-1, 1])
        .coef
        for function in (lambda u: np.log1p(-u / 2) / u, lambda u: 1 / (2 - u))
    )
