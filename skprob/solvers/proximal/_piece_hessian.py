"""Parameters that may move, and their Hessian matrix."""

import numpy as np
from scipy.linalg.lapack import dposv, sposv

from ..._utils.single_precision import smallest_pivot
from ._curvature import positive

# Damping of a Hessian matrix, relative to its diagonal.
_DAMPING = 1e-10


class Piece:
    """Some parameters of a matrix (M, size), in an array of their own.

    The other parameters are and remain zero. The array has one row or, for a shrinkage
    of columns, M rows of whole columns.

    Parameters
    ----------
    included : ndarray of bool of shape (M, size)
        The parameters.
    shrinkage : Shrinkage
    """

    def __init__(self, included, shrinkage):
        self.included, self.columns = included, included.nonzero()[1]
        self.shape = 1, len(self.columns)
        if shrinkage.is_by_column:
            self.columns = self.columns[: len(self.columns) // len(included)]
            self.shape = len(included), len(self.columns)
        #: The shrinkage of the array.
        self.shrinkage = shrinkage.restricted(self.columns)

    def taken(self, matrix):
        """The array of a matrix (M, size)."""
        return matrix[self.included].reshape(self.shape)

    def whole(self, array):
        """The matrix (M, size) of an array, with zeros for the others."""
        matrix = np.zeros(self.included.shape, array.dtype)
        matrix[self.included] = array.reshape(-1)
        return matrix


class PieceHessian:
    """The Hessian matrix of the parameters of a piece.

    Parameters
    ----------
    hessian : ndarray of shape (n_included, n_included)
    piece : Piece
    is_shift_invariant : bool
        Whether equal changes of all raw predictions of a row do not change the loss.
    is_rough : bool, default=False
        Whether the matrix has the rounding errors of single precision. Its factors are
        then in single precision, too, and further rounds correct the errors.
    """

    #: Most Newton steps of a round, each with fewer zeros that may move.
    most_steps = 5
    n_products = 0

    def __init__(self, hessian, piece, is_shift_invariant, is_rough=False):
        #: Smallest pivot of the factors so far, relative to the diagonal.
        self.least_pivot = 1.0
        self._hessian, self._piece, self._is_shift_invariant = (
            hessian,
            piece,
            is_shift_invariant,
        )
        self._to_factor = hessian.astype(np.float32) if is_rough else hessian
        diagonal = hessian.diagonal()
        self.diagonal = positive(diagonal).reshape(piece.shape)

    def product(self, direction):
        return (self._hessian @ direction.reshape(-1)).reshape(direction.shape)

    def newton_step(self, is_active, residual, stepped, shrinkage):
        """Minus the inverse on the active parameters, times a residual."""
        active = is_active.reshape(-1).nonzero()[0]
        # This takes a quarter of the time of np.ix_.
        matrix = self._to_factor.take(active, axis=0).take(active, axis=1)
        if shrinkage.is_by_column:
            # Either all or no entries of a column are active.
            columns = active[: len(active) // len(is_active)]
            _add_norms(matrix, shrinkage, stepped, columns)
        elif self._is_shift_invariant:
            self._add_common_part(matrix, is_active)
        step = np.zeros(is_active.size)
        solution, pivot = _solved(matrix, residual.reshape(-1).take(active))
        self.least_pivot = min(self.least_pivot, pivot)
        step[active] = -solution
        return step.reshape(is_active.shape)

    def _add_common_part(self, matrix, is_active):
        """Add curvature along equal changes of all entries of a column.

        A shift of whole columns is a separate step: ``Shrinkage.common_shift``.
        """
        piece = self._piece
        is_whole = piece.whole(is_active).all(axis=0)
        is_whole[piece.columns[piece.shrinkage.thresholds == 0]] = False
        if is_whole.any():
            numbers = piece.whole(np.cumsum(is_active) - 1)[:, is_whole]
            largest = piece.whole(self.diagonal)[:, is_whole].max(axis=0)
            matrix[numbers[:, None], numbers] += largest / len(numbers)


def _solved(matrix, right):
    """The solution of a symmetric system, damped if it has no factor.

    The second result is the smallest pivot relative to the diagonal, or zero with a
    damping. The matrix is overwritten.
    """
    if not len(right):
        return right, 1.0
    diagonal = matrix.reshape(-1)[:: len(matrix) + 1]
    curvature, unit, damping = diagonal.copy(), diagonal.max(initial=0), _DAMPING
    solve = sposv if matrix.dtype == np.float32 else dposv
    while True:
        diagonal[:] = curvature + damping * (unit or 1.0)
        # The factor takes the place of the lower triangle.
        factor, solution, failed = solve(matrix.T, right, overwrite_a=True)
        if not failed:
            damped = curvature + damping * (unit or 1.0)
            pivot = smallest_pivot(factor.diagonal(), damped)
            return solution, pivot if damping == _DAMPING else 0.0
        upper = np.triu(matrix, 1)
        matrix[:] = upper + upper.T
        damping *= 100


def _add_norms(hessian, shrinkage, stepped, columns):
    """Add the second derivatives of the norms of columns to the Hessian of these."""
    stepped, n_outputs = stepped[:, columns], len(stepped)
    curvature = shrinkage.restricted(columns).largest_curvature(stepped)
    some = np.flatnonzero(curvature > 0)
    unit = stepped[:, some] / np.sqrt((stepped[:, some] ** 2).sum(axis=0))
    across = np.eye(n_outputs)[:, :, None] - unit[:, None] * unit[None]
    blocks = hessian.reshape(n_outputs, len(columns), n_outputs, len(columns))
    # Advanced indices come first: (n_columns, M, M).
    blocks[:, some, :, some] += np.moveaxis(curvature[some] * across, 2, 0)
