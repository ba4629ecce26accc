"""Left-out predictions from the inverse of the whole Hessian."""

import numpy as np

from ..._utils.arrays import upper_triangle
from .._linear_point import LinearCurvature
from .._piece_hessian import RowHessians
from ._drawn_rows import effective_rows, with_weights_times
from ._inverse import inverse, single_precision_inverse
from ._parts import columns_of, parts_of_rows, raw_of, weighted_gradients_of
from ._row_systems import row_products, solved_systems

# Smallest cost of the whole Hessian, its inverse and all rows, in multiplications, at
# which single precision is tried: digits and letter take 0.6 times as long.
_LEAST_SINGLE = 1e7
# Fewest drawn rows for each column, by curvature in each raw prediction, with which the
# whole Hessian is that of the drawn rows: with 4,000 of 16,000 rows C="loo" takes 0.75
# times as long on letter, and 0.6 to 0.8 times on made data. Scores come out up to
# 0.2 % too low on letter and pendigits, for neighbouring penalties by about the same.
# With three rows for each column they come out up to 5 % too low.
_DRAWN_PER_COLUMN = 8
# From this number of quadratic forms on, one product with all pairs of columns is
# faster than a product for each form. With it, and without the Hessian of each row,
# C="loo" takes 0.8 (letter) to 0.95 times as long.
_MANY_MATRICES = 10
# Numbers of the pairs of columns that are in memory at a time (2 MiB).
_PAIRS = 1 << 18


def cost_of_whole_hessian(n_rows, n_parameters):
    """Multiplications for the whole Hessian, its inverse and all rows."""
    return n_rows * n_parameters**2 + n_parameters**3


def left_out_by_whole_hessian(objective, point, left_out_rows, share, least):
    """Raw predictions of rows by the model without each of them.

    Parameters
    ----------
    objective : LinearObjective
    point : LinearPoint
        Near the minimum.
    left_out_rows : Blocks of BlockPoint
        All rows of the point, or a share of them.
    share : float
        Share of the rows that are left out.
    least : float
        Smallest eigenvalue of I - s_i A_i J_i that rounding errors allow.

    Returns
    -------
    raw : list of ndarray of shape (n_rows, M)
        For each block.
    """
    n_outputs, size = objective.shape
    n_rows, gradient, part_of_weight = objective.description.n_rows, point.gradient, 1.0
    if share < 1 and effective_rows(left_out_rows) >= _DRAWN_PER_COLUMN * size:
        # Each drawn row stands for several, and is left out with their weight.
        left_out_rows = with_weights_times(left_out_rows, 1 / share)
        part_of_weight, n_rows = share, share * n_rows
        matrix = point.parameters.reshape(objective.shape)
        point = LinearCurvature(objective, matrix, left_out_rows)
    inverse_hessian = None
    if cost_of_whole_hessian(n_rows, objective.n_parameters) >= _LEAST_SINGLE:
        everything = np.ones(objective.shape, bool)
        hessian = point.piece_hessian(everything, dtype=np.float32)
        inverse_hessian = single_precision_inverse(hessian)
    if inverse_hessian is None:
        inverse_hessian = inverse(point.hessian())
    step = -(inverse_hessian @ gradient).reshape(objective.shape)
    inverse_hessian = inverse_hessian.reshape(n_outputs, size, n_outputs, size)
    return left_out_rows.collect(
        _left_out, step, inverse_hessian, part_of_weight, least
    )


def _left_out(point, step, inverse_hessian, part_of_weight, least):
    """Raw predictions of the left-out rows of a block.

    The gradient of a row is this part of its weighted gradient.
    """
    n_outputs, size = step.shape
    first, second, number = upper_triangle(n_outputs)
    # Only the symmetric part of each block counts, because both sides are the same row.
    forms = inverse_hessian.transpose(0, 2, 1, 3)[first, second]
    dtype = inverse_hessian.dtype
    left_out = np.empty((point.raw.shape[0], n_outputs))
    width = max(size * n_outputs, n_outputs**2)
    for rows, part in parts_of_rows(point, width):
        z = columns_of(part)
        A = _quadratic_forms(z.astype(dtype, copy=False), forms).take(number, axis=1)
        gradient = part_of_weight * weighted_gradients_of(part)
        gradient = gradient.astype(dtype, copy=False)
        move = (step @ z).T.astype(dtype) + row_products(A, gradient)
        weight, traits = part.block.weight, part.loss.traits
        J = RowHessians.of(part.linear, weight, 0.0, traits).astype(dtype)
        left_out[rows] = raw_of(part) + solved_systems(A, J, move, least)
    return left_out


def _quadratic_forms(z, matrices):
    """zᵀ B z of each column of z, for each matrix B: (n_rows, n_matrices)."""
    forms = np.empty((z.shape[1], len(matrices)), matrices.dtype)
    if len(matrices) >= _MANY_MATRICES:
        # One product with all pairs of columns.
        first, second, _ = upper_triangle(len(z))
        both = np.where(first == second, 0.5, 1.0).astype(forms.dtype)
        pairs = (matrices + matrices.swapaxes(1, 2))[:, first, second] * both
        length = max(_PAIRS // len(first), 16)
        for start in range(0, len(forms), length):
            part = z[:, start : start + length]
            products = part.take(first, axis=0) * part.take(second, axis=0)
            np.matmul(products.T, pairs.T, out=forms[start : start + length])
        return forms
    for k, matrix in enumerate(matrices):
        forms[:, k] = np.einsum("dn,dn->n", matrix @ z, z)
    return forms
