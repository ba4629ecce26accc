"""The log loss of labels with heavy-tailed noise: nodes shared by rows of one depth.

The notation is that of :mod:`._label_integral`. One trapezoidal rule covers the line,
with even steps from the largest score to the lowest that counts and growing ones
beyond. So x takes few values, and a class takes the noise at each of them.
"""

from functools import lru_cache

import numpy as np

from ._panels import by_fourths, extrapolated
from ._reach import reach
from ._variables import Graded

# In numbers, of all classes at some nodes: some four such arrays are worked with.
_CHUNK_SIZE = 1 << 17
# Of the rule, in units of the scale: it errs by some 1e-10 for Cauchy noise.
_STEP = 0.17
# In units of the scale: depths are multiples of it; rows with others are not for this
# rule, and a lower tail that is shorter is taken in even steps.
_LEVEL, _DEEPEST, _SHORT = 2, 60, 10
# Of the tolerance: what is left out at both ends, and what the rule may err by.
_TAIL, _RULE = 1e-4, 1e-1


def label_gradients_by_graded_nodes(scores, labels, noise, tol):
    """Logarithms of the probabilities of one class in each row, and their gradients.

    As :func:`._shared_nodes.label_gradients_by_shared_nodes`.
    """
    n_rows, n_classes = scores.shape
    if not noise.is_graded:
        nothing = np.empty(n_rows), np.empty(scores.shape)
        return *nothing, np.zeros(n_rows, dtype=bool)
    z = np.array(scores.T, dtype=np.float64, order="C")
    # The integral of G h_y, and of that times each hazard, by fourths of the rule.
    p, rates = np.zeros((n_rows, 4)), np.zeros((n_classes, n_rows, 4))
    with np.errstate(all="ignore"):
        level = _levels(z, noise, tol)
        for index in np.unique(level[level >= 0]):
            x, dx = _rule(noise, n_classes, tol, int(index))
            cdf_and_hazard = noise.at(x)
            rows = np.flatnonzero(level == index)
            step = max(1, _CHUNK_SIZE // (n_classes * len(x)))
            for start in range(0, len(rows), step):
                chunk = rows[start : start + step]
                found = _fourths(z[:, chunk], labels[chunk], cdf_and_hazard, dx)
                p[chunk], rates[:, chunk] = found
        return _of_fourths(p, rates, labels, tol)


def _levels(z, noise, tol):
    """The depth of each row, in units of `_LEVEL`; -1 for those that are too deep."""
    r = reach(noise, len(z), _TAIL * tol)
    ordered = -np.sort(-z, axis=0)
    # Below, the largest perturbed score is but for the tail.
    low = (ordered + r.lower[:, None]).max(axis=0)
    if not _is_short(r):
        low = np.maximum(ordered[-1], low)
    level = np.ceil(low / (-_LEVEL * r.scale))
    return np.where(level <= _DEEPEST / _LEVEL, level, -1).astype(int)


def _is_short(r):
    return -r.lower[-1] <= _SHORT * r.scale


@lru_cache(maxsize=256)
def _rule(noise, n_classes, tol, level):
    """Nodes and weights, by fourths."""
    r, variable = reach(noise, n_classes, _TAIL * tol), Graded()
    lowest = -_LEVEL * r.scale * level
    low = lowest if _is_short(r) else lowest + r.lower[-1]
    start, end = variable.at(np.array([low, r.upper]), lowest, r.scale)
    t = by_fourths(start, end, _STEP)
    x, slope = variable.x_and_slope(t, lowest, r.scale)
    return x, _STEP * slope


def _fourths(z, labels, cdf_and_hazard, dx):
    """The integrals for some scores (n_classes, n_rows), with their rule."""
    n_rows = z.shape[1]
    cdf, hazards = cdf_and_hazard(z[:, :, None])
    integrand = cdf.prod(axis=0)
    integrand *= hazards[labels, np.arange(n_rows)]
    integrand *= dx
    integrand = integrand.reshape(n_rows, 4, -1)
    hazards = hazards.reshape(-1, *integrand.shape)
    return integrand.sum(axis=2), np.einsum("rqn,krqn->krq", integrand, hazards)


def _of_fourths(p, rates, labels, tol):
    """Logarithms, gradients, and where they have the tolerance."""
    own = labels, np.arange(len(labels))
    p, error = _sum_and_error(p)
    rates, errors = _sum_and_error(rates)
    gradient = rates / -p
    gradient[own] = 0
    size = p - p * gradient.sum(axis=0)
    # All scores moved alike change nothing.
    gradient[own] = -gradient.sum(axis=0)
    errors[own] = error
    done = (errors <= _RULE * tol * size).all(axis=0) & (p > 0)
    return np.log(p), gradient.T, done & (error <= _RULE * tol * p)


def _sum_and_error(fourths):
    """Sums over the last axis, and the errors, as of the trapezoidal rule."""
    a, b, c, d = np.moveaxis(fourths, -1, 0)
    even, odd = a + c, b + d
    middle = np.abs(a - c) + np.abs(b - d)
    return even + odd, extrapolated(np.abs(even - odd), middle, 2)
