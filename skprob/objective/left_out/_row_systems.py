"""Linear systems of each row: (I - A J) x = move.

A and J are symmetric matrices with a row for each raw prediction. J is positive
semidefinite, the Hessian of the row's weighted loss.
"""

import numpy as np

# Largest residual of conjugate gradients, as a part of the right side.
_RELATIVE_RESIDUAL = 1e-5
# Number of iterations after which the remaining systems are solved by a factor.
_MOST_ITERATIONS = 10


def solved_systems(A, J, move, least, tuning):
    """Solutions (n_rows, M) of the systems of all rows.

    Parameters
    ----------
    A : ndarray of shape (n_rows, M, M)
    J : RowHessians
    move : ndarray of shape (n_rows, M)
        The right sides.
    least : float
        Added to the diagonal of I - A J.
    tuning : Tuning
    """
    if move.shape[1] < tuning.systems_by_products:
        return _solved_by_factors(A, J, move, least)
    change, converged = _solved_by_conjugate_gradients(A, J, move, least)
    (rows,) = np.nonzero(~converged)
    if len(rows):
        change[rows] = _solved_by_factors(A[rows], J.of_rows(rows), move[rows], least)
    return change


def row_products(matrices, vectors):
    """The product of the matrix and the vector of each row."""
    return (matrices @ vectors[:, :, None])[:, :, 0]


def _solved_by_factors(A, J, move, least):
    if J.matrices is not None:
        product = A @ J.matrices
    else:
        product = A * J.diagonal[:, None, :]
        if J.vector is not None:
            product -= row_products(A, J.vector)[:, :, None] * J.vector[:, None, :]
    system = (1 + least) * np.eye(move.shape[1], dtype=A.dtype) - product
    return np.linalg.solve(system, move[:, :, None])[:, :, 0]


def _solved_by_conjugate_gradients(A, J, move, least):
    """The solutions, and a mask of the rows for which they have converged.

    I - A J is symmetric and positive in the inner product of J. Its eigenvalues are
    near one, but for rows that have much influence on their own predictions.
    """

    def times_J(x):
        if J.matrices is not None:
            return row_products(J.matrices, x)
        product = J.diagonal * x
        if J.vector is not None:
            product -= np.vecdot(J.vector, x)[:, None] * J.vector
        return product

    diagonal, tiny = A.dtype.type(1 + least), np.finfo(A.dtype).tiny
    J_change = times_J(move)
    residual = row_products(A, J_change) - A.dtype.type(least) * move
    direction, J_direction = residual, times_J(residual)
    square = np.vecdot(residual, J_direction)
    limit = np.maximum(np.vecdot(move, J_change), 0)
    limit = _RELATIVE_RESIDUAL**2 * limit + tiny
    is_positive = np.ones(len(move), bool)
    for _ in range(_MOST_ITERATIONS):
        if not (is_positive & (square > limit)).any():
            break
        product = diagonal * direction - row_products(A, J_direction)
        curvature = np.vecdot(J_direction, product)
        is_positive &= (curvature > 0) | (square <= limit)
        moves = (square > limit) & is_positive
        length = np.where(moves, square / np.where(moves, curvature, 1), 0)[:, None]
        J_change += length * J_direction
        residual = residual - length * product
        J_residual = times_J(residual)
        last_square, square = square, np.vecdot(residual, J_residual)
        ratio = square / np.where(last_square > 0, last_square, 1)
        direction = residual + ratio[:, None] * direction
        J_direction = J_residual + ratio[:, None] * J_direction
    # Where J has no curvature the change is that of A and of the others.
    change = (move + row_products(A, J_change)) / diagonal
    return change, is_positive & (square <= limit)
