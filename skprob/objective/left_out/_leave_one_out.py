"""Leave-one-out predictions: the formulas, and the choice of a route.

The loss of row i has the weight s_i, and the gradient g_i and the Hessian J_i in the
raw predictions. Without the row the objective is lower by s_i times this loss. The
model without the row is approximated by one step of Newton's method for that objective.
The step begins at parameters where the objective of all rows has the Hessian H and
Newton's step d. It changes the raw predictions of the row by

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
from ._drawn_rows import drawn_points
from ._fewer_columns import (
    may_have_fewer_columns,
    number_of_columns,
    with_fewer_columns,
)
from ._separate_hessians import left_out_by_separate_hessians
from ._whole_hessian import cost_of_hessian, left_out_by_whole_hessian

# Largest cost of the Hessian, its inverse and the products with each row, in
# multiplications: about a second. Where it is larger, folds are left out and C may be
# another one: so it is not in `Tuning`, which changes times alone.
_LARGEST_COST = 1.2e10


def leave_one_out(objective, parameters, share=1.0, point=None):
    """Raw predictions of each row by the model without it.

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
    """
    least = math.sqrt(np.finfo(objective.description.dtype).eps)
    if may_have_fewer_columns(objective):
        objective, parameters = with_fewer_columns(objective, parameters)
        point = None
    if not isinstance(point, LinearPoint):
        point = objective.at(parameters)
    left_out_rows = point.of_blocks
    if share < 1:
        left_out_rows = drawn_points(left_out_rows, share)
    if objective.description.is_separable:
        return left_out_by_separate_hessians(
            objective, point, left_out_rows, least=least
        )
    return left_out_by_whole_hessian(
        objective, point, left_out_rows, share=share, least=least
    )


def is_affordable(objective):
    """Whether :func:`leave_one_out` takes about a second at most."""
    n_rows, n_outputs = objective.description.n_rows, objective.shape[0]
    size = number_of_columns(objective)
    if objective.description.is_separable:
        cost = n_outputs * cost_of_hessian(n_rows, size)
    else:
        cost = cost_of_hessian(n_rows, n_outputs * size)
    return cost <= _LARGEST_COST
