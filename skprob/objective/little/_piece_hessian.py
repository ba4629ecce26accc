"""The Hessian of some parameters at a point of little data."""

import math

import numpy as np

from .._block_point import check_finite
from .._piece_hessian import add_penalty_to_piece


def little_piece_hessian(objective, point, included, dtype):
    """Hessian of the parameters that a mask includes, by one product with the rows.

    Parameters
    ----------
    objective : LinearObjective
    point : LittlePoint
    included : ndarray of bool of shape (M, size)
    dtype : type
        With single precision one raw prediction has no product of its own.

    Returns
    -------
    hessian : ndarray of shape (n_included, n_included) or None
        None where it is not such a product, or takes longer than the general one.
    """
    if len(included) == 1 and dtype == np.float64:
        return hessian_of_columns(objective, point, included[0].nonzero()[0])
    # Else it is a part of the whole Hessian.
    n_rows, (n_outputs, size) = len(point.rows.raw), included.shape
    cost = n_rows * n_outputs * (n_outputs + 1) / 2 * size**2
    tuning = objective.tuning
    has_few = included.size <= tuning.few_parameters
    if not has_few or cost > tuning.largest_hessian_cost:
        return None
    some = included.reshape(-1).nonzero()[0]
    hessian = point.mean_loss_hessian().reshape(included.size, included.size)
    hessian = hessian.take(some, axis=0).take(some, axis=1)
    add_penalty_to_piece(hessian, included, point.ridge, objective.common_columns)
    return hessian


def hessian_of_columns(objective, point, columns):
    """Hessian of some columns of the only raw prediction, in one pass.

    They are given by their numbers. The other arguments are those of
    :func:`little_piece_hessian`.
    """
    block = objective.blocks.single
    objective.count(1)
    curvature = point.rows.linear.hessian_diagonal()[:, 0]
    if not math.isfinite(curvature.dot(curvature)):
        what = "second derivative of the loss"
        check_finite(what, curvature[:, None], objective.loss)
    weight = block.weight * curvature
    hessian = block.design.sandwich_of_columns(columns, weight)
    diagonal = hessian.reshape(-1)[:: len(columns) + 1]
    diagonal += objective.penalty.diagonal.take(columns)
    return hessian
