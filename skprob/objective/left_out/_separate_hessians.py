"""Left-out predictions where the loss is a sum of losses of one raw prediction each.

The Hessian then has a block for each raw prediction, and no other entries. So A_i and
J_i are diagonal.
"""

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrs

from ..._utils.arrays import to_numpy
from ._inverse import cholesky_factor
from ._parts import columns_of, parts_of_rows, raw_of, weighted_gradients_of, weights_of


def left_out_by_separate_hessians(objective, point, left_out_rows, least):
    """Raw predictions of rows by the model without each of them.

    Parameters
    ----------
    objective : LinearObjective
    point : LinearPoint
        Near the minimum.
    left_out_rows : Blocks of BlockPoint
        All rows of the point, or a share of them.
    least : float
        Smallest eigenvalue of I - s_i A_i J_i that rounding errors allow.

    Returns
    -------
    raw : list of ndarray of shape (n_rows, M)
        For each block.
    """
    n_outputs, size = objective.shape
    # First the Hessians; each is replaced by its factor, to save memory.
    factors = point.sandwiches(by_output=True, n_drawn=np.inf)
    factors.reshape(n_outputs, -1)[:, :: size + 1] += objective.penalty.diagonal
    gradient = point.gradient.reshape(objective.shape)
    steps = np.empty(objective.shape)
    for k in range(n_outputs):
        factors[k] = cholesky_factor(factors[k])
        steps[k] = -dpotrs(factors[k], gradient[k], lower=True)[0]
    return left_out_rows.collect(_left_out, steps, factors, least)


def _left_out(point, steps, factors, least):
    """Raw predictions of the left-out rows of a block."""
    n_outputs, size = steps.shape
    left_out = np.empty((point.raw.shape[0], n_outputs))
    for rows, part in parts_of_rows(point, max(size, n_outputs)):
        z = columns_of(part)
        a = _inverse_forms(z, factors)
        move = (steps @ z).T + a * weighted_gradients_of(part)
        curvature = to_numpy(part.linear.hessian_diagonal()) * weights_of(part)
        left_out[rows] = raw_of(part) + move / (1 + least - a * curvature)
    return left_out


def _inverse_forms(z, factors):
    """zᵀ (L Lᵀ)⁻¹ z of each column of z, for each factor L: (n_rows, n_factors)."""
    forms = np.empty((z.shape[1], len(factors)))
    for k, factor in enumerate(factors):
        solved = dtrsm(1.0, factor, z.T, side=1, lower=1, trans_a=1)
        forms[:, k] = np.einsum("nd,nd->n", solved, solved)
    return forms
