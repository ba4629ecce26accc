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

from ._laplace_gaps import Gaps, sorted_chunks
from ._panels import gauss_legendre

# Of the polynomials in u.
_DEGREE = 14
# Of the tolerance: what is left out below, and what the sum may be off one by.
_TAIL, _OFF = 1e-3, 1e-1
# Above all scores the integrand is a polynomial in u, for this rule.
_ABOVE = 28
# Scores of a chunk of rows.
_CHUNK_SIZE = 1 << 13
# Nodes at a time: their powers should stay in a core's cache.
_NODES = 1 << 14


def laplace_max(scores, tol):
    """Probabilities, potential, and the rows that have the tolerance.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0.
    tol : float

    Returns
    -------
    p : ndarray of shape (n_rows, n_classes), float64
    potential : ndarray of shape (n_rows,)
    done : ndarray of bool, shape (n_rows,)
    """
    p, potential = np.empty(scores.shape), np.empty(len(scores))
    for rows, order, z in sorted_chunks(scores, _CHUNK_SIZE):
        with np.errstate(all="ignore"):
            ordered, potential[rows] = _of_sorted(z, tol)
        np.put_along_axis(p[rows], order, ordered.T, axis=1)
    p[scores == -np.inf] = 0
    total = p.sum(axis=1)
    done = np.abs(total - 1) <= _OFF * tol
    return p / total[:, None], potential, done


def _of_sorted(z, tol):
    """The same for scores (n_classes, n_rows) in decreasing order."""
    n_classes, n_rows = z.shape
    log_series, hazard_series = _series()
    # exp(r (z_j - z_j-1)) for r = 1, 2, ..., (_DEGREE, n_classes, n_rows).
    falls = _powers(np.exp(np.diff(z, axis=0, prepend=0)))
    # Over the class m and those below, of exp(r (z_j - z_m)), times a coefficient.
    sums = np.empty((_DEGREE, n_classes - 1, n_rows))
    total = np.ones((_DEGREE, n_rows))
    for m in range(n_classes - 1, 0, -1):
        np.multiply(total, log_series[:, None], out=sums[:, m - 1])
        total *= falls[:, m]
        total += 1
    # Of G exp(r (z_m - x)) over the line above class m.
    above, potential = _above(total * log_series[:, None])
    p = np.empty((n_classes, n_rows))
    p[0] = hazard_series @ above
    # Of these, and of G, between a score and the next one above.
    moments = np.zeros((_DEGREE, (n_classes - 1) * n_rows))
    between = np.zeros(n_classes * n_rows)
    sums, lower, gaps = sums.reshape(_DEGREE, -1), z[1:].ravel(), Gaps(z)
    least = np.log(_TAIL * tol / n_classes)
    for index, x, G in gaps.panels(1, n_classes, least, _NODES):
        powers = _powers(np.exp(lower[index] - x))
        G *= np.exp(np.einsum("rn,rqn->qn", sums.take(index, axis=1), powers))
        between[index] = G.sum(axis=0)
        moments[:, index] = np.einsum("qn,rqn->rn", G, powers)
    moments = moments.reshape(_DEGREE, n_classes - 1, n_rows)
    for m in range(1, n_classes):
        above *= falls[:, m]
        above += moments[:, m - 1]
        p[m] = hazard_series @ above
    between = between.reshape(n_classes, n_rows)
    between[-1] = gaps.below()
    below = between[::-1].cumsum(axis=0)[::-1]
    return p + below, potential - below[0]


def _above(sums):
    """Moments above all scores, and the integral of 1 - G there."""
    rule = gauss_legendre(_ABOVE, 1)
    u = (1 + rule.nodes) / 2
    powers = _powers(u)
    log_G = powers.T @ sums
    weights = rule.weights / 2 / u
    potential = weights @ -np.expm1(log_G)
    return (powers * weights) @ np.exp(log_G), potential


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
