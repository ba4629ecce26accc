"""Conjugate gradients for several systems that share their products."""

from typing import NamedTuple

import numpy as np

from ..._utils.arrays import rows_of
from ..._utils.typing import Array

# The same bound as in `newton/_conjugate_gradients.py`.
_NO_CURVATURE = float(np.finfo(float).eps) ** (2 / 3)


class Steps(NamedTuple):
    """Steps of all outputs, each of which lowers a quadratic model."""

    steps: Array  #: (m, size).
    least_curvatures: Array  #: Smallest curvature along the directions taken: (m,).


def conjugate_gradients(hessian, gradient, scaling, forcing_terms, least_gain):
    """Minimise the quadratic model of each output roughly.

    For each output this is the method of ``newton/_conjugate_gradients.py``, which
    stops in the same two cases: the residual is at most the forcing term times as long
    as the gradient, or a product adds less than `least_gain` times the mean to the
    decrease.

    Parameters
    ----------
    hessian : OutputsHessian
    gradient : ndarray of shape (m, size)
    scaling : OutputScaling
    forcing_terms : ndarray of shape (m,)
    least_gain : float

    Returns
    -------
    steps : Steps
    """
    n_outputs, size = gradient.shape
    result, least = np.zeros_like(gradient), np.full(n_outputs, np.inf)
    # Numbers of the outputs in the arrays below: those that are not done.
    outputs, steps, residual = np.arange(n_outputs), np.zeros_like(gradient), -gradient
    direction, squares = scaling.times(residual)
    enough = forcing_terms**2 * squares
    # Squared lengths of the directions, by recurrence; decreases of the models.
    lengths, decreases = squares.copy(), np.zeros(n_outputs)
    going, n_products = squares > 0, 0
    while going.any():
        if not going.all():
            result[outputs] = steps
            some = np.flatnonzero(going)
            hessian, scaling = hessian.of_outputs(some), scaling.of_outputs(some)
            matrices = (steps, residual, direction)
            steps, residual, direction = (rows_of(matrix, some) for matrix in matrices)
            vectors = (outputs, squares, enough, lengths, decreases, going)
            outputs, squares, enough, lengths, decreases, going = (
                vector[some] for vector in vectors
            )

        # 1. A product, and the curvature along the direction.
        n_products += 1
        product = hessian.product(direction)
        curvature = (direction * product).sum(axis=1)
        along = np.divide(curvature, lengths, where=going, out=np.full(len(going), 1.0))
        least[outputs] = np.where(going, np.fmin(least[outputs], along), least[outputs])
        is_flat = going & ~(along > _NO_CURVATURE)
        if n_products == 1:
            steps[is_flat] = direction[is_flat]
        going &= ~is_flat

        # 2. The step.
        ahead = np.divide(squares, curvature, where=going, out=np.zeros(len(going)))
        steps += ahead[:, None] * direction
        gains = ahead * squares / 2
        decreases += gains
        going &= gains >= least_gain * decreases / n_products
        if n_products == size:
            break

        # 3. The next direction.
        residual -= ahead[:, None] * product
        conjugate, remaining = scaling.times(residual)
        going &= remaining > enough
        part = np.divide(remaining, squares, where=going, out=np.zeros(len(going)))
        direction *= part[:, None]
        direction += conjugate
        squares, lengths = remaining, remaining + part**2 * lengths
    result[outputs] = steps
    return Steps(result, least)
