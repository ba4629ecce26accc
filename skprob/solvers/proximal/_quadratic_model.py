"""The minimum of a quadratic model plus a shrinkage.

In each round a proximal step with a length for each column predicts which parameters
are zero, and in which orthant the others are. On that piece the model has derivatives,
and Newton's step leads to its minimum. Parameters that would change their sign become
zero. A few of the lengths at which a parameter becomes zero are tried, and the best one
is chosen, so that a step without curvature ends at such a length. Near the minimum the
prediction is right, and one round is enough.

References
----------
Andrew, Gao, "Scalable training of L1-regularized log-linear models", ICML 2007
(orthants).

Byrd, Chin, Nocedal, Oztoprak, "A family of second-order methods for convex
l1-regularized optimization", Mathematical Programming 2016.

Hintermüller, Ito, Kunisch, "The primal-dual active set strategy as a semismooth Newton
method", SIAM Journal on Optimization 2002.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

# Most proximal steps of a round, each with a quarter of the last one's lengths.
_MOST_SHORTER = 20

# A whole Newton step is taken without other trials if it lowers the model by this part
# of the squared length of the proximal step. A proximal step that is not too long
# lowers it by at least half of the square.
_ENOUGH_OF_SQUARE = 0.5

# Relative rounding error of a proximal step.
_PRECISION = 10 * np.finfo(float).eps


class ModelMinimum(NamedTuple):
    """Approximate minimum of a model."""

    parameters: np.ndarray  #: (M, size), or the parameters of a piece.
    change: float  #: Change of the model.


def minimise_model(
    curvature, shrinkage, start, gradient, *, forcing_term, most_rounds, recentred=None
):
    """Minimise ⟨gradient, w - start⟩ + ½ ⟨w - start, H (w - start)⟩ + shrinkage(w).

    Parameters
    ----------
    curvature : PieceHessian, HessianProducts or LBFGSMatrix
        Products with H, its diagonal, and Newton's steps of the active parameters.
    shrinkage : Shrinkage
    start, gradient : ndarray of shape (M, size)
    forcing_term : float
        Largest length of a proximal step at the end, relative to the first one.
    most_rounds : int
    recentred : callable, default=None
        ``recentred(parameters, gradient)`` moves parameters along directions without
        curvature to those with the least penalty.
    """
    parameters, diagonal = start, curvature.diagonal
    if shrinkage.is_by_column:
        diagonal = diagonal.max(axis=0)
    lengths = 1 / diagonal
    is_free = shrinkage.thresholds == 0
    is_free = np.broadcast_to(is_free, start.shape) if is_free.any() else None
    enough, change = 0.0, 0.0
    for number in range(most_rounds):
        stepped = shrinkage.proximal_step(parameters - lengths * gradient, lengths)
        move = stepped - parameters
        square = float(np.vdot(move, diagonal * move))
        if number == 0:
            # Rounding error of the parameters and of the gradient.
            rounding = np.vdot(parameters, diagonal * parameters)
            rounding += np.vdot(gradient, lengths * gradient)
            enough = max(forcing_term**2 * square, _PRECISION**2 * float(rounding))
        if square <= enough:
            break

        # 1. Newton's step on the predicted piece.
        is_active = stepped != 0
        if is_free is not None:
            is_active |= is_free
        if shrinkage.is_by_column:
            is_active = np.broadcast_to(is_active.any(axis=0), start.shape)
        to_zero = np.where(is_active, 0.0, -parameters)
        residual = shrinkage.model_residual(parameters, stepped, lengths)
        if to_zero.any():
            residual = residual + curvature.product(to_zero)
        step = _newton_step(
            curvature, shrinkage, is_active, residual, parameters, stepped
        )
        newton = step + to_zero

        # 2. The lowest of several lengths of the step, projected onto the piece.
        trial_at = partial(_Trial.at, curvature, shrinkage, parameters, gradient)
        enough_fall = -_ENOUGH_OF_SQUARE * square
        best = _best_along(
            newton, parameters, stepped, shrinkage, trial_at, enough_fall
        )
        if not best.change < 0:
            best = _shorter_step(parameters, gradient, lengths, shrinkage, trial_at)
        if not best.change < 0:
            break
        parameters = best.parameters
        change += best.change
        gradient = gradient + best.product
        if recentred is not None:
            parameters, gradient = recentred(parameters, gradient)
    return ModelMinimum(parameters, change)


def _newton_step(curvature, shrinkage, is_active, residual, parameters, stepped):
    """Newton's step on a piece, without the zeros that it moves off the piece.

    A zero whose sign after the step is not the predicted one remains zero, and the step
    of the others is computed again. If such zeros moved, models with features that are
    sums of others would stall.
    """
    is_zero = shrinkage.is_zero(parameters)
    for _ in range(curvature.most_steps):
        step = curvature.newton_step(is_active, residual, stepped, shrinkage)
        # Zeros without a threshold remain active.
        leaves = is_active & is_zero & ~shrinkage.stays(step, stepped)
        if not leaves.any():
            break
        is_active = is_active & ~leaves
    return step


def _best_along(newton, parameters, stepped, shrinkage, trial_at, enough_fall):
    """The lowest of the proximal step and some lengths of Newton's step on its piece.

    ``trial_at(parameters)`` is a :class:`_Trial`. The whole step alone is tried where
    no shorter one has fewer zeros, if its change of the model is at most `enough_fall`.
    """
    best = trial_at(shrinkage.on_piece_of(parameters + newton, stepped))
    others = _shorter_lengths(shrinkage.breakpoints(parameters, newton, stepped))
    if not (others or best.change > enough_fall):
        return best
    fell, trial = True, trial_at(stepped)
    if not best.change < trial.change:
        best, fell = trial, False
    for length in others:
        moved = shrinkage.on_piece_of(parameters + length * newton, stepped)
        trial = trial_at(moved)
        if trial.change < best.change:
            best, fell = trial, True
        elif fell:
            break
    return best


def _shorter_step(parameters, gradient, lengths, shrinkage, trial_at):
    """The first shorter proximal step at which the model falls, or the shortest."""
    for _ in range(_MOST_SHORTER):
        lengths = lengths / 4
        moved = parameters - lengths * gradient
        trial = trial_at(shrinkage.proximal_step(moved, lengths))
        if trial.change < 0:
            break
    return trial


def _shorter_lengths(breakpoints):
    """Lengths of a step to try, in descending order, with fewer and fewer zeros."""
    before_end = np.sort(breakpoints[breakpoints < 1])
    lengths, number = [], len(before_end)
    while number:
        number //= 2
        lengths.append(before_end[number])
    return lengths


class _Trial(NamedTuple):
    """Parameters, and the model there."""

    parameters: np.ndarray
    product: np.ndarray  #: Product of the Hessian and the step.
    change: float  #: Change of the model.

    @classmethod
    def at(cls, curvature, shrinkage, start, gradient, parameters):
        step = parameters - start
        product = curvature.product(step)
        slope, square = float(np.vdot(gradient, step)), float(np.vdot(step, product))
        change = slope + square / 2 + shrinkage.change(start, parameters)
        return cls(parameters, product, change)
