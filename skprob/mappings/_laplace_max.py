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
_DEGREE = 15
# Of the tolerance: what is left out below, and what the sum may be off one by.
_TAIL, _OFF = 1e-3, 1e-1
# Above all scores the integrand is a polynomial in u, for this rule.
_ABOVE = 28
# Scores of a chunk of rows.
_CHUNK_SIZE = 1 << 16


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
        with np.errstate(under="ignore"):
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
    sums = np.empty((n_classes, _DEGREE, n_rows))
    total = np.zeros((_DEGREE, n_rows))
    for m in reversed(range(n_classes)):
        total += 1
        np.multiply(total, log_series[:, None], out=sums[m])
        total *= falls[:, m]
    p = np.empty((n_classes, n_rows))
    # Of G exp(r (z_m - x)) over the line above class m.
    above, potential = _above(sums[0])
    p[0] = hazard_series @ above
    # Of G between a score and the next one above.
    between = np.zeros((n_classes + 1, n_rows))
    gaps, least = Gaps(z), np.log(_TAIL * tol / n_classes)
    for m in range(1, n_classes):
        above *= falls[:, m]
        for rows, x, G in gaps.panels(m, least):
            powers = _powers(np.exp(z[m, rows] - x))
            G *= np.exp(np.einsum("rn,rqn->qn", sums[m].take(rows, axis=1), powers))
            between[m, rows] += G.sum(axis=0)
            above[:, rows] += np.einsum("qn,rqn->rn", G, powers)
        p[m] = hazard_series @ above
    between[n_classes] = gaps.below()
    below = between[:0:-1].cumsum(axis=0)[::-1]
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
