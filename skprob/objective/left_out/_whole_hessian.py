"""Left-out predictions from the inverse of the whole Hessian.

If equal changes of all raw predictions change no loss, only their differences from the
last one are parameters here. The penalty is then the least one of parameters with these
differences u: it has the Hessian I - 11ᵀ/M, in units of the penalty, for M raw
predictions. So there is a raw prediction less, and no direction that has the curvature
of the penalty alone, which single precision would not be accurate enough for.
"""

import numpy as np

from ..._utils.arrays import to_numpy, upper_triangle, widened
from .._linear_point import LinearCurvature
from .._piece_hessian import RowHessians
from ._drawn_rows import effective_rows, with_weights_times
from ._inverse import inverse, single_precision_inverse
from ._parts import (
    columns_of,
    parts_of_rows,
    raw_of,
    weighted_gradients_of,
    weights_of,
)
from ._row_systems import row_products, solved_systems

# It decides how accurate scores are, and is not in `Tuning`, which changes times alone:
# fewest drawn rows for each column, by curvature in each raw prediction, with which the
# whole Hessian is that of the drawn rows: with 4,000 of 16,000 rows C="loo" takes 0.75
# times as long on letter, and 0.6 to 0.8 times on made data. Scores come out up to
# 0.2 % too low on letter and pendigits, for neighbouring penalties by about the same.
# With three rows for each column they come out up to 5 % too low.
_DRAWN_PER_COLUMN = 8
# Numbers of the pairs of columns that are in memory at a time (2 MiB).
_PAIRS = 1 << 18


def cost_of_hessian(n_rows, n_parameters):
    """Multiplications for a Hessian, its inverse and all rows."""
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
    size, gradient = objective.shape[1], point.gradient.reshape(objective.shape)
    n_rows, part_of_weight = objective.description.n_rows, 1.0
    if share < 1 and effective_rows(left_out_rows) >= _DRAWN_PER_COLUMN * size:
        # Each drawn row stands for several, and is left out with their weight.
        left_out_rows = with_weights_times(left_out_rows, 1 / share)
        part_of_weight, n_rows = share, share * n_rows
        matrix = point.parameters.reshape(objective.shape)
        point = LinearCurvature(objective, matrix, left_out_rows)
    if objective.description.is_shift_invariant:
        gradient = gradient[:-1] - gradient.sum(axis=0) / len(gradient)
    cost = cost_of_hessian(n_rows, objective.n_parameters)
    tuning = objective.tuning
    if cost >= tuning.single_hessian:
        inverse_hessian = single_precision_inverse(
            _hessian(objective, point, np.float32), tuning.least_pivot_of_scores
        )
        if inverse_hessian is not None:
            raw, magnified = _left_out_of_blocks(
                left_out_rows, gradient, inverse_hessian, part_of_weight, least, tuning
            )
            if magnified <= tuning.most_magnified:
                return raw
    inverse_hessian = inverse(_hessian(objective, point, np.float64))
    return _left_out_of_blocks(
        left_out_rows, gradient, inverse_hessian, part_of_weight, least, tuning
    )[0]


def _hessian(objective, point, dtype):
    """The Hessian of all parameters, or of those of the differences."""
    n_outputs, size = objective.shape
    included = np.ones(objective.shape, bool)
    if not objective.description.is_shift_invariant:
        return point.piece_hessian(included, dtype=dtype)
    included[-1] = False
    hessian = point.piece_hessian(included, dtype=dtype)
    blocks = hessian.reshape(n_outputs - 1, size, n_outputs - 1, size)
    # A view of the diagonals of all blocks.
    np.einsum("kama->kma", blocks)[...] -= objective.penalty.diagonal / n_outputs
    return hessian


def _left_out_of_blocks(
    left_out_rows, gradient, inverse_hessian, part_of_weight, least, tuning
):
    """Raw predictions of the left-out rows of each block, and how far they are moved.

    The second number is the size of all changes, in units of the changes by the same
    gradients without the curvature of the row that is left out.
    """
    step = -(inverse_hessian @ gradient.reshape(-1)).reshape(gradient.shape)
    forms = inverse_hessian.reshape(2 * gradient.shape)
    raw, squares = zip(
        *left_out_rows.collect(_left_out, step, forms, part_of_weight, least, tuning),
        strict=True,
    )
    before, after = sum(squares)
    return list(raw), np.sqrt(after / before) if before > 0 else 1.0


def _left_out(point, step, inverse_hessian, part_of_weight, least, tuning):
    """Raw predictions of the left-out rows of a block.

    The gradient of a row is this part of its weighted gradient. With them are the sums
    of the squares of their changes, without and with the curvature of the row.
    """
    n_outputs, size = step.shape
    first, second, number = upper_triangle(n_outputs)
    # Only the symmetric part of each block counts, because both sides are the same row.
    forms = inverse_hessian.transpose(0, 2, 1, 3)[first, second]
    dtype = inverse_hessian.dtype
    left_out, squares = raw_of(point), np.zeros(2)
    width = max(size * n_outputs, n_outputs**2)
    for rows, part in parts_of_rows(point, width):
        z = columns_of(part)
        move = (step @ z).T
        gradient = part_of_weight * weighted_gradients_of(part)[:, :n_outputs]
        J = _hessians_of_rows(part, n_outputs, tuning)
        # Others change by Newton's step of all rows alone.
        some = np.flatnonzero(gradient.any(axis=1) | J.has_curvature)
        if len(some):
            A = _quadratic_forms(z.take(some, axis=1).astype(dtype), forms, tuning)
            A, J = A.take(number, axis=1), J.of_rows(some).astype(dtype)
            before = move[some].astype(dtype)
            before += row_products(A, gradient[some].astype(dtype))
            change = solved_systems(A, J, before, least, tuning)
            move[some] = change
            squares += np.vdot(before, before), np.vdot(change, change)
        left_out[rows, :n_outputs] += move
    return left_out, squares


def _hessians_of_rows(point, n_outputs, tuning):
    """The ``RowHessians`` of the weighted losses, as matrices if these are small."""
    linear, block = point.linear, point.block
    if n_outputs >= tuning.systems_by_products:
        hessians = RowHessians.of(linear, block.weight, point.loss.traits)
        return hessians.of_outputs(slice(n_outputs))
    matrices = to_numpy(widened(linear.hessian_matrices()))[:, :n_outputs, :n_outputs]
    return RowHessians(None, None, weights_of(point)[:, :, None] * matrices)


def _quadratic_forms(z, matrices, tuning):
    """zᵀ B z of each column of z, for each matrix B: (n_rows, n_matrices)."""
    if len(matrices) >= tuning.forms_by_pairs:
        forms = np.empty((z.shape[1], len(matrices)), matrices.dtype)
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
    return np.einsum("kdn,dn->nk", matrices @ z, z)
