"""The duality gap: a bound on the difference between a point's value and the minimum.

It is defined for losses ℓ(z; q) = F(z + c) - ⟨q, z + c⟩ + const, where F = Ω* is the
potential of the mapping. The margins c of a row are m (1 - q) for a number m, and Cᵀq
for costs C.

The gap depends on probabilities p_i, which may be chosen for each row from the polytope
of the mapping. For coefficients W, with raw predictions z_i, it is

    Σ s_i [F(z_i + c_i) + Ω(p_i) - ⟨p_i, z_i + c_i⟩] + ‖l2 W + V‖² / (2 l2),
    V = Σ s_i (p_i - q_i) x_iᵀ.

The intercepts are not penalised. Therefore the gap is a bound only if the means of
probabilities and target are the same: Σ s_i (p_i - q_i) = 0. In standardised features
l2 is an array with a number for each feature, and the formulas are the same, since the
features' means are zero.

Three choices of probabilities are tried:

- Those of the model at the point. The first sum is zero, and l2 W + V is the gradient.
- If Newton's step is known, those of the model after this step. There l2 W + V is about
  -l2 times the step, and the bound is about the expected decrease.
- Otherwise those of the model at other intercepts, with which the means are the same.

If the means differ, the probabilities are replaced by a mixture (1 - t) p_i + t u with
one distribution u for all rows. Because Ω is convex, the first sum of the mixture is at
most 1 - t times that of p_i plus t Σ s_i [F(z_i + c_i) + Ω(u) - ⟨u, z_i + c_i⟩].
"""

from typing import NamedTuple

import numpy as np

from ..._utils.arrays import column_sums, dot, precision, weighted_one_hot, widened
from ...losses import FenchelYoungLoss
from ...targets import LabelTarget
from .._block import predictions_adjoint
from ._intercepts import balancing_shift, may_tighten


class TargetSums(NamedTuple):
    """Sums over the rows z_i of the design that depend on the target."""

    margins: np.ndarray  #: Σ s_i c_i (n_classes,), with the margins c_i of the rows.
    target_margin: float  #: Σ s_i ⟨q_i, c_i⟩.
    #: Σ s_i a(q_i) z_iᵀ, of shape (M, size), with a the adjoint of the scores.
    coupling: np.ndarray


def sums_of_block(block, n_outputs, loss):
    """The numbers of :class:`TargetSums` of a block, for ``Blocks.sum``."""
    if isinstance(block.target, LabelTarget) and type(loss) is FenchelYoungLoss:
        numbers, n_classes = block.target.class_numbers, block.target.n_classes
        if n_outputs == 1:
            # One product, instead of one for each of the two classes.
            one_hot = weighted_one_hot(numbers, widened(block.weight), n_classes)
            coupling = block.design.rmatvec(predictions_adjoint(one_hot, n_outputs))
        else:
            coupling = block.design.class_sums(numbers, block.weight, n_classes)
        return np.zeros(n_classes), 0.0, coupling
    target = block.target.to_dense(block.weight.dtype)
    weighted = target * block.weight[:, None]
    coupling = block.design.rmatvec(predictions_adjoint(weighted, n_outputs))
    margins = loss.margins(block.target, target)
    if margins is None:
        return np.zeros(target.shape[1]), 0.0, coupling
    total = column_sums(margins * block.weight[:, None])
    return total, dot(weighted, margins), coupling


def duality_gap(objective, point, enough=0.0, known=np.inf, after=None):
    """A bound on a point's value less the minimum; infinite where none is known.

    It is at most the `known` bound of this point. If it is above `enough`, it is made
    tighter where this is likely to halve it or to bring it below `enough`. With the
    point `after` Newton's step it is about the expected decrease of this step.
    """
    if not objective.traits.has_negative_entropy:
        return known
    # The loss is not negative: the value is a bound.
    bound = min(max(float(point.value), 0.0), known)
    if not objective.has_penalty:
        return bound if point.gradient.any() else 0.0
    parameters = point.parameters.reshape(objective.shape)
    gradient = point.gradient.reshape(objective.shape)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # Mean of the part of the losses that depends on the scores, F(z) - ⟨q, z⟩.
        varying = point.value - objective.constant - objective.penalty.value(parameters)
        if after is not None and not objective.description.has_row_scores:
            end = after.parameters.reshape(objective.shape)
            mean_loss = after.value - objective.penalty.value(end)
            after_step = _after_step(
                objective,
                parameters,
                varying,
                step=end - parameters,
                mean_loss=mean_loss,
                mean_gradient=after.mean_gradient,
            )
            # This is nearly always the smallest bound.
            bound = _tightened(bound, objective, parameters, varying, *after_step)
            if bound <= enough:
                return bound
            return _tightened(bound, objective, parameters, varying, gradient)
        if not known < np.inf:
            bound = _tightened(bound, objective, parameters, varying, gradient)
        if bound <= enough or not may_tighten(objective, point, bound, enough):
            return bound
        step = np.zeros_like(parameters)
        step[:, -1], end = balancing_shift(objective, point, enough)
        after_step = _after_step(objective, parameters, varying, step, *end)
        return _tightened(bound, objective, parameters, varying, *after_step)


def _after_step(objective, parameters, varying, step, mean_loss, mean_gradient):
    """l2 W + V and the first sum, for the model's probabilities after a step.

    They are the last arguments of :func:`_tightened`. `varying` is the part of the mean
    loss that depends on the scores, at the point. The mean loss and its gradient (M,
    size) are those after the step.
    """
    gradient = mean_gradient + objective.penalty.product(parameters)
    # The probabilities after the step have Ω(p) = ⟨p, z + c⟩ - F(z + c).
    varying_after = mean_loss - objective.constant
    return gradient, varying - varying_after + np.vdot(mean_gradient, step)


def _tightened(bound, objective, parameters, varying, gradient, mismatch=0.0):
    """The smaller of a bound and of the duality gap with probabilities p_i.

    The gap is that of a point with parameters W (M, size), at which `varying` is
    Σ s_i [F(z_i + c_i) - ⟨q_i, z_i + c_i⟩]. `gradient` is l2 W + V, and `mismatch` the
    first sum, which is zero for the probabilities of the model at the point. If the
    mean probabilities are not the mean target, the gap is that of their mixture.
    """
    some = slice(objective.n_features)
    ridge, slope = objective.penalty.diagonal[some], gradient[:, some]
    if objective.description.has_intercept:
        t, _, sum_of_u, drift = mixture(objective, parameters, varying, gradient[:, -1])
        if t > 0:
            mismatch = (1 - t) * mismatch + t * sum_of_u
            slope = (1 - t) * slope + t * (ridge * parameters[:, some] - drift[:, some])
    gap = mismatch + (slope**2 / (2 * ridge)).sum()
    # The gap may be NaN, or negative by rounding.
    return float(np.fmin(bound, max(gap, 0.0)))


def mixture(objective, parameters, varying, residual):
    """The mixture with which the mean probabilities are the mean target.

    It is for parameters (M, size) of an objective with intercepts. `varying` is that of
    :func:`_tightened`, and `residual` (M,) the gradient of the mean loss in the
    intercepts.

    Returns
    -------
    t : float
        The share of u; zero if the means are the same up to rounding.
    u : ndarray of shape (n_classes,)
        The distribution that all rows are mixed with.
    first_sum : float
        Σ s_i [F(z_i + c_i) + Ω(u) - ⟨u, z_i + c_i⟩]; infinite where it is not known.
    drift : ndarray of shape (M, size) or None
        Σ s_i a(q_i - u) z_iᵀ, with a the adjoint of the scores; None if t is zero.
    """
    target_mean, traits = objective.class_means, objective.traits
    # Mean probabilities less mean target, class by class.
    if len(residual) < len(target_mean):
        residual = np.concatenate([-residual, residual])
    model_mean = np.minimum(np.maximum(target_mean + residual, 0), 1)
    if traits.polytope == "simplex":
        t, u = mixing_distribution(target_mean, model_mean)
    else:
        t, u = mixing_marginals(target_mean, model_mean, traits.sum_range)
    if t == 0:
        return 0.0, u, 0.0, None
    sums = objective.target_sums()
    drift = sums.coupling.copy()
    drift[:, -1] -= predictions_adjoint(u[None, :], len(drift))[0]
    if objective.description.has_row_scores:
        return t, u, np.inf, drift
    entropy = objective.loss.negative_entropy(u[None, :])[0]
    first_sum = varying + np.vdot(drift, parameters) + entropy
    first_sum += sums.target_margin - u @ sums.margins
    return t, u, first_sum, drift


def mixing_distribution(target_mean, model_mean):
    """The least t in [0, 1], and u, with (1 - t) model_mean + t u = target_mean.

    All three are distributions.
    """
    # Weights and rows of probabilities sum to one only up to rounding.
    target_mean = target_mean / target_mean.sum()
    model_mean = model_mean / model_mean.sum()
    t = _least_share(target_mean, model_mean)
    if t <= precision(np.float64):
        return 0.0, target_mean
    u = np.maximum((target_mean - (1 - t) * model_mean) / t, 0)
    return t, u / u.sum()


def mixing_marginals(target_mean, model_mean, sum_range=(0.0, np.inf)):
    """As :func:`mixing_distribution`, for marginals whose sum is in a range."""
    # The weights of a label in all rows sum to one up to rounding.
    target_mean = np.clip(target_mean, 0, 1)
    from_above = _least_share(target_mean, model_mean)
    t = max(from_above, _least_share(1 - target_mean, 1 - model_mean))
    target, model = target_mean.sum(), model_mean.sum()
    bound = sum_range[int(target > model)]
    # Sums that differ by rounding errors are the same.
    if abs(target - model) > 1e3 * np.finfo(float).eps * max(target, model):
        t = max(t, min((target - model) / (bound - model), 1.0))
    if t <= precision(np.float64):
        return 0.0, target_mean
    return t, np.clip((target_mean - (1 - t) * model_mean) / t, 0, 1)


def _least_share(target_mean, model_mean):
    """The least t with (1 - t) model_mean ≤ target_mean."""
    # If both are zero the quotient is NaN, which fmin ignores. The caller suppresses
    # warnings of divisions by zero.
    return float(1 - np.fmin.reduce(target_mean / model_mean, initial=1.0))
