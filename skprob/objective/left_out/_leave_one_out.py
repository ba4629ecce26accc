"""Leave-one-out predictions: the formulas, and the choice of a route.

Without row i, with weight s_i, gradient g_i and Hessian J_i of its loss in the raw
predictions, the objective is that of all rows less s_i times the loss of the row. One
step of Newton's method for it, from parameters at which the objective of all rows has
the Hessian H and Newton's step d, changes the raw predictions of the row by

    (I - s_i A_i J_i)⁻¹ (z_iᵀ d + s_i A_i g_i)    with    A_i = z_iᵀ H⁻¹ z_i,

a matrix with a row and a column for each raw prediction: z_i are the columns of the
design, those of standardised features and the constant. At the minimum d is zero. So
each row costs about as much as its part of H, and no model is fitted again. For
mappings with exact zeros J_i is that of the support that the row has now.

Rahnama Rad, Maleki, "A scalable estimate of the out-of-sample prediction error via
approximate leave-one-out cross-validation", JRSS B 2020. Wang et al., "Approximate
leave-one-out for high-dimensional non-differentiable learning problems", 2018.
"""

import math

import numpy as np

from .._linear_point import LinearPoint
from ._diagonal_blocks import check_size_of_blocks, left_out_by_blocks
from ._drawn_rows import drawn_points
from ._fewer_columns import (
    may_have_fewer_columns,
    number_of_columns,
    with_fewer_columns,
)
from ._whole_hessian import cost_of_whole_hessian, left_out_by_whole_hessian

# Largest cost of the whole Hessian, its inverse and the products with each row, in
# multiplications: about a second. Beyond it the scores are approximations: so it is not
# in `Tuning`, which changes times alone.
_LARGEST_WHOLE = 1.2e10


def leave_one_out(objective, parameters, share=1.0, point=None):
    """Raw predictions of each row by the model without it.

    The whole Hessian is computed where that takes about a second at most. Where it
    takes longer, H is approximated by its diagonal blocks, one for each raw
    prediction: A_i is then diagonal. If the loss is a sum of losses of one raw
    prediction each, this is exact. Else the approximation has too large an
    A_i, and s_i A_i J_i may have eigenvalues above one, which are impossible for the
    exact matrix; they are replaced by one that is possible. The predictions come out
    too bad rather than too good.

    Parameters
    ----------
    objective : LinearObjective
        Convex, with bounded second derivatives, and of rows in memory.
    parameters : ndarray of shape (n_parameters,)
        Near the minimum.
    share : float, default=1.0
        Share of the rows that are left out in turn: those of :func:`drawn_rows`. If
        they are many for each column, they stand for all rows in the Hessian.
    point : LinearPoint, default=None
        At the parameters, if it is known. Points of other classes are not used.

    Returns
    -------
    raw : list of ndarray of shape (n_rows, M)
        For each block, in float64; only of the drawn rows.

    Raises
    ------
    ValueError
        If a block of the Hessian has too many columns.
    """
    least = math.sqrt(np.finfo(objective.description.dtype).eps)
    if may_have_fewer_columns(objective):
        objective, parameters = with_fewer_columns(objective, parameters)
        point = None
    uses_whole = _is_whole_affordable(objective, objective.shape[1])
    uses_whole = uses_whole and not objective.description.is_separable
    if not uses_whole:
        check_size_of_blocks(*objective.shape)
    if not isinstance(point, LinearPoint):
        point = objective.at(parameters)
    left_out_rows = point.of_blocks
    if share < 1:
        left_out_rows = drawn_points(left_out_rows, share)
    if uses_whole:
        return left_out_by_whole_hessian(
            objective, point, left_out_rows, share=share, least=least
        )
    return left_out_by_blocks(objective, point, left_out_rows, least=least)


def is_exact_affordable(objective):
    """Whether :func:`leave_one_out` takes about a second, without an approximated H."""
    (n_outputs, _), size = objective.shape, number_of_columns(objective)
    n_rows = objective.description.n_rows
    if not objective.description.is_separable:
        return _is_whole_affordable(objective, size)
    # Each raw prediction has a Hessian.
    return n_outputs * cost_of_whole_hessian(n_rows, size) <= _LARGEST_WHOLE


def _is_whole_affordable(objective, n_columns):
    n_rows, n_outputs = objective.description.n_rows, objective.shape[0]
    return cost_of_whole_hessian(n_rows, n_outputs * n_columns) <= _LARGEST_WHOLE
