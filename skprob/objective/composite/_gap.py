"""The duality gap of an objective with a shrinkage.

`certificates/_gap.py` has the notation. Let r be the whole penalty of W, and r* its
conjugate. For rows p_i of the mapping's polytope with Σ s_i (p_i - q_i) = 0 the gap is

    Σ s_i [F(z_i + c_i) + Ω(p_i) - ⟨p_i, z_i + c_i⟩] + r(W) + ⟨V, W⟩ + r*(-V).

For a column with ridge ρ and threshold λ, r* is the squared distance of V to the
subgradients at zero over 2 ρ. It is infinite beyond them where ρ is zero: then the rows
are mixed with the target, (1 - s) p_i + s q_i, so that V is multiplied by 1 - s. Since
Ω is convex, the first sum is at most 1 - s times that of p_i plus s times the mean
loss. From the raw predictions of the point it is computed exactly: near the minimum it
is of the order of s².

References
----------
Ndiaye, Fercoq, Gramfort, Salmon, "Gap safe screening rules for sparsity enforcing
penalties", JMLR 2017.
"""

from typing import NamedTuple

import numpy as np

from ..._utils.arrays import asarray_like, row_dot
from .._block import scores_of, weighted_sum
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
        A known bound.
    """
    if not objective.loss.traits.has_negative_entropy:
        return known
    # The loss is not negative: the value is a bound.
    bound = min(max(float(point.value), 0.0), known)
    rows = _balanced_rows(objective, point)
    if rows is None:
        return bound
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        of_penalty = _penalty_gap(objective, rows.parameters, rows.coupling)
        bound = float(np.fmin(bound, rows.mismatch + of_penalty))
        if not bound <= enough:
            bound = _with_target(objective, point.smooth, rows, bound, enough)
    return max(bound, 0.0)


class _Rows(NamedTuple):
    """Rows (1 - t) p_i + t u, whose mean is that of the target.

    The p_i are the probabilities of the model.

    Attributes
    ----------
    parameters : ndarray of shape (M, size)
    t : float
        Zero without an intercept.
    u : ndarray of shape (n_classes,) or None
    mismatch : float
        The first sum of the gap, of rows that are not mixed with the target.
    coupling : ndarray of shape (M, size)
        V, with zeros for the intercept.
    mean : float
        The sum of F(z) - ⟨q, z⟩.
    """

    parameters: np.ndarray
    t: float
    u: np.ndarray | None
    mismatch: float
    coupling: np.ndarray
    mean: float


def _balanced_rows(objective, point):
    """The :class:`_Rows` of a point; None if their entropy is infinite."""
    shape = objective.shape
    parameters = point.parameters.reshape(shape)
    smooth = point.smooth.gradient.reshape(shape)
    coupling = smooth - objective.penalty.product(parameters)
    mean = point.smooth.value - objective.penalty.value(parameters)
    mean -= objective.constant
    t, u, mismatch = 0.0, None, 0.0
    if objective.description.has_intercept:
        with np.errstate(divide="ignore", invalid="ignore"):
            t, u, sum_of_u, drift = mixture(objective, parameters, mean, smooth[:, -1])
        if t > 0:
            if np.isinf(sum_of_u):
                return None
            coupling = (1 - t) * coupling - t * drift
            mismatch = t * sum_of_u
    coupling[:, objective.n_features :] = 0
    return _Rows(
        parameters=parameters, t=t, u=u, mismatch=mismatch, coupling=coupling, mean=mean
    )


def _with_target(objective, smooth, rows, bound, enough):
    """The bound by rows that are mixed with the target, so that r* is finite."""
    parameters, t, some = rows.parameters, rows.t, slice(objective.n_features)
    sizes = objective.shrinkage.sizes(rows.coupling)[:, some]
    thresholds = objective.shrinkage.thresholds[some]
    factor = np.min(thresholds / sizes, initial=1.0, where=sizes > thresholds)
    if factor < 1:
        # Rounding must not leave V beyond a threshold.
        factor *= 1 - 8 * np.finfo(float).eps
    s = 1 - float(factor)
    mean_loss = rows.mean + objective.constant
    of_penalty = _penalty_gap(objective, parameters, factor * rows.coupling)
    gap = (1 - s) * rows.mismatch + s * mean_loss + of_penalty
    bound = float(np.fmin(bound, gap))
    is_exact = t == s == 0 or objective.description.has_row_scores
    keeps_raw_predictions = objective.description.keeps_raw_predictions
    if bound <= enough or is_exact or not keeps_raw_predictions:
        return bound
    (mismatch,) = smooth.of_blocks.sum(_mismatch, t, rows.u, s)
    return float(np.fmin(bound, mismatch + of_penalty))


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


def _mismatch(point, t, u, s):
    """The first sum of rows that are mixed with u and with the target."""
    block, loss = point.block, point.loss
    target = block.target.to_dense(block.weight.dtype)
    # From the target to the mixed rows.
    change = point.linear.residual()
    if change.shape[1] == 1:  # In the difference of two scores.
        change = scores_of(2 * change)
    if t > 0:
        change = (1 - t) * change + t * (asarray_like(u, target) - target)
    change = (1 - s) * change
    rows = point.linear.values + loss.negative_entropy(change + target)
    scores = scores_of(point.raw)
    margins = loss.margins(block.target, target)
    if margins is not None:
        scores = scores + margins
    return (weighted_sum(rows - row_dot(change, scores)[:, 0], block.weight),)
