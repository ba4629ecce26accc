"""Correlated noise: nodes of the normal factors that several classes share."""

from functools import lru_cache

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from ..._utils.checks import real_or_nan

# Most factors with a grid of nodes, and default number of quasi-random nodes for more.
_MAX_GRID = 3
_N_RANDOM = 1024
# Most nodes of a factor in a grid, by default: enough for loadings of up to 20.
_N_MOST = 300
# Nodes of a grid with a smaller weight are removed.
_LEAST_WEIGHT = 1e-13


class Factors:
    """The shifts L η of scores by normal factors η, as nodes with weights.

    The probabilities depend only on differences of the rows of L. So their mean is
    subtracted, and the factors are rotated to the fewest with the same covariance.

    Parameters
    ----------
    loadings : ndarray of shape (n_classes, n_factors)
    n_points : int or None
        Number of nodes of each of up to three factors, or of all nodes with more.
    random_state : int

    Attributes
    ----------
    shifts : ndarray of shape (n_nodes, n_classes)
    factors : ndarray of shape (n_nodes, n_factors)
        The factors η, without components that shift no score.
    weights : ndarray of shape (n_nodes,)
        Their sum is 1.
    """

    def __init__(self, loadings, n_points, random_state):
        centred = loadings - loadings.mean(axis=0)
        left, sizes, right = np.linalg.svd(centred, full_matrices=False)
        is_significant = sizes > 1e-14 * max(1.0, np.abs(loadings).max(initial=0))
        left, sizes = left[:, is_significant], sizes[is_significant]
        right = right[is_significant]
        if len(sizes) <= _MAX_GRID:
            nodes, self.weights = _grid(sizes, n_points)
        else:
            nodes, self.weights = _quasi_random(len(sizes), n_points, random_state)
        self.shifts = nodes @ (left * sizes).T
        self.factors = nodes @ right


def _grid(sizes, n_points):
    """Product of Gauss-Hermite rules, (n_nodes, n_factors) and (n_nodes,)."""
    nodes, weights = np.zeros((1, 0)), np.ones(1)
    for size in sizes:
        x, w = _normal_rule(size, n_points)
        n = len(x)
        nodes = np.column_stack([np.tile(nodes, (n, 1)), np.repeat(x, len(nodes))])
        weights = np.outer(w, weights).ravel()
        nodes, weights = (
            nodes[weights > _LEAST_WEIGHT],
            weights[weights > _LEAST_WEIGHT],
        )
    return nodes, weights / weights.sum()


def _normal_rule(size, n_points):
    """Nodes and weights for a normal number that moves scores by `size` times itself.

    The rule is Gauss-Hermite up to a size of 2, and the trapezoidal rule beyond. The
    number of Gauss-Hermite nodes grows with the square of the size, and the number of
    trapezoidal nodes with the size.
    """
    if n_points is None and size > 2:
        n = min(_N_MOST, int(np.ceil(18 * np.hypot(1, size))))
        x = np.linspace(-7.5, 7.5, n)
        w = np.exp(x**2 / -2)
    else:
        n = n_points or int(np.ceil(8 + 8 * size**2))
        x, w = np.polynomial.hermite_e.hermegauss(n)
    return x, w / w.sum()


def _quasi_random(n_factors, n_points, random_state):
    """Sobol points as normal numbers, each with its negative."""
    n_pairs = -(-(n_points or _N_RANDOM) // 2)
    sampler = qmc.Sobol(n_factors, seed=random_state)
    # Sobol points are balanced if their number is a power of two.
    points = sampler.random_base2(int(np.ceil(np.log2(n_pairs))))[:n_pairs]
    nodes = ndtri(np.clip(points, 1e-16, 1 - 1e-16))
    return np.concatenate([nodes, -nodes]), np.full(2 * n_pairs, 0.5 / n_pairs)


@lru_cache(maxsize=16)
def _cached_factors(content, shape, n_points, random_state):
    loadings = np.frombuffer(content).reshape(shape)
    return Factors(loadings, n_points, random_state)


def get_factors(loadings, n_points, random_state):
    """The :class:`Factors` of loadings, computed once.

    Raises
    ------
    ValueError
        If the loadings are not finite numbers of shape (n_classes, n_factors).
    """
    array = real_or_nan(loadings)
    if array.ndim != 2 or len(array) == 0 or not np.isfinite(array).all():
        raise ValueError(
            "loadings must be finite real numbers of shape (n_classes, n_factors); got "
            f"{loadings!r}."
        )
    return _cached_factors(array.tobytes(), array.shape, n_points, random_state)
