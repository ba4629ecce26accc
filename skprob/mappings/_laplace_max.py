"""Perturb-max with Laplace noise: sums of powers of exponentials of sorted scores.

Between two neighbouring scores the classes above x have log Φ = x - z_j - log 2, and
those below have, with u = exp(z_j - x) of at most 1,

    log Φ = log(1 - u / 2),    h = u / (2 - u).

The first is a polynomial in u, to rounding, and the second is minus u times its
derivative. So log G(x) takes the sums of exp(r z_j) over the classes below, and a
class's own integral takes those of G exp(-r x) over the line above it: both are sums
over sorted classes.
"""

from functools import cache

import numpy as np

from ._laplace_gaps import Gaps, sorted_chunks
from ._panels import gauss_legendre

# Of the polynomials in u.
_DEGREE = 13
# Of the tolerance: the error of each gap, and what the sum may be off one by.
_ERROR, _OFF = 1e-2, 1e-1
# Scores below have no powers: the highest ones would underflow.
_LOWEST = -50.0
# Above all scores the integrand is a polynomial in u, for this rule.
_ABOVE = 20
# Scores of a chunk of rows, and nodes at a time.
_CHUNK_SIZE, _NODES = 1 << 15, 1 << 14


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
    # The same memory for all chunks: to get it from the system takes as much time as
    # most of what is done with it.
    size = max(scores.shape[1], min(scores.size, _CHUNK_SIZE), _NODES)
    memory = np.empty((3, size * _DEGREE))
    for rows, places, z in sorted_chunks(scores, _CHUNK_SIZE):
        with np.errstate(all="ignore"):
            p.ravel()[places], potential[rows] = _of_sorted(z, tol, *memory)
    p[scores == -np.inf] = 0
    total = p.sum(axis=1)
    done = np.abs(total - 1) <= _OFF * tol
    return p / total[:, None], potential, done


def _of_sorted(z, tol, *memory):
    """The same for scores (n_classes, n_rows) in decreasing order."""
    n_classes, n_rows = z.shape
    shape = n_classes, _DEGREE, n_rows
    sums, moments = (part[: np.prod(shape)].reshape(shape) for part in memory[:2])
    memory = memory[2]
    log_series, hazard_series = _series()
    u = np.where(z < _LOWEST, 0, np.exp(z))
    # Over each class and those below, of exp(r z_j) for r = 1, 2, ..., _DEGREE.
    total = 0
    for m in range(n_classes - 1, -1, -1):
        total = np.add(total, _powers(u[m], memory), out=sums[m])
    # Of G exp(-r x), times coefficients, over the gap above each class.
    moments[0], potential = _above(sums[0])
    moments[1:] = 0
    # Of G between a score and the next one above, and below all.
    gaps, between = Gaps(z), np.zeros((n_classes + 1, n_rows))
    between[-1] = gaps.below()
    # Where the powers of the class below a gap begin.
    first = np.arange(1, n_classes)[:, None] * total.size + np.arange(n_rows)
    powers = n_rows * np.arange(_DEGREE)[:, None]
    least = np.log(_ERROR * tol)
    for index, x, values, weights in gaps.panels(1, n_classes, least, _NODES):
        places = powers + first.ravel()[index]
        series = sums.take(places)
        series *= log_series
        falls = _powers(np.exp(-np.maximum(x, _LOWEST)), memory)
        values += np.einsum("rn,rqn->qn", series, falls)
        np.exp(values, out=values)
        values *= weights
        between[1:-1].ravel()[index] = values.sum(axis=0)
        np.einsum("qn,rqn->rn", values, falls, out=series)
        series *= hazard_series
        moments.ravel()[places] = series
    p = between[1:]
    for m in range(n_classes - 1, 0, -1):
        p[m - 1] += p[m]
    potential -= p[0]
    total = 0
    for m in range(n_classes):
        total = total + moments[m]
        p[m] += np.einsum("rn,rn->n", total, _powers(u[m], memory))
    return p, potential


def _above(sums):
    """Moments above all scores, and the integral of 1 - G there."""
    rule = gauss_legendre(_ABOVE, 1)
    log_series, hazard_series = _series()
    u = (1 + rule.nodes) / 2
    powers = u ** np.arange(1, _DEGREE + 1)[:, None]
    G = np.exp(powers.T @ (log_series * sums))
    weights = rule.weights / 2 / u
    return (hazard_series * powers * weights) @ G, weights @ (1 - G)


def _powers(u, memory):
    """Powers 1 to _DEGREE of an array, along a new first axis."""
    powers = memory[: _DEGREE * u.size].reshape(_DEGREE, *u.shape)
    powers[0], n = u, 1
    while n < _DEGREE:
        more = powers[n : 2 * n]
        np.multiply(powers[: len(more)], powers[n - 1], out=more)
        n += len(more)
    return powers


@cache
def _series():
    """Coefficients of the powers of u in log(1 - u / 2) and u / (2 - u), as columns."""
    log = np.polynomial.Chebyshev.interpolate(
        lambda u: np.log1p(-u / 2) / u, _DEGREE - 1, domain=[0, 1]
    )
    log = log.convert(kind=np.polynomial.Polynomial, domain=[-1, 1]).coef[:, None]
    return log, -np.arange(1, _DEGREE + 1)[:, None] * log
