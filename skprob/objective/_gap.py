"""A bound on how far a point is from the minimum, by Fenchel duality.

The losses in question are ℓ(z; q) = F(z + c) - ⟨q, z + c⟩ + const with F = Ω* and, for
a margin m, c = m (1 - q). For any rows p_i on the simplex with Σ s_i (p_i - q_i) = 0,
which the free intercepts ask for,

    Σ s_i [F(z_i + c_i) + Ω(p_i) - ⟨p_i, z_i + c_i⟩] + ‖l2 W + V‖² / (2 l2),
    V = Σ s_i (p_i - q_i) x_iᵀ,

is a duality gap: no point is lower by more. The probabilities of the model make the
first sum zero, but they meet the condition only where the intercepts are best for the
coefficients. So the intercepts are first moved there, nearly, which needs no product
with X (what that gains belongs to the gap). What is still amiss is mended with one
distribution u for all rows: (1 - t) p(z_i + c_i) + t u meet the condition, and because
Ω is convex the sum is then at most t Σ s_i [F(z_i + c_i) + Ω(u) - ⟨u, z_i + c_i⟩]. So
nothing but means over the rows is needed.
"""

from typing import NamedTuple

import numpy as np

from ._parallel import sum_over
from ._products import weighted_sum

# Means that differ by no more, relatively, are the same.
_ROUNDING = 1e-12
# Of the value: a gap that is never made smaller.
_CERTAIN = 1e-6


class TargetSums(NamedTuple):
    """Means over the rows that the target has a part in.

    Attributes
    ----------
    target_mean : ndarray of shape (n_classes,)
        Σ s_i q_i.
    target_square : float
        Σ s_i ‖q_i‖².
    feature_mean : ndarray of shape (n_features,)
        Σ s_i x_i.
    coupling : ndarray of shape (M, n_features)
        Σ s_i q_i x_iᵀ, with the outputs in the classes' place.
    """

    target_mean: np.ndarray
    target_square: float
    feature_mean: np.ndarray
    coupling: np.ndarray


def block_target_sums(block, n_outputs):
    """A block's part of :class:`TargetSums`."""
    target = block.target.to_dense(block.weight.dtype)
    weighted = target * block.weight[:, None]
    square = np.vdot(weighted, target)
    coupling = weighted_sum(
        block.X, weighted if n_outputs > 1 else np.diff(weighted) / 2
    )
    feature_sum = weighted_sum(block.X, block.weight[:, None])[0]
    return TargetSums(weighted.sum(axis=0), square, feature_sum, coupling)


def target_sums(objective):
    """:class:`TargetSums` of an objective, in one pass over the data."""
    n_outputs = objective.coef_shape[0]
    n_features = objective.coef_shape[1]
    sums = sum_over(
        objective.blocks,
        lambda block: block_target_sums(block, n_outputs),
        n_outputs * n_features,
    )
    return TargetSums(*sums)


def mixing_distribution(target_mean, model_mean):
    """The least t, and the u, with (1 - t) model_mean + t u = target_mean.

    Parameters
    ----------
    target_mean, model_mean : ndarray of shape (n_classes,)
        Distributions.

    Returns
    -------
    t : float
        In [0, 1].
    u : ndarray of shape (n_classes,)
        A distribution.
    """
    # Weights, and rows of probabilities, sum to one up to rounding only.
    target_mean, model_mean = (a / a.sum() for a in (target_mean, model_mean))
    excess = model_mean > target_mean
    t = (1 - target_mean[excess] / model_mean[excess]).max(initial=0.0)
    if t <= _ROUNDING:
        return 0.0, target_mean
    u = np.maximum((target_mean - (1 - t) * model_mean) / t, 0)
    return float(t), u / u.sum()


def duality_gap(objective, parameters, value, gradient, enough):
    """Bound on the value at parameters less the minimum, up to rounding.

    Without an intercept it costs nothing, and where the intercepts need not be moved
    next to nothing, once the objective has its target sums; otherwise a few
    evaluations, in which X is read twice.

    Parameters
    ----------
    objective : LinearObjective
    parameters : ndarray of shape (n_parameters,)
    value : float
    gradient : ndarray of shape (n_parameters,)
        Both of the objective there.
    enough : float
        A bound that need not be made tighter.

    Returns
    -------
    gap : float
    """
    # No such loss is negative.
    bound = float(value)
    if objective.l2 == 0:
        return 0.0 if not gradient.any() else bound
    with np.errstate(over="ignore", invalid="ignore"):
        if not objective.fit_intercept:
            gap = np.vdot(gradient, gradient) / (2 * objective.l2)
            return float(min(gap, bound)) if gap >= 0 else bound
        sums = objective.target_sums()

        def bound_at(*point):
            gap = value - point[1] + _gap_with_intercepts(objective, sums, *point)
            return min(bound, float(gap)) if gap >= 0 else bound

        bound = bound_at(parameters, value, gradient)
        if bound > max(enough, _CERTAIN * value):
            moved = objective.at_best_intercepts(parameters)
            if moved is not None:
                bound = bound_at(*moved)
    return bound


def _gap_with_intercepts(objective, sums, parameters, value, gradient):
    """Bound on the value less the minimum, from means over the rows."""
    coef, intercept = objective.unpack(parameters)
    slope, intercept_slope = objective.unpack(gradient)
    l2, loss = objective.l2, objective.loss
    model_mean = np.maximum(sums.target_mean + _in_classes(intercept_slope), 0)
    t, u = mixing_distribution(sums.target_mean, model_mean)
    if t == 0:
        return np.vdot(slope, slope) / (2 * l2)
    # Of the rows' F(z) - ⟨u, z⟩, through what is known of F(z) - ⟨q, z⟩.
    mismatch = value - objective.constant - l2 / 2 * np.vdot(coef, coef)
    drift = sums.coupling - np.outer(_in_outputs(u), sums.feature_mean)
    drift_intercept = _in_outputs(sums.target_mean - u)
    mismatch += np.vdot(drift, coef) + drift_intercept @ intercept
    mismatch += loss.total_margin * (u @ sums.target_mean - sums.target_square)
    mismatch += loss.negative_entropy(u[None, :])[0]
    rest = (1 - t) * slope + t * (l2 * coef - drift)
    return t * mismatch + np.vdot(rest, rest) / (2 * l2)


def _in_classes(outputs):
    """What a mean residual in the outputs is in the classes."""
    return outputs if len(outputs) > 1 else np.append(-outputs, outputs)


def _in_outputs(classes):
    """Adjoint of the scores, for rows that sum to anything."""
    return classes if len(classes) > 2 else (classes[1:] - classes[:1]) / 2
