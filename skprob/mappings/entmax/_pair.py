"""Entmax of two classes, as a function of the difference of their scores.

With d the absolute difference, the probability q of the class with the lower score
solves

    ((1 - q)^(alpha - 1) - q^(alpha - 1)) / (alpha - 1) = d,

or is zero if d is too large. For alpha = 2 and alpha = 3/2 this is a linear and a
quadratic equation. The potential without the larger score is a sum of positive terms,
so a small loss has the same relative accuracy as a large one.
"""

import numpy as np

from ..._utils.arrays import namespace, positive_part, zeros
from .._jacobian import power
from .._linearization import DifferenceLinearization
from . import _array_api
from ._sorting import by_sorting
from ._tails import by_tails
from ._threshold import by_threshold


def linearize_pair(difference, alpha):
    """Linearization of entmax in a difference of two scores, for any alpha but 1.

    Parameters
    ----------
    difference : ndarray of shape (n_samples,)
        Score of the second class minus score of the first.
    alpha : float

    Returns
    -------
    linearization : DifferenceLinearization
    """
    solve = {2: _linear, 1.5: _quadratic}.get(alpha, _numerical)
    lower, potential, derivative = solve(abs(difference), alpha)
    second = namespace(difference).where(difference > 0, 1 - lower, lower)
    return DifferenceLinearization(second, potential, derivative)


# Functions (d, alpha) -> q, potential, and the derivative of the upper class's
# probability as a function.


def _linear(d, alpha):
    q = positive_part(1 - d)
    q /= 2
    return q, q**2, lambda: power(q, 0) / 2


def _quadratic(d, alpha):
    # With x and y the square roots of 1 - q and q, x - y is d/2.
    xp = namespace(d)
    half = xp.where(d < 2, d, 2.0) / 4
    x = xp.sqrt(0.5 - half**2)
    x += half
    y = (0.5 - half) * (0.5 + half) * 2 / x
    potential = y**3 * (1 + y * (2 + x) / (1 + x) ** 2) * (2 / 3)
    return y**2, potential, lambda: x * y / (x + y)


def _numerical(d, alpha):
    scores = zeros((2, d.shape[0]), d)
    scores[1, ...] = -d
    p, potential = _solver(d, alpha)(scores.T, alpha)

    def derivative():
        if alpha > 2:
            # The slopes p^(2 - alpha) may overflow, their inverses are at most one.
            u = power(p, alpha - 2)
            slope = 1 / (u[:, 0] + u[:, 1])
            return namespace(d).where(p[:, 1] > 0, slope, 0.0)
        s = power(p, 2 - alpha)
        s, t = s[:, 0], s[:, 1]
        return s * t / (s + t)

    return p[:, 1], potential, derivative


def _solver(d, alpha):
    """The function of scores and alpha for the library of an array."""
    if namespace(d) is not np:
        return _array_api.entmax
    if alpha < 1:
        return by_tails
    return by_threshold if alpha < 2 else by_sorting
