"""Second derivatives of the smooth part at one point, as a quadratic model needs them.

All have the diagonal (M, size), products with the Hessian, and about Newton's step on a
piece: on the active parameters, where the shrinkage has second derivatives, too.
"""

import numpy as np
from scipy.linalg.lapack import dposv, dpotrf, dpotri, sposv

from ..newton import conjugate_gradients

# Damping of a Hessian that is written out, in units of its diagonal.
_DAMPING = 1e-10


class Piece:
    """Some parameters of a matrix (M, size), in an array of their own.

    The others are zero and stay there. The array has one row; or M, of whole columns,
    for a shrinkage of columns.

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
    """The Hessian of the parameters of a piece, written out.

    Parameters
    ----------
    hessian : ndarray of shape (n_included, n_included)
    piece : Piece
    is_shift_invariant : bool
        Whether equal changes of all raw predictions change nothing but the penalty.
    is_rough : bool, default=False
        Whether it has the rounding errors of single precision. Its factors have them,
        too; further rounds take them away.
    """

    #: Most Newton steps of a round, each with fewer zeros that may move.
    most_steps = 5
    n_products = 0

    def __init__(self, hessian, piece, is_shift_invariant, is_rough=False):
        #: The smallest pivot of its factors so far, in units of the diagonal.
        self.least_pivot = 1.0
        self._hessian, self._piece, self._is_shift_invariant = (
            hessian,
            piece,
            is_shift_invariant,
        )
        self._to_factor = hessian.astype(np.float32) if is_rough else hessian
        diagonal = hessian.diagonal()
        self.diagonal = np.maximum(diagonal, _least(diagonal)).reshape(piece.shape)

    def product(self, direction):
        return (self._hessian @ direction.reshape(-1)).reshape(direction.shape)

    def newton_step(self, is_active, residual, stepped, shrinkage):
        """Minus the inverse on the active parameters, times a residual."""
        active = is_active.reshape(-1).nonzero()[0]
        # A quarter of the time of np.ix_.
        matrix = self._to_factor.take(active, axis=0).take(active, axis=1)
        if shrinkage.is_by_column:
            # Columns are active as a whole.
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

        They are another step.
        """
        piece = self._piece
        is_whole = piece.whole(is_active).all(axis=0)
        is_whole[piece.columns[piece.shrinkage.thresholds == 0]] = False
        if is_whole.any():
            numbers = piece.whole(np.cumsum(is_active) - 1)[:, is_whole]
            largest = piece.whole(self.diagonal)[:, is_whole].max(axis=0)
            matrix[numbers[:, None], numbers] += largest / len(numbers)


def _solved(matrix, right):
    """The solution of a symmetric system, damped where it has no factor.

    And the smallest pivot in units of the diagonal; zero where there is a damping. The
    matrix is overwritten.
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
            pivots = factor.diagonal() ** 2 / (curvature + damping * (unit or 1.0))
            return solution, float(pivots.min()) if damping == _DAMPING else 0.0
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


class HessianProducts:
    """Products with the Hessian, and conjugate gradients.

    They are preconditioned by Gram matrices, restricted to the active parameters of
    each output, or by the diagonal.

    Parameters
    ----------
    point : LinearPoint
    shape : (M, size)
    grams : ndarray of shape (M or 1, size, size), or None
    forcing_term : float
    precision : dtype
        The type in which conjugate gradients compute products.
    """

    #: By conjugate gradients, which take longer than the round gains.
    most_steps = 1

    def __init__(self, point, shape, grams, forcing_term, precision):
        self._point, self._shape, self._grams = point, shape, grams
        self._precision = precision
        self._forcing_term, self.n_products = forcing_term, 0
        if grams is None:
            total, mean, deviation = point.curvature_moments()
            diagonal = total * (deviation**2 + mean**2)
        else:
            diagonal = grams.diagonal(axis1=1, axis2=2)
        diagonal = np.broadcast_to(diagonal + point.ridge, shape)
        self.diagonal = np.maximum(diagonal, _least(diagonal))

    def product(self, direction):
        self.n_products += 1
        return self._point.hessian_product(direction.ravel()).reshape(self._shape)

    def newton_step(self, is_active, residual, stepped, shrinkage):
        """About minus the inverse on the active parameters, times a residual."""
        if self._grams is None:
            inverse = _diagonal_inverse(self.diagonal, is_active, shrinkage, stepped)
        else:
            inverse = self._gram_inverse(
                is_active, shrinkage.largest_curvature(stepped)
            )
        return _conjugate_step(
            self._rough_product,
            is_active,
            residual,
            stepped,
            shrinkage,
            inverse=inverse,
            forcing_term=self._forcing_term,
        )

    def _rough_product(self, direction):
        return self.product(direction.astype(self._precision, copy=False))

    def _gram_inverse(self, is_active, extra):
        """The inverses of the Gram matrices on the active parameters."""
        grams = np.broadcast_to(self._grams, (self._shape[0], *self._grams.shape[1:]))
        diagonal = self._point.ridge + extra
        inverses = np.stack(
            [
                _inverse_on(gram, diagonal, active)
                for gram, active in zip(grams, is_active, strict=True)
            ]
        )

        def product(groups):
            rows = groups.reshape(self._shape)
            scaled = np.matmul(inverses, rows[:, :, None])[:, :, 0].reshape(1, -1)
            return scaled, np.einsum("gi,gi->g", scaled, groups)

        return product


class LBFGSMatrix:
    """The L-BFGS approximation of the Hessian, from the last steps.

    Parameters
    ----------
    point : LinearPoint
    shape : (M, size)
    pairs : sequence of (ndarray, ndarray)
        Steps and changes of the gradient, both of shape (n_parameters,), with a
        positive inner product.
    forcing_term : float

    References
    ----------
    Byrd, Nocedal, Schnabel, "Representations of quasi-Newton matrices and their use in
    limited memory methods", Mathematical Programming 1994.
    """

    most_steps = 1
    n_products = 0

    def __init__(self, point, shape, pairs, forcing_term):
        self._shape, self._forcing_term = shape, forcing_term
        total, mean, deviation = point.curvature_moments()
        diagonal = total * (deviation**2 + mean**2) + point.ridge
        diagonal = np.broadcast_to(np.maximum(diagonal, _least(diagonal)), shape)
        self._factor = None
        if pairs:
            steps, changes = (np.array(each) for each in zip(*pairs, strict=True))
            flat = diagonal.reshape(-1)
            last = changes[-1] @ (changes[-1] / flat) / (steps[-1] @ changes[-1])
            diagonal = last * diagonal
            scaled = steps * diagonal.reshape(-1)
            inner = steps @ changes.T
            below = np.tril(inner, -1)
            middle = np.block(
                [[steps @ scaled.T, below], [below.T, -np.diag(np.diag(inner))]]
            )
            self._factor, self._middle = np.vstack([scaled, changes]), middle
        self.diagonal = diagonal

    def product(self, direction):
        result = self.diagonal * direction
        if self._factor is None:
            return result
        weights = np.linalg.solve(self._middle, self._factor @ direction.ravel())
        return result - (weights @ self._factor).reshape(self._shape)

    def newton_step(self, is_active, residual, stepped, shrinkage):
        """About minus the inverse on the active parameters, times a residual."""
        return _conjugate_step(
            self.product,
            is_active,
            residual,
            stepped,
            shrinkage,
            inverse=_diagonal_inverse(self.diagonal, is_active, shrinkage, stepped),
            forcing_term=self._forcing_term,
        )


def _conjugate_step(
    product, is_active, residual, stepped, shrinkage, *, inverse, forcing_term
):
    """Newton's step on the active parameters by conjugate gradients."""
    residual = np.where(is_active, residual, 0.0)

    def on_piece(direction):
        direction = direction.reshape(is_active.shape)
        result = product(direction)
        if shrinkage.is_by_column:
            result = result + shrinkage.curvature_product(stepped, direction)
        return np.where(is_active, result, 0.0).ravel()

    model = conjugate_gradients(
        on_piece, residual.ravel(), inverse, forcing_term=forcing_term
    )
    return model.step.reshape(is_active.shape)


def _diagonal_inverse(diagonal, is_active, shrinkage, stepped):
    """The inverse of a diagonal on the active parameters, for conjugate gradients."""
    diagonal = diagonal + shrinkage.largest_curvature(stepped)
    unit = np.where(is_active, 1 / diagonal, 0.0).reshape(-1)

    def product(groups):
        scaled = unit * groups
        return scaled, np.einsum("gi,gi->g", scaled, groups)

    return product


def _inverse_on(gram, diagonal, is_active):
    """Inverse of a Gram matrix on the active columns, with zeros for the others."""
    inverse, active = np.zeros_like(gram), np.flatnonzero(is_active)
    if not len(active):
        return inverse
    matrix = gram[np.ix_(active, active)]
    entries = matrix.reshape(-1)[:: len(active) + 1]
    entries += diagonal[active]
    unit, jitter = float(entries.max(initial=0)) or 1.0, 1e-9
    entries += jitter * unit
    factor, failed = dpotrf(matrix.T)
    while failed:
        jitter *= 100
        entries += jitter * unit
        factor, failed = dpotrf(matrix.T)
    upper, _ = dpotri(factor)
    upper = np.triu(upper)
    inverse[np.ix_(active, active)] = upper + np.triu(upper, 1).T
    return inverse


def _least(diagonal):
    """Least curvature that a proximal step divides by."""
    largest = float(diagonal.max(initial=0))
    return 1e-8 * largest if largest > 0 else 1.0
