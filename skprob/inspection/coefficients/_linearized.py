"""Derivatives of the probabilities that a model predicts, in its scores."""

import numpy as np

from ..._utils.scores import standard_scores
from ...mappings import Linearization, Softmax


def linearized(model, scores):
    """Linearization of the predicted probabilities at some rows of scores.

    A class label that was fitted by a marginal for each class has the marginals divided
    by their sum.
    """
    mapping = model.mapping_
    linear = _at(mapping, scores)
    if model.target_type_ != "class" or mapping.traits.polytope != "cube":
        return linear
    shares = _shares(linear)
    is_empty = linear.probabilities.sum(axis=1, keepdims=True) == 0
    if not is_empty.any():
        return shares
    other = _at(mapping.pair_mapping or Softmax(), scores)

    def merged(name):
        function, fallback = getattr(shares, name), getattr(other, name)
        return lambda *args: np.where(
            is_empty, fallback(*map(np.copy, args)), function(*map(np.copy, args))
        )

    return Linearization(
        np.where(is_empty, other.probabilities, shares.probabilities),
        *map(merged, ("jvp", "vjp", "vjp_derivative")),
    )


def _at(mapping, scores):
    return mapping.linearize(standard_scores(scores, mapping.traits.is_shift_invariant))


def _shares(linear):
    """The linearization of p / Σ p, from that of p."""
    p = linear.probabilities
    total = p.sum(axis=1, keepdims=True)
    total = np.where(total > 0, total, 1.0)
    shares = p / total

    def inner(cotangent):
        mean = (shares * cotangent).sum(axis=1, keepdims=True)
        return (cotangent - mean) / total

    def jvp(direction):
        change = linear.jvp(np.copy(direction))
        return (change - shares * change.sum(axis=1, keepdims=True)) / total

    def vjp(cotangent):
        return linear.vjp(inner(cotangent))

    def vjp_derivative(cotangent, direction):
        change, weight = jvp(direction), inner(cotangent)
        mean_change = (change * cotangent).sum(axis=1, keepdims=True)
        total_change = linear.jvp(np.copy(direction)).sum(axis=1, keepdims=True)
        weight_change = -(mean_change + total_change * weight) / total
        return linear.vjp_derivative(weight, direction) + linear.vjp(weight_change)

    return Linearization(shares, jvp, vjp, vjp_derivative)
