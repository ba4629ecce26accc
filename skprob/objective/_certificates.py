"""A bound on how far a point is from the minimum, by Fenchel duality.

The losses in question are ℓ(z; q) = F(z + c) - ⟨q, z + c⟩ + const with F = Ω* and, for
a margin m, c = m (1 - q). For any rows p_i of the mapping's polytope with
Σ s_i (p_i - q_i) = 0, which the free intercepts ask for,

    Σ s_i [F(z_i + c_i) + Ω(p_i) - ⟨p_i, z_i + c_i⟩] + ‖l2 W + V‖² / (2 l2),
    V = Σ s_i (p_i - q_i) x_iᵀ,

is a duality gap: no point is lower by more. The probabilities of the model make the
first sum zero, but they fulfil the condition only where the intercepts are best for
the coefficients. So the intercepts are first moved nearly there, which needs no product
with X (what that gains belongs to the gap). The rest is made up for by one distribution
u for all rows: (1 - t) p(z_i + c_i) + t u fulfil the condition, and because Ω is convex
the sum is then at most t Σ s_i [F(z_i + c_i) + Ω(u) - ⟨u, z_i + c_i⟩]. So only means
over the rows are needed. In standardised features l2 is a number for each, and the
formulas are the same, since the features' means are zero.

Newton's step D gives rows p_i to first order, p(z_i) + p'(z_i) D x_i. Where none of
their entries is negative they fulfil the condition, too, and l2 W + V is -l2 D, so that
the bound is about the decrease that the step promises.
"""

from typing import NamedTuple

import numpy as np

from .._arrays import dot
from .._pair import pair_scores
from ..mappings import get_mapping
from ._block import (
    gradients,
    linearize_loss,
    predictions_adjoint,
    raw_predictions,
    scores_of,
    weighted_total,
)
from ._intercepts import best_intercepts, can_be_moved


class TargetSums(NamedTuple):
    """Sums over the rows z_i of the design that depend on the target."""

    mean: np.ndarray  #: Σ s_i q_i.
    square: float  #: Σ s_i ‖q_i‖².
    coupling: np.ndarray  #: Σ s_i a(q_i) z_iᵀ, with a the adjoint of the scores.


def target_sums(objective):
    """:class:`TargetSums` of an objective, in one pass over the data."""
    objective.count(1)
    return TargetSums(*objective.blocks.sum(_target_sums, objective.shape[0]))


def _target_sums(block, n_outputs):
    target = block.target.to_dense(block.weight.dtype)
    weighted = target * block.weight[:, None]
    coupling = block.design.rmatvec(predictions_adjoint(weighted, n_outputs))
    square = dot(weighted, target)
    return block.design.totals(weighted), square, coupling


def duality_gap(objective, problem, parameters, value, gradient, enough, known, step):
    """Bound on the value less the minimum: see :meth:`LinearObjective.duality_gap`."""
    if known <= enough:
        return known
    ridge = objective.penalty.diagonal[problem, 0]
    # No such loss is negative.
    bound = max(float(value), 0.0)
    if objective.penalty.strengths[problem] == 0:
        return bound if gradient.any() else 0.0
    has_intercept = objective.description.has_intercept

    def bound_at(*point):
        if has_intercept:
            gap = value - point[1] + _gap_at(objective, ridge, *point)
        else:
            gap = (point[2].reshape(objective.shape) ** 2 / (2 * ridge)).sum()
        return float(np.fmin(bound, max(gap, 0.0)))

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        bound = float(np.fmin(known, bound_at(parameters, value, gradient)))
        if step is not None and bound > enough:
            after = _gap_after(objective, ridge, parameters, value, step)
            bound = float(np.fmin(bound, max(after, 0.0)))
        if not (has_intercept and can_be_moved(objective.description)):
            return bound
        # About what is left of it at the best intercepts.
        slope = gradient.reshape(objective.shape)[:, :-1]
        rest = (slope**2 / (2 * ridge[:-1])).sum()
        if bound > enough and rest <= max(2 * enough, bound / 2):
            bound = bound_at(*best_intercepts(objective, problem, parameters))
    return bound


def _gap_at(objective, ridge, parameters, value, gradient):
    """The bound at given intercepts, from means over the rows."""
    sums, loss = objective.target_sums, objective.loss
    parameters, gradient = (a.reshape(objective.shape) for a in (parameters, gradient))
    ridge, coef, slope = ridge[:-1], parameters[:, :-1], gradient[:, :-1]
    # Mean probabilities less mean target, class by class.
    residual = gradient[:, -1]
    if len(residual) < len(sums.mean):
        residual = pair_scores(2 * residual[None, :])[0]
    model_mean = (sums.mean + residual).clip(0, 1)
    if loss.polytope == "simplex":
        t, u = mixing_distribution(sums.mean, model_mean)
    else:
        sum_range = get_mapping(loss.mapping).sum_range
        t, u = mixing_marginals(sums.mean, model_mean, sum_range)
    if t == 0:
        return (slope**2 / (2 * ridge)).sum()
    # The sum of F(z) - ⟨u, z⟩, from that of F(z) - ⟨q, z⟩, which is known.
    drift = sums.coupling.copy()
    drift[:, -1] -= predictions_adjoint(u[None, :], len(drift))[0]
    mismatch = value - objective.constant - (ridge * coef**2).sum() / 2
    mismatch += np.vdot(drift, parameters)
    mismatch += loss.total_margin * (u @ sums.mean - sums.square)
    mismatch += loss.negative_entropy(u[None, :])[0]
    rest = (1 - t) * slope + t * (ridge * coef - drift[:, :-1])
    return t * mismatch + (rest**2 / (2 * ridge)).sum()


def _gap_after(objective, ridge, parameters, value, step):
    """The bound from probabilities to first order along a step."""
    if objective.loss.polytope != "simplex" or objective.loss.total_margin:
        return np.inf
    points = np.stack([parameters, step]).reshape(2, 1, *objective.shape)
    entropy, (slope,) = objective.blocks.sum(_after, points, objective.loss)
    parameters, is_free = points[0, 0], ridge == 0
    rest = ridge * parameters + slope
    rounding = 1e3 * np.finfo(objective.description.dtype).eps
    if np.abs(rest[:, is_free]).max(initial=0) > rounding:
        return np.inf
    mismatch = value - objective.constant - (ridge * parameters**2).sum() / 2
    mismatch += entropy - np.vdot(slope, parameters)
    return mismatch + (rest**2 / (2 * ridge))[:, ~is_free].sum()


def _after(block, points, loss):
    """Negative entropy of the probabilities to first order, and the gradients there."""
    here, along = (raw_predictions(block.design, point) for point in points)
    linear = linearize_loss(loss, here, block.target)
    residual = linear.gradient + linear.hessian_product(along)
    p = block.target.to_dense(residual.dtype)
    p = p + (scores_of(2 * residual) if residual.shape[1] == 1 else residual)
    slope = gradients(block.design, residual * block.weight[:, None], 1)
    # Outside of the simplex there is no bound.
    entropy = loss.negative_entropy(p) if p.min() >= 0 else np.full(len(p), np.inf)
    return weighted_total(entropy, block.weight)[0], slope


def mixing_distribution(target_mean, model_mean):
    """The least t in [0, 1], and u, with (1 - t) model_mean + t u = target_mean.

    All three are distributions.
    """
    # Weights, and rows of probabilities, sum to one up to rounding only.
    target_mean, model_mean = (a / a.sum() for a in (target_mean, model_mean))
    t = _least_share(target_mean, model_mean)
    if t <= np.finfo(float).eps:
        return 0.0, target_mean
    u = np.maximum((target_mean - (1 - t) * model_mean) / t, 0)
    return t, u / u.sum()


def mixing_marginals(target_mean, model_mean, sum_range=(0.0, np.inf)):
    """The same of marginals: numbers from 0 to 1 whose sum is in a range."""
    from_above = _least_share(target_mean, model_mean)
    t = max(from_above, _least_share(1 - target_mean, 1 - model_mean))
    target, model = target_mean.sum(), model_mean.sum()
    bound = sum_range[int(target > model)]
    # Up to rounding a sum that is given is the same.
    if abs(target - model) > 1e3 * np.finfo(float).eps * max(target, model):
        t = max(t, min((target - model) / (bound - model), 1.0))
    if t <= np.finfo(float).eps:
        return 0.0, target_mean
    return t, np.clip((target_mean - (1 - t) * model_mean) / t, 0, 1)


def _least_share(target_mean, model_mean):
    """The least t with (1 - t) model_mean ≤ target_mean."""
    excess = model_mean > target_mean
    return float((1 - target_mean[excess] / model_mean[excess]).max(initial=0.0))
