"""Second derivatives of the smooth part at one point, as a quadratic model needs them.

All have the diagonal (M, size), products with the Hessian, and about Newton's step on a
piece: on the active parameters, where the shrinkage has second derivatives, too.
"""

import numpy as np
from scipy.linalg.lapack import dposv, dpotrf, dpotri

from ..newton import conjugate_gradients

# Damping of the whole Hessian, in units of its diagonal.
_DAMPING = 1e-10


class WholeHessian:
    """The Hessian, written out."""

    n_products = 0

    def __init__(self, point, description):
        self._hessian, self._shape = point.hessian(), description.shape
        self._is_relative, shape = description.is_relative, description.shape
        diagonal = self._hessian.diagonal().reshape(shape)
        self.diagonal = np.maximum(diagonal, _least(diagonal))

    def product(self, direction):
        return (self._hessian @ direction.ravel()).reshape(self._shape)

    def newton_step(self, is_active, residual, stepped, shrinkage):
        """Minus the inverse on the active parameters, times a residual."""
        active = np.flatnonzero(is_active)
        hessian = self._hessian
        if shrinkage.is_by_column:
            hessian = hessian.copy()
            _add_norms(hessian.reshape(*self._shape, *self._shape), shrinkage, stepped)
        elif self._is_relative:
            # Equal changes of all entries of a column are another step.
            whole = np.flatnonzero(is_active.all(axis=0) & (shrinkage.thresholds > 0))
            hessian, unit = hessian.copy(), self.diagonal.max(axis=0)[whole]
            blocks = hessian.reshape(*self._shape, *self._shape)
            blocks[:, whole, :, whole] += unit[:, None, None] / len(is_active)
        matrix = hessian[np.ix_(active, active)]
        step = np.zeros(self._shape)
        step.reshape(-1)[active] = -_solved(matrix, residual.reshape(-1)[active])
        return step


def _solved(matrix, right):
    """The solution of a symmetric system, damped where it has no factor."""
    diagonal = matrix.reshape(-1)[:: len(matrix) + 1]
    curvature, unit, damping = diagonal.copy(), diagonal.max(initial=0), _DAMPING
    while True:
        diagonal[:] = curvature + damping * (unit or 1.0)
        _, solution, failed = dposv(matrix.T, right)
        if not failed:
            return solution
        damping *= 100


def _add_norms(hessian, shrinkage, stepped):
    """Add the second derivatives of norms of columns: hessian (M, size, M, size)."""
    columns = np.flatnonzero(stepped.any(axis=0) & (shrinkage.thresholds > 0))
    some = stepped[:, columns]
    largest = shrinkage.largest_curvature(stepped)[columns]
    unit = some / np.sqrt((some**2).sum(axis=0))
    across = np.eye(len(some))[:, :, None] - unit[:, None] * unit[None]
    # Advanced indices come first: (n_columns, M, M).
    hessian[:, columns, :, columns] += np.moveaxis(largest * across, 2, 0)


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
    """

    def __init__(self, point, shape, grams, forcing_term):
        self._point, self._shape, self._grams = point, shape, grams
        self._forcing_term, self.n_products = forcing_term, 0
        if grams is None:
            total, mean, deviation = point.moments()
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
            self.product,
            is_active,
            residual,
            stepped,
            shrinkage,
            inverse=inverse,
            forcing_term=self._forcing_term,
        )

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

    n_products = 0

    def __init__(self, point, shape, pairs, forcing_term):
        self._shape, self._forcing_term = shape, forcing_term
        total, mean, deviation = point.moments()
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
