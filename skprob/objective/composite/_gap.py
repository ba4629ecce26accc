"""The duality gap of an objective with a shrinkage.

`certificates/_gap.py` has the notation. Let r be the whole penalty of W, and r* its
conjugate. For rows p_i of the mapping's polytope with Σ s_i (p_i - q_i) = 0 the gap is

    Σ s_i [F(z_i + c_i) + Ω(p_i) - ⟨p_i, z_i + c_i⟩] + r(W) + ⟨V, W⟩ + r*(-V).

For a column with ridge ρ and threshold λ, r* is the squared distance of V to the
subgradients at zero over 2 ρ. It is infinite beyond them where ρ is zero: then the rows
are mixed with the target, (1 - s) p_i + s q_i, so that V is multiplied by 1 - s. Since
Ω is convex, the first sum is at most 1 - s times that of p_i plus s times the mean
loss. With one more pass over the raw predictions it is computed exactly: near the
minimum it is of the order of s².

References
----------
Ndiaye, Fercoq, Gramfort, Salmon, "Gap safe screening rules for sparsity enforcing
penalties", JMLR 2017.
"""

import numpy as np

from ..._utils.arrays import beside, copied, row_dot
from .._block import weighted_sum
from ..certificates import mixture


def composite_gap(objective, point, enough, known):
    """Bound on the value less the minimum of a :class:`CompositeObjective`.

    Parameters
    ----------
    objective : CompositeObjective
    point : CompositePoint
    enough : float
        The bound is not made tighter if it is at most this.
    known : float
        A bound that is known.
    """
    if not objective.loss.traits.has_negative_entropy:
        return known
    # No such loss is negative.
    bound = min(max(float(point.value), 0.0), known)
    shape = objective.shape
    parameters = point.parameters.reshape(shape)
    smooth = point.smooth.gradient.reshape(shape)
    coupling = smooth - objective.penalty.gradient(parameters)
    # The sum of F(z) - ⟨q, z⟩.
    mean = point.smooth.value - objective.penalty.value(parameters)
    mean -= objective.constant

    t, u, mismatch = 0.0, None, 0.0
    if objective.description.has_intercept:
        with np.errstate(divide="ignore", invalid="ignore"):
            t, u, sum_of_u, drift = mixture(objective, parameters, mean, smooth[:, -1])
        if t > 0:
            if np.isinf(sum_of_u):
                return bound
            coupling = (1 - t) * coupling - t * drift
            mismatch = t * sum_of_u
    some = slice(objective.n_features)
    coupling[:, objective.n_features :] = 0

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        gap = mismatch + _penalty_gap(objective, parameters, coupling)
        bound = float(np.fmin(bound, gap))
        if bound <= enough:
            return max(bound, 0.0)
        sizes = objective.shrinkage.sizes(coupling)[:, some]
        thresholds = objective.shrinkage.thresholds[some]
        factor = np.min(thresholds / sizes, initial=1.0, where=sizes > thresholds)
        if factor < 1:
            # Rounding must not leave anything beyond a threshold.
            factor *= 1 - 8 * np.finfo(float).eps
        s = 1 - float(factor)
        mean_loss = mean + objective.constant
        of_penalty = _penalty_gap(objective, parameters, factor * coupling)
        gap = (1 - s) * mismatch + s * mean_loss + of_penalty
        bound = float(np.fmin(bound, gap))
        is_exact = t == s == 0 or objective.description.has_row_scores
        if (
            bound <= enough
            or is_exact
            or not objective.description.keeps_raw_predictions
        ):
            return max(bound, 0.0)
        objective.count(0.5)
        mixed = parameters, objective.loss, t, u, s
        (mismatch,) = objective.blocks.sum(_mismatch, *mixed)
        bound = float(np.fmin(bound, mismatch + of_penalty))
    return max(bound, 0.0)


def _penalty_gap(objective, parameters, coupling):
    """r(W) + ⟨V, W⟩ + r*(-V)."""
    ridge = objective.penalty.diagonal
    excess = objective.shrinkage.excess(coupling)
    beyond = excess > 0
    conjugate = (excess[beyond] / (2 * ridge[beyond])).sum()
    penalty = objective.penalty.value(parameters) + objective.shrinkage.value(
        parameters
    )
    return float(penalty + np.vdot(coupling, parameters) + conjugate)


def _mismatch(block, parameters, loss, t, u, s):
    """The first sum of rows that are mixed with u and with the target."""
    scores = block.scores(block.design.matvec(parameters))
    values, change = loss.evaluate(copied(scores), block.target)
    # From the target to the mixed rows.
    target = block.target.to_dense(block.weight.dtype)
    if t > 0:
        change = (1 - t) * change + t * (beside(u, target) - target)
    change = (1 - s) * change
    mixed = change + target
    rows = values + loss.negative_entropy(mixed) - row_dot(change, scores)[:, 0]
    margins = loss.margins(block.target, target)
    if margins is not None:
        rows -= row_dot(change, margins)[:, 0]
    return (weighted_sum(rows, block.weight),)
