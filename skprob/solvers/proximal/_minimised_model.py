"""The minimum of the quadratic model at a point, by the curvature that costs least."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..._utils.typing import Array
from .._plan import plan
from ._hessian_choice import HessianChoice
from ._hessian_products import HessianProducts
from ._lbfgs_matrix import LBFGSMatrix
from ._piece_hessian import Piece, PieceHessian
from ._quadratic_model import minimise_model

# Most rounds in which a model is minimised.
_MOST_ROUNDS = 10


class MinimisedModel(NamedTuple):
    """The minimum of a quadratic model plus the shrinkage."""

    parameters: Array  #: (M, size).
    decrease: float  #: Value at the point less that at the minimum.
    n_products: int  #: Hessian products that it took.
    has_whole_hessian: bool  #: Whether the Hessian was written out.


def minimised_model(problem, state, method, tuning):
    """The minimum of the model at a state's point.

    Parameters
    ----------
    problem : CompositeProblem
    state : ProximalState
    method : {"auto", "newton-cg", "newton-cholesky", "lbfgs"}
        Kind of curvature, as for ``ProximalNewton``.
    tuning : Tuning

    Returns
    -------
    state : ProximalState
        The state with the computed Gram matrices, and with `is_precise` if single
        precision was not enough.
    model : MinimisedModel
    """
    if method == "lbfgs":
        return state, _by_steps(problem, state)
    included = _may_move(problem, state.point)
    choice = HessianChoice(problem.description, np.count_nonzero(included), tuning)
    is_written = method == "newton-cholesky"
    if method == "auto":
        is_written = choice.is_cheap(state.most_products)
    if is_written:
        return _by_hessian(problem, state, included, choice, tuning)
    if not problem.description.has_bounded_hessian:
        # Conjugate gradients would take many products.
        return state, _by_steps(problem, state)
    return _by_products(problem, state, choice.is_sparse, tuning)


def _by_steps(problem, state):
    """The minimum by the L-BFGS approximation from the last steps."""
    shape = problem.description.shape
    curvature = LBFGSMatrix(state.point.smooth, shape, state.pairs)
    return _minimum(problem, state.point, curvature, forcing_term=1e-2)


def _by_products(problem, state, is_sparse, tuning):
    """The state with recent Gram matrices, and the minimum by Hessian products.

    The Gram matrices are the preconditioner of conjugate gradients. They would be those
    of some sparse rows, in which rare features have no curvature: for sparse rows the
    preconditioner is the diagonal of the Hessian of all rows.
    """
    description, smooth = problem.description, state.point.smooth
    planned, grams = plan(description, tuning), None
    precision = planned.precision
    if is_sparse:
        precision = np.float32 if description.suits_single_precision else precision
    elif planned.preconditioner != "diagonal":
        if state.grams is None or state.n_products >= planned.renew_after:
            by_output = planned.preconditioner == "gram by output"
            grams = smooth.sandwiches(by_output, planned.n_drawn)
            state = replace(state, grams=grams, n_products=0)
        grams = state.grams
    curvature = HessianProducts(
        smooth, description.shape, grams, tuning.forcing_term, precision
    )
    forcing_term = tuning.forcing_of_gradient * _root_of_gradient(state.point)
    forcing_term = min(tuning.forcing_term, forcing_term)
    return state, _minimum(problem, state.point, curvature, forcing_term)


def _by_hessian(problem, state, included, choice, tuning):
    """The state, and the minimum by the Hessian matrix of the included parameters.

    `included` is a mask. If single precision is not enough, the matrix is computed
    again in double precision, and the state has `is_precise`.
    """
    point, piece = state.point, Piece(included, problem.shrinkage)
    share, precision = choice.written(state.is_near, state.is_precise)
    hessian = point.smooth.piece_hessian(included, share, precision)
    is_rough = precision == np.float32
    is_shift_invariant = problem.description.is_shift_invariant
    curvature = PieceHessian(hessian, piece, is_shift_invariant, is_rough)
    forcing_term = 3e-2 * min(tuning.forcing_term, _root_of_gradient(point))
    model = _minimum(problem, point, curvature, forcing_term, piece)
    if is_rough and curvature.least_pivot < tuning.least_pivot:
        state = replace(state, is_precise=True)
        return _by_hessian(problem, state, included, choice, tuning)
    return state, model


def _root_of_gradient(point):
    """Root of the largest entry of the gradient: forcing terms fall with it."""
    return float(np.abs(point.gradient).max()) ** 0.5


def _may_move(problem, point):
    """Mask (M, size) of the parameters that are not zero, or that a step may change."""
    shape, shrinkage = problem.description.shape, problem.shrinkage
    may_move = (point.parameters != 0) | (point.gradient != 0)
    may_move = may_move.reshape(shape) | (shrinkage.thresholds == 0)
    if shrinkage.is_by_column:
        may_move = np.broadcast_to(may_move.any(axis=0), shape)
    return may_move


def _minimum(problem, point, curvature, forcing_term, piece=None):
    """The minimum of the model of this curvature.

    If a piece is given, the other parameters remain zero.
    """
    shape, smooth = problem.description.shape, point.smooth
    shrinkage, recentred = problem.shrinkage, None
    if problem.description.is_shift_invariant:
        recentred = partial(_recentred, shrinkage, smooth.ridge, piece)
    start = point.parameters.reshape(shape)
    gradient = smooth.gradient.reshape(shape)
    if piece is not None:
        shrinkage = piece.shrinkage
        start, gradient = piece.taken(start), piece.taken(gradient)
    model = minimise_model(
        curvature,
        shrinkage,
        start,
        gradient,
        forcing_term=forcing_term,
        most_rounds=_MOST_ROUNDS,
        recentred=recentred,
    )
    parameters = model.parameters if piece is None else piece.whole(model.parameters)
    return MinimisedModel(
        parameters, -model.change, curvature.n_products, piece is not None
    )


def _recentred(shrinkage, ridge, piece, parameters, gradient):
    """Parameters with the least penalty among those with the same loss.

    They and the gradient are matrices (M, size), or arrays of a piece.
    """
    if piece is None:
        shift = shrinkage.common_shift(parameters, ridge)
    else:
        shift = shrinkage.common_shift(piece.whole(parameters), ridge)
        shift, ridge = shift[piece.columns], ridge[piece.columns]
    if not shift.any():
        return parameters, gradient
    return parameters - shift, gradient - ridge * shift
