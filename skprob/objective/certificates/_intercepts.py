"""Intercepts for the duality gap: see `_gap.py`.

The gap is tight at the best intercepts, where the mean probability of each class is
that of the target. Far from the minimum the mean probabilities of rare classes are
wrong by factors, and about in proportion to the exponential of their intercepts. So
Newton's method is applied to the logarithms of the means. It takes no product with X.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from .. import _block_point
from .._block_point import BlockPoint
from .._linear_point import LinearCurvature, LinearPoint, mean_loss_at

# Largest relative mismatch of the means that ends Newton's method.
_SMALL_MISMATCH = 1e-7


def may_tighten(objective, point, bound, enough):
    """Whether a shift is likely to halve a bound of the gap, or to make it `enough`."""
    description, ridge = objective.description, objective.penalty.diagonal
    if not (description.has_intercept and description.keeps_raw_predictions):
        return False
    if description.has_row_scores:
        return False
    # About the bound at the best intercepts.
    slope = point.gradient.reshape(objective.shape)[:, :-1]
    remainder = (slope**2 / (2 * ridge[:-1])).sum()
    return remainder <= max(2 * enough, bound / 2)


def balancing_shift(objective, point, enough=0.0):
    """Shift (M,) of the intercepts after which mean probabilities are the target's.

    A ``LinearPoint`` has the raw predictions of its rows. For another point they are
    computed, in half a pass, and stored. If Newton's method fails, the result is the
    shift with the smallest mismatch, or the first step. It is the first step, too, if
    rows are remote or have too many raw predictions to store them twice.

    Parameters
    ----------
    objective : LinearObjective
    point : Point
    enough : float, default=0.0
        Gap at which a smaller one is not needed, and with it no more accurate shift.

    Returns
    -------
    shift : ndarray of shape (M,)
    end : tuple
        Value and gradient (M, size) of the mean loss after the shift.
    """
    start = _points_of(objective, point)
    parameters = point.parameters.reshape(objective.shape)
    gradient = point.gradient.reshape(objective.shape)[:, -1]
    share = objective.class_means[: len(gradient)]
    if _takes_one_step(objective):
        curvature = LinearCurvature(objective, parameters, start)
        shift = newton_step(curvature, gradient, share, 1e-3)
        return shift, mean_loss_at(objective, start, shift)
    tuning = objective.tuning
    small = tuning.share_of_bound * enough / max(abs(objective.value_at_zero), enough)
    small = max(small, _SMALL_MISMATCH)
    shift, least, points = 0.0, np.inf, start
    best = None
    for _ in range(tuning.intercept_steps):
        curvature = LinearCurvature(objective, parameters, points)
        slope = _logarithmic(gradient, share, objective.traits)
        shift = shift + newton_step(curvature, slope, share, 1e-2)
        points = start.map(BlockPoint.shifted, shift)
        (gradient,) = points.sum(BlockPoint.total_residual)
        mismatch = np.abs(gradient / share).max()
        if best is not None and not mismatch < least:
            break
        best, least = (shift, points), mismatch
        if least <= small:
            break
    shift, points = best
    return shift, mean_loss_at(objective, points)


def _takes_one_step(objective):
    """Whether the shift is a single Newton's step."""
    n_predictions = objective.description.n_rows * objective.shape[0]
    most = objective.tuning.most_twice
    return objective.description.is_remote or n_predictions > most


def _points_of(objective, point):
    """Blocks of points, with the raw predictions of their rows."""
    if isinstance(point, LinearPoint):
        return point.of_blocks
    objective.count(0.5)
    parameters = point.parameters.reshape(objective.shape)
    return objective.blocks.map(_block_point.point_at, parameters, objective.loss)


def _logarithmic(gradient, share, traits):
    """The gradient with which Newton's step is a step in log p.

    With means p of probabilities and q of the target it is p (log p - log q), less a
    multiple of p that makes its sum zero. It is the unchanged gradient if means may be
    zero, or need not sum to one.
    """
    if len(gradient) < 2 or traits.has_zeros or traits.polytope != "simplex":
        return gradient
    p = np.maximum(share + gradient, np.finfo(float).tiny)
    ratio = np.log(p / share)
    return p * (ratio - p @ ratio / p.sum())


def newton_step(curvature, gradient, share, rtol):
    """Newton's step (M,) of the intercepts, by conjugate gradients."""
    n = len(gradient)
    # A class's curvature is about in proportion to its share of the target.
    scale = 1 / np.sqrt(np.maximum(share, np.finfo(float).eps))

    def product(direction):
        if not np.isfinite(direction).all():
            # The last product had no curvature, and SciPy has divided by it.
            return direction
        return scale * curvature.intercept_product(scale * direction)

    hessian = LinearOperator((n, n), matvec=product, dtype=np.float64)
    step, _ = cg(hessian, -scale * gradient, rtol=rtol, maxiter=n)
    # The step is not finite if there is no curvature.
    return scale * step if np.isfinite(step).all() else np.zeros(n)
