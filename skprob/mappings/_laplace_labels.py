"""The log loss of labels with Laplace noise: between sorted scores, class by class.

Classes below x have, with t = exp(z_j - x) / 2 of at most 1/2,

    Φ = 1 - t,    h = t / (1 - t),

and for those above h is one. The notation is that of :mod:`._label_integral`.
"""

import numpy as np

from ._laplace_gaps import Gaps, sorted_chunks
from ._panels import gauss_legendre

# Of the tolerance: what is left out below.
_TAIL = 1e-3
# Scores of a chunk of rows.
_CHUNK_SIZE = 1 << 15
# A probability with all its digits.
_LEAST = 1e-250


def laplace_label_gradients(scores, labels, noise, tol):
    """Logarithms of the probabilities of one class in each row, and their gradients.

    As :func:`._shared_nodes.label_gradients_by_shared_nodes`.
    """
    log_p, gradient = np.empty(len(scores)), np.empty(scores.shape)
    done = np.zeros(len(scores), dtype=bool)
    for rows, places, z in sorted_chunks(scores, _CHUNK_SIZE):
        place = (places % scores.shape[1] == labels[rows]).argmax(axis=0)
        gaps = Gaps(z)
        with np.errstate(all="ignore"):
            p, rates = _integrals(z, gaps, place, tol)
            log_p[rows], rates = np.log(p), rates / -p
        # Below one class alone, the integrand of another is nearly even.
        done[rows] = (p > _LEAST) & ((place == 0) | gaps.are_narrow())
        own = place, np.arange(len(p))
        rates[own] = 0
        # All scores moved alike change nothing.
        rates[own] = -rates.sum(axis=0)
        gradient.ravel()[places] = rates
    return log_p, gradient, done


def _integrals(z, gaps, place, tol):
    """Integrals of G h_y, and of that times each hazard; y is the class in a place."""
    n_classes, n_rows = z.shape
    half = np.exp(z) / 2
    p, rates = _above(half, place)
    # Of the integrand between a score and the next one above.
    between = np.zeros((n_classes + 1, n_rows))
    for m in range(1, n_classes):
        # What is below is at most G.
        least = np.log(_TAIL * tol * p)
        for rows, x, log_G, weights in gaps.panels(m, m + 1, least):
            cdf, hazards = _at(half[m:].take(rows, axis=1)[:, None] * np.exp(-x))
            values = np.exp(log_G, out=log_G)
            values *= weights
            values *= cdf
            is_below = np.flatnonzero(place[rows] >= m)
            values[:, is_below] *= hazards[place[rows][is_below] - m, :, is_below].T
            mass = values.sum(axis=0)
            p[rows] += mass
            between[m, rows] += mass
            rates[m:, rows] += np.einsum("jqn,qn->jn", hazards, values)
    between[n_classes] = gaps.below()
    p += between[n_classes]
    return p, rates + between[:0:-1].cumsum(axis=0)[::-1]


def _above(half, place):
    """The integrals above all scores."""
    n_classes, n_rows = half.shape
    # In exp(-x), G is a polynomial of degree n_classes, and hazards nearly are.
    rule = gauss_legendre(8 + n_classes // 2, 1)
    u = (1 + rule.nodes[:, None]) / 2
    values, hazards = _at(half[:, None] * u)
    values *= hazards[place, :, np.arange(n_rows)].T
    values *= rule.weights[:, None] / 2 / u
    return values.sum(axis=0), np.einsum("jqn,qn->jn", hazards, values)


def _at(t):
    """The product of all 1 - t, and t / (1 - t), which takes the place of t."""
    rest = 1 - t
    return rest.prod(axis=0), np.divide(t, rest, out=t)
