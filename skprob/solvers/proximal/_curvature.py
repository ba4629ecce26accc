"""Functions that the kinds of second derivatives of the smooth part share.

`_piece_hessian.py` has the Hessian matrix of some parameters, `_hessian_products.py`
has products with the Hessian of all parameters, and `_lbfgs_matrix.py` approximates the
Hessian from the last steps.
"""

import numpy as np

from ..newton import conjugate_gradients


def conjugate_step(
    product, is_active, residual, stepped, shrinkage, *, inverse, **settings
):
    """Newton's step on the active parameters by conjugate gradients.

    The settings are those of :func:`conjugate_gradients`.
    """
    residual = np.where(is_active, residual, 0.0)

    def on_piece(direction):
        direction = direction.reshape(is_active.shape)
        result = product(direction)
        if shrinkage.is_by_column:
            result = result + shrinkage.curvature_product(stepped, direction)
        return np.where(is_active, result, 0.0).ravel()

    model = conjugate_gradients(on_piece, residual.ravel(), inverse, **settings)
    return model.step.reshape(is_active.shape)


def diagonal_inverse(diagonal, is_active, shrinkage, stepped):
    """The inverse of a diagonal on the active parameters, for conjugate gradients."""
    diagonal = diagonal + shrinkage.largest_curvature(stepped)
    unit = np.where(is_active, 1 / diagonal, 0.0).reshape(-1)

    def product(groups):
        scaled = unit * groups
        return scaled, np.einsum("gi,gi->g", scaled, groups)

    return product


def diagonal_at(point):
    """The diagonal (M, size) of the Hessian at a point, from moments of the columns."""
    total, mean, variance = point.curvature_moments()
    return positive(total[:, None] * (mean**2 + variance) + point.ridge)


def positive(diagonal):
    """A diagonal, raised to the least curvature that a proximal step divides by."""
    largest = float(diagonal.max(initial=0))
    return np.maximum(diagonal, 1e-8 * largest if largest > 0 else 1.0)
