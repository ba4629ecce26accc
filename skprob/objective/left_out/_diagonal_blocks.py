"""Left-out predictions from the diagonal blocks of the Hessian.

Each raw prediction has a block: the coupling of the raw predictions is left out of H,
and counts only in the Hessian J_i of a row.
"""

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrs

from ..._utils.arrays import to_numpy
from ._inverse import cholesky_factor
from ._parts import columns_of, parts_of_rows, raw_of, weighted_gradients_of, weights_of

# Most columns of a block, and most numbers in all blocks (512 MB). With fewer rows than
# columns the columns are replaced by as many as there are rows.
MOST_COLUMNS, MOST_NUMBERS = 2500, 1 << 26
# Largest cost of the blocks from all rows, in multiplications. Beyond it rows are
# drawn, at least this number for each column.
_LARGEST_BLOCKS, _ROWS_PER_COLUMN = 2e10, 20
# Smallest eigenvalue of I - s_i A_i J_i if all probabilities are positive: smaller ones
# are errors, with which the log losses of a few rows are larger than those of all
# others together. With exact zeros the limit is the one of rounding errors, because the
# gradients of these rows are small.
_LEAST_EIGENVALUE = 0.1
# Raw predictions of a row, those with most curvature, whose coupling counts.
_MOST_COUPLED = 16


def check_size_of_blocks(n_outputs, size):
    """Raise if the blocks have too many columns or numbers."""
    if size > MOST_COLUMNS or n_outputs * size**2 > MOST_NUMBERS:
        raise ValueError(
            f"Leave-one-out needs a Hessian for each of {n_outputs} raw predictions, "
            f"of {size} columns: at most {MOST_COLUMNS:,} columns, and "
            f"{MOST_NUMBERS:,} numbers in all, are possible."
        )


def left_out_by_blocks(objective, point, left_out_rows, least):
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
    n_drawn = max(_LARGEST_BLOCKS / (n_outputs * size**2), _ROWS_PER_COLUMN * size)
    # First the Hessians; each is replaced by its factor, because they may need 512 MB.
    factors = point.sandwiches(True, n_drawn)
    factors.reshape(n_outputs, -1)[:, :: size + 1] += objective.penalty.diagonal
    is_separable = objective.description.is_separable
    if not (is_separable or objective.traits.has_zeros):
        least = _LEAST_EIGENVALUE
    gradient = point.gradient.reshape(objective.shape)
    steps = np.empty(objective.shape)
    for k in range(n_outputs):
        factors[k] = cholesky_factor(factors[k])
        steps[k] = -dpotrs(factors[k], gradient[k], lower=True)[0]
    return left_out_rows.collect(_left_out, steps, factors, least, is_separable)


def _left_out(point, steps, factors, least, is_separable):
    """Raw predictions of the left-out rows of a block."""
    n_outputs, size = steps.shape
    left_out = np.empty((point.raw.shape[0], n_outputs))
    n_numbers = n_outputs**2 if point.linear.slopes() is None else n_outputs
    width = max(size, n_numbers, _MOST_COUPLED**2)
    for rows, part in parts_of_rows(point, width):
        z = columns_of(part)
        a = _inverse_forms(z, factors)
        move = (steps @ z).T + a * weighted_gradients_of(part)
        curvature = to_numpy(part.linear.hessian_diagonal()) * weights_of(part)
        if is_separable:
            change = move / (1 + least - a * curvature)
        else:
            change = _coupled_change(part, curvature, a, move, least)
        left_out[rows] = raw_of(part) + change
    return left_out


def _coupled_change(point, curvature, a, move, least):
    """(I - A J)⁻¹ times a move, for a diagonal A (n_rows, M) that may be too large."""
    share = np.maximum(curvature * a, 0)
    change = move / np.maximum(1 - share, least)
    n_coupled = min(_MOST_COUPLED, share.shape[1])
    chosen = np.argpartition(share, -n_coupled, axis=1)[:, -n_coupled:]
    root = np.sqrt(np.take_along_axis(a, chosen, axis=1)) + np.finfo(float).tiny
    J = hessians_of_chosen(point.linear, chosen) * weights_of(point)[:, :, None]
    # With A = R R it is R (I - R J R)⁻¹ R⁻¹, whose middle is symmetric.
    values, vectors = np.linalg.eigh(root[:, :, None] * J * root[:, None, :])
    move = np.take_along_axis(move, chosen, axis=1) / root
    move = np.einsum("nkl,nk->nl", vectors, move) / np.maximum(1 - values, least)
    move = root * np.einsum("nkl,nl->nk", vectors, move)
    np.put_along_axis(change, chosen, move, axis=1)
    return change


def hessians_of_chosen(linear, chosen):
    """Hessian of each row in its chosen raw predictions: (n_rows, m, m).

    `chosen` (n_rows, m) has their numbers.
    """
    slopes = linear.slopes()
    if slopes is None:
        matrices, rows = to_numpy(linear.hessian_matrices()), np.arange(len(chosen))
        return matrices[rows[:, None, None], chosen[:, :, None], chosen[:, None, :]]
    slopes = to_numpy(slopes).astype(np.float64)
    total = slopes.sum(axis=1, keepdims=True)
    chosen_slopes = np.take_along_axis(slopes, chosen, axis=1)
    share = chosen_slopes / np.where(total > 0, total, 1.0)
    return chosen_slopes[:, :, None] * (np.eye(chosen.shape[1]) - share[:, None, :])


def _inverse_forms(z, factors):
    """zᵀ (L Lᵀ)⁻¹ z of each column of z, for each factor L: (n_rows, n_factors)."""
    forms = np.empty((z.shape[1], len(factors)))
    for k, factor in enumerate(factors):
        solved = dtrsm(1.0, factor, z.T, side=1, lower=1, trans_a=1)
        forms[:, k] = np.einsum("nd,nd->n", solved, solved)
    return forms
