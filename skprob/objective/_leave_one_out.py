"""Raw predictions of each row by the model that was fitted without it, approximately.

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
from dataclasses import replace

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, spotrf, spotri

from .._utils.arrays import take, to_numpy, upper_triangle
from ..data import DenseDesign, local_blocks
from ._block_point import BlockPoint
from ._linear import LinearObjective
from ._linear_point import LinearCurvature, LinearPoint
from ._piece_hessian import RowHessians

# Largest cost of the whole Hessian, its inverse and the products with each row, in
# multiplications: about a second.
_LARGEST_WHOLE = 1.2e10
# Least of that cost at which single precision is tried: digits and letter take 0.6
# times as long.
_LEAST_SINGLE = 1e7
# Least pivot of the Hessian, scaled to a diagonal of ones, that single precision bears.
# On digits, pendigits, letter and emotions relative errors of the scores are then below
# 2e-4. With smaller pivots they reach 1e-2.
_LEAST_PIVOT = 1e-3
# Largest cost of the Hessians of the raw predictions one by one; from there on they are
# those of rows that are drawn, at least so many for each column.
_LARGEST_BLOCKS, _ROWS_PER_COLUMN = 2e10, 20
# Most columns of these Hessians, and most numbers in all of them (512 MB). With fewer
# rows than columns these are replaced by as many as there are rows.
_MOST_COLUMNS, _MOST_NUMBERS = 2500, 1 << 26
# Fewest drawn rows for each column, by curvature in each raw prediction, with which the
# whole Hessian is that of the drawn rows: with 4,000 of 16,000 rows C="loo" takes 0.75
# times as long on letter, and 0.6 to 0.8 times on made data. Scores come out up to
# 0.2 % too low on letter and pendigits, for neighbouring penalties by about the same.
# With three rows for each column they come out up to 5 % too low.
_DRAWN_PER_COLUMN = 8
# From this number of raw predictions on, conjugate gradients invert I - s_i A_i J_i:
# C="loo" takes 0.66 times as long on 3,000 rows of letter. The second number is the
# largest residual, as a part of the move of a row without A_i J_i. After the third, a
# number of iterations, a matrix is factored.
_MANY_OUTPUTS, _LEFT_OF_MOVE, _MOST_ITERATIONS = 10, 1e-5, 10
# Numbers of a part of the rows that are in memory at a time (16 MiB).
_PART = 1 << 21
# From this number of quadratic forms on, one product with all pairs of columns is
# faster than a product for each form. With it, and without the Hessian of each row,
# C="loo" takes 0.8 (letter) to 0.95 times as long. Numbers of the pairs in memory at a
# time (2 MiB).
_MANY_MATRICES, _PAIRS = 10, 1 << 18
# Least eigenvalue of I - s_i A_i J_i where H is approximated by its blocks and all
# probabilities are positive: smaller ones are errors, with which the log losses of a
# few rows are larger than those of all others together. With exact zeros it is the
# least that rounding errors allow, because the gradients of these rows are small.
_LEAST_OF_BLOCKS = 0.1
# Raw predictions of a row, those with most curvature, whose coupling counts where H is
# approximated by its blocks.
_MOST_COUPLED = 16


def leave_one_out(objective, parameters, share=1.0, point=None):
    """Raw predictions of each row by the model without it.

    The whole Hessian is written out where that takes about a second at most. Where it
    takes longer, H is approximated by its diagonal blocks, one for each raw
    prediction: A_i is then diagonal. If the loss is a sum of losses of one raw
    prediction each, nothing is lost by that. Else the approximation has too large an
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
    n_rows = objective.description.n_rows
    if _may_have_fewer_columns(objective):
        objective, parameters = _with_fewer_columns(objective, parameters)
        point = None
    if not isinstance(point, LinearPoint):
        point = objective.at(parameters)
    matrix, (n_outputs, size) = parameters.reshape(objective.shape), objective.shape
    rows = point if share >= 1 else point.of_blocks.map(_drawn, share)
    is_separable = objective.description.is_separable
    if not is_separable and _cost(n_rows, objective.n_parameters) <= _LARGEST_WHOLE:
        gradient, part = point.gradient, 1.0
        if share < 1 and _effective_rows(rows) >= _DRAWN_PER_COLUMN * size:
            # Each drawn row counts as so many that it is left out with.
            rows, part, n_rows = rows.map(_times, 1 / share), share, share * n_rows
            point = LinearCurvature(objective, matrix, rows)
        inverse = _single_inverse(objective, point, n_rows)
        if inverse is None:
            inverse = _inverse(point.hessian())
        step = -(inverse @ gradient).reshape(objective.shape)
        inverse = inverse.reshape(n_outputs, size, n_outputs, size)
        return rows.collect(_by_whole, step, inverse, least, part)
    if size > _MOST_COLUMNS or n_outputs * size**2 > _MOST_NUMBERS:
        raise ValueError(
            f"Leave-one-out needs a Hessian for each of {n_outputs} raw predictions, "
            f"of {size} columns: at most {_MOST_COLUMNS:,} columns, and "
            f"{_MOST_NUMBERS:,} numbers in all, are possible."
        )
    n_drawn = max(_LARGEST_BLOCKS / (n_outputs * size**2), _ROWS_PER_COLUMN * size)
    blocks = point.sandwiches(True, n_drawn)
    blocks.reshape(n_outputs, -1)[:, :: size + 1] += objective.penalty.diagonal
    if not (is_separable or objective.traits.has_zeros):
        least = _LEAST_OF_BLOCKS
    gradient, steps = point.gradient.reshape(objective.shape), np.empty_like(matrix)
    for k in range(n_outputs):
        blocks[k] = _factor(blocks[k])
        steps[k] = -dpotrs(blocks[k], gradient[k], lower=True)[0]
    return rows.collect(_by_blocks, matrix, steps, blocks, least, is_separable)


def drawn_rows(objective, share):
    """Numbers of the rows of an objective that a share of them draws, in order.

    They do not depend on the data: each block draws its share at random.
    """
    lengths = objective.blocks.collect(_length)
    starts = np.cumsum([0, *lengths[:-1]])
    pairs = zip(starts, lengths, strict=True)
    return np.concatenate([start + _draw(n_rows, share) for start, n_rows in pairs])


def uses_exact_hessian(objective):
    """Whether :func:`leave_one_out` needs no approximation of the Hessian."""
    n_rows, (n_outputs, size) = objective.description.n_rows, objective.shape
    if _may_have_fewer_columns(objective):
        size = min(size, n_rows + 1)
    is_small = _cost(n_rows, n_outputs * size) <= _LARGEST_WHOLE
    return is_small or objective.description.is_separable


def _cost(n_rows, n_parameters):
    """Multiplications for the whole Hessian, its inverse and all rows."""
    return n_rows * n_parameters**2 + n_parameters**3


def _may_have_fewer_columns(objective):
    n_rows, size = objective.description.n_rows, objective.shape[1]
    return n_rows < min(size, _MOST_COLUMNS) and n_rows * size <= _MOST_NUMBERS


def _with_fewer_columns(objective, parameters):
    """The same objective of no more penalised columns than rows, and its parameters.

    A change of coordinates makes the penalty that of the identity. There only the part
    of the parameters that is in the span of the rows has an effect on them.
    """
    matrix, diagonal = parameters.reshape(objective.shape), objective.penalty.diagonal
    blocks = objective.blocks.collect(_itself)
    z = [to_numpy(block.design.columns(slice(None))) for block in blocks]
    ends, z = np.cumsum([part.shape[1] for part in z])[:-1], np.hstack(z)
    has_intercept = objective.description.has_intercept
    n_features = len(z) - has_intercept
    penalised = np.flatnonzero(diagonal)
    free = np.setdiff1d(np.arange(n_features), penalised)
    root = np.sqrt(diagonal[penalised])
    scaled = z[penalised] / root[:, None]
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    is_in_span = values > len(values) * np.finfo(float).eps * values[-1]
    values, vectors = np.sqrt(values[is_in_span]), vectors[:, is_in_span]
    coef = (matrix[:, penalised] * root) @ (scaled @ vectors) / values
    coef = np.hstack([coef, matrix[:, free]])
    features = np.split(np.hstack([vectors * values, z[free].T]), ends)
    parts = zip(blocks, features, strict=True)
    other = LinearObjective(
        local_blocks(replace(block, design=DenseDesign(X)) for block, X in parts),
        objective.loss,
        l2=1.0,
        fit_intercept=has_intercept,
        factors=np.repeat([1.0, 0.0], [len(values), len(free)]),
    )
    intercept = matrix[:, -1] if has_intercept else np.zeros(len(matrix))
    return other, other.from_model(coef, intercept).reshape(-1)


def _single_inverse(objective, point, n_rows):
    """The inverse of the whole Hessian of so many rows in single precision.

    None where that is not faster, or not accurate enough.
    """
    if _cost(n_rows, objective.n_parameters) < _LEAST_SINGLE:
        return None
    everything = np.ones(objective.shape, bool)
    hessian = point.piece_hessian(everything, dtype=np.float32)
    scale = 1 / np.sqrt(np.diagonal(hessian))
    hessian *= scale[:, None]
    hessian *= scale
    factor, failed = spotrf(hessian.astype(np.float32).T, lower=True)
    if failed or not np.square(np.diagonal(factor)).min() >= _LEAST_PIVOT:
        return None
    scale = scale.astype(np.float32)
    inverse = _both_halves(spotri(factor, lower=True)[0])
    inverse *= scale[:, None]
    inverse *= scale
    return inverse


def _factor(hessian):
    """The lower Cholesky factor of a Hessian; where it has none, of a larger diagonal.

    Also where the inverse would overflow.
    """
    diagonal = hessian.reshape(-1)[:: len(hessian) + 1]
    added = np.finfo(float).eps * float(diagonal.max(initial=0)) or 1.0
    while True:
        factor, failed = dpotrf(hessian.T, lower=True)
        if not failed and np.isfinite(1 / np.square(np.diagonal(factor))).all():
            return factor
        diagonal += added
        added *= 100


def _inverse(hessian):
    """The inverse of a Hessian, with a larger diagonal if necessary."""
    return _both_halves(dpotri(_factor(hessian), lower=True)[0])


def _both_halves(lower):
    """The symmetric matrix with this lower half; the other half is zero."""
    return lower + np.tril(lower, -1).T


def _draw(n_rows, share):
    """Numbers of the drawn rows of a block, in order."""
    n_drawn = math.ceil(share * n_rows)
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n_rows, min(n_drawn, n_rows), replace=False))


# Functions of a block, or of its point, for Blocks.collect and Blocks.map.


def _itself(block):
    return block


def _length(block):
    return block.design.shape[0]


def _drawn(point, share):
    numbers = _draw(point.raw.shape[0], share)
    return BlockPoint(point.block.take(numbers), point.loss, take(point.raw, numbers))


def _effective_rows(points):
    """Rows of equal curvature that have that of the rows, in one raw prediction.

    The one that has fewest.
    """
    total, squares = points.sum(_total_and_squares)
    return float((total**2 / np.maximum(squares, np.finfo(float).tiny)).min())


def _total_and_squares(point):
    curvature = to_numpy(point.curvature())
    return curvature.sum(axis=0), np.square(curvature).sum(axis=0)


def _times(point, factor):
    """The point with weights times a factor."""
    block = replace(point.block, weight=factor * point.block.weight)
    return BlockPoint(block, point.loss, point.raw)


def _by_whole(point, step, inverse, least, part):
    """Raw predictions of left-out rows, from the inverse of the whole Hessian.

    The gradient of a row is this part of its weighted gradient.
    """
    n_outputs, size = step.shape
    first, second, number = upper_triangle(n_outputs)
    # Only the symmetric part of each block counts, because both sides are the same row.
    forms = inverse.transpose(0, 2, 1, 3)[first, second]
    dtype = inverse.dtype
    left_out = np.empty((point.raw.shape[0], n_outputs))
    width = max(size * n_outputs, n_outputs**2)
    for rows, some in _parts(point, width):
        z, (raw, gradient) = _columns_of(some), _rows_of(some)
        A = _quadratic_forms(z.astype(dtype, copy=False), forms).take(number, axis=1)
        gradient = (part * gradient).astype(dtype, copy=False)
        move = (step @ z).T.astype(dtype) + _matvec(A, gradient)
        weight, traits = some.block.weight, some.loss.traits
        J = RowHessians.of(some.linear, weight, 0.0, traits).astype(dtype)
        left_out[rows] = raw + _change(A, J, move, least)
    return left_out


def _change(A, J, move, least):
    """(I - A J)⁻¹ times a move (n_rows, M), of each row."""
    if move.shape[1] < _MANY_OUTPUTS:
        return _solved(A, J, move, least)
    change, converged = _by_conjugate_gradients(A, J, move, least)
    (rows,) = np.nonzero(~converged)
    if len(rows):
        parts = (None if array is None else array[rows] for array in J)
        change[rows] = _solved(A[rows], RowHessians(*parts), move[rows], least)
    return change


def _solved(A, J, move, least):
    if J.matrices is not None:
        product = A @ J.matrices
    else:
        product = A * J.diagonal[:, None, :]
        if J.vector is not None:
            product -= _matvec(A, J.vector)[:, :, None] * J.vector[:, None, :]
    remaining = (1 + least) * np.eye(move.shape[1], dtype=A.dtype) - product
    return np.linalg.solve(remaining, move[:, :, None])[:, :, 0]


def _by_conjugate_gradients(A, J, move, least):
    """The same, and a mask of the rows for which it has converged.

    I - A J is symmetric and positive in the inner product of J. Its eigenvalues are
    near one, but for rows that have much influence on their own predictions.
    """

    def times_J(x):
        if J.matrices is not None:
            return _matvec(J.matrices, x)
        product = J.diagonal * x
        if J.vector is not None:
            product -= np.vecdot(J.vector, x)[:, None] * J.vector
        return product

    diagonal, tiny = A.dtype.type(1 + least), np.finfo(A.dtype).tiny
    J_change = times_J(move)
    residual = _matvec(A, J_change) - A.dtype.type(least) * move
    direction, J_direction = residual, times_J(residual)
    square = np.vecdot(residual, J_direction)
    enough = _LEFT_OF_MOVE**2 * np.maximum(np.vecdot(move, J_change), 0) + tiny
    is_positive = np.ones(len(move), bool)
    for _ in range(_MOST_ITERATIONS):
        if not (is_positive & (square > enough)).any():
            break
        product = diagonal * direction - _matvec(A, J_direction)
        curvature = np.vecdot(J_direction, product)
        is_positive &= (curvature > 0) | (square <= enough)
        moves = (square > enough) & is_positive
        length = np.where(moves, square / np.where(moves, curvature, 1), 0)[:, None]
        J_change += length * J_direction
        residual = residual - length * product
        J_residual = times_J(residual)
        last, square = square, np.vecdot(residual, J_residual)
        ratio = (square / np.where(last > 0, last, 1))[:, None]
        direction = residual + ratio * direction
        J_direction = J_residual + ratio * J_direction
    # Where J has no curvature the change is that of A and of the others.
    change = (move + _matvec(A, J_change)) / diagonal
    return change, is_positive & (square <= enough)


def _by_blocks(point, matrix, steps, factors, least, is_separable):
    """The same from the Cholesky factors of the diagonal blocks of the Hessian."""
    n_outputs, size = matrix.shape
    left_out = np.empty((point.raw.shape[0], n_outputs))
    n_numbers = n_outputs**2 if point.linear.slopes() is None else n_outputs
    for rows, part in _parts(point, max(size, n_numbers, _MOST_COUPLED**2)):
        z, (raw, gradient) = _columns_of(part), _rows_of(part)
        a = _inverse_forms(z, factors)
        move = (steps @ z).T + a * gradient
        curvature = to_numpy(part.linear.hessian_diagonal()) * _weights(part)
        if is_separable:
            change = move / (1 + least - a * curvature)
        else:
            change = _decoupled(part, curvature, a, move, least)
        left_out[rows] = raw + change
    return left_out


def _decoupled(point, curvature, a, move, least):
    """(I - A J)⁻¹ times a move, for a diagonal A (n_rows, M) that may be too large."""
    share = np.maximum(curvature * a, 0)
    change = move / np.maximum(1 - share, least)
    n_coupled = min(_MOST_COUPLED, share.shape[1])
    chosen = np.argpartition(share, -n_coupled, axis=1)[:, -n_coupled:]
    root = np.sqrt(np.take_along_axis(a, chosen, axis=1)) + np.finfo(float).tiny
    J = _coupling(point.linear, chosen) * _weights(point)[:, :, None]
    # With A = R R it is R (I - R J R)⁻¹ R⁻¹, whose middle is symmetric.
    values, vectors = np.linalg.eigh(root[:, :, None] * J * root[:, None, :])
    move = np.take_along_axis(move, chosen, axis=1) / root
    move = np.einsum("nkl,nk->nl", vectors, move) / np.maximum(1 - values, least)
    move = root * np.einsum("nkl,nl->nk", vectors, move)
    np.put_along_axis(change, chosen, move, axis=1)
    return change


def _coupling(linear, chosen):
    """Hessian of each row in some of its raw predictions: (n_rows, m, m)."""
    slopes = linear.slopes()
    if slopes is None:
        matrices, rows = to_numpy(linear.hessian_matrices()), np.arange(len(chosen))
        return matrices[rows[:, None, None], chosen[:, :, None], chosen[:, None, :]]
    slopes = to_numpy(slopes).astype(np.float64)
    total = slopes.sum(axis=1, keepdims=True)
    some = np.take_along_axis(slopes, chosen, axis=1)
    share = some / np.where(total > 0, total, 1.0)
    return some[:, :, None] * (np.eye(some.shape[1]) - share[:, None, :])


def _parts(point, width):
    """Slices of the rows, and the points there, whose arrays have a limited size."""
    n_rows, block = point.raw.shape[0], point.block
    length = max(_PART // width, 1)
    for start in range(0, n_rows, length):
        rows = slice(start, start + length)
        if length >= n_rows:
            yield rows, point
            return
        numbers = np.arange(*rows.indices(n_rows))
        yield rows, BlockPoint(block.take(numbers), point.loss, point.raw[rows])


def _columns_of(point):
    """Columns of the design: (size, n_rows)."""
    return to_numpy(point.block.design.columns(slice(None)))


def _rows_of(point):
    """Raw predictions, and weighted gradients in them: (n_rows, M)."""
    raw = to_numpy(point.raw).astype(np.float64)
    return raw, to_numpy(point.linear.residual()) * _weights(point)


def _weights(point):
    """Weights of the rows, (n_rows, 1), in float64."""
    return to_numpy(point.block.weight).astype(np.float64)[:, None]


def _matvec(matrices, vectors):
    """The product of the matrix and the vector of each row."""
    return (matrices @ vectors[:, :, None])[:, :, 0]


def _inverse_forms(z, factors):
    """zᵀ (L Lᵀ)⁻¹ z of each column of z, for each factor L: (n_rows, n_factors)."""
    forms = np.empty((z.shape[1], len(factors)))
    for k, factor in enumerate(factors):
        solved = dtrsm(1.0, factor, z.T, side=1, lower=1, trans_a=1)
        forms[:, k] = np.einsum("nd,nd->n", solved, solved)
    return forms


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
