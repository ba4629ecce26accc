"""Conjugate gradients for several systems that share their products."""

from typing import NamedTuple

import numpy as np

from ..._utils.typing import Array
from ._scaling import squared_lengths

# The same bound as in `newton/_conjugate_gradients.py`.
_NO_CURVATURE = float(np.finfo(float).eps) ** (2 / 3)


class Steps(NamedTuple):
    """Steps of all outputs, each of which lowers a quadratic model."""

    steps: Array  #: (size, m).
    least_curvatures: Array  #: Smallest curvature along the directions taken: (m,).


def conjugate_gradients(hessian, gradient, forcing_terms, least_gain, n_kept=0):
    """Minimise the quadratic model of each output roughly.

    For each output this is the method of ``newton/_conjugate_gradients.py``, which
    stops in the same two cases: the residual is at most the forcing term times as long
    as the gradient, or a product adds less than `least_gain` times the mean to the
    decrease. Each Hessian is about the identity.

    In exact arithmetic the residuals are orthogonal. If an eigenvalue is much larger
    than the others, residuals in single precision get components along its eigenvector
    again. They are removed by projections, because the first residuals span this
    eigenvector nearly.

    Parameters
    ----------
    hessian : OutputsHessian
    gradient : ndarray of shape (size, m)
        In the variables of the Hessian; arrays have its floating-point type.
    forcing_terms : ndarray of shape (m,)
    least_gain : float
    n_kept : int, default=0
        Number of first residuals to which the later ones are made orthogonal.

    Returns
    -------
    steps : Steps
    """
    size, n_outputs = gradient.shape
    result, least = np.zeros_like(gradient), np.full(n_outputs, np.inf)
    # Numbers of the outputs in the arrays below: those that are not done.
    outputs, steps, residual = np.arange(n_outputs), np.zeros_like(gradient), -gradient
    direction, squares = residual.copy(), squared_lengths(residual)
    enough = forcing_terms**2 * squares
    # Squared lengths of the directions, by recurrence; decreases of the models.
    lengths, decreases = squares.copy(), np.zeros(n_outputs)
    going, n_products = squares > 0, 0
    # The first residuals, divided by their lengths.
    kept: list = []
    while going.any():
        if not going.all():
            result[:, outputs[~going]] = steps[:, ~going]
            some = np.flatnonzero(going)
            hessian = hessian.of_outputs(some)
            steps, residual, direction, *kept = (
                matrix.take(some, axis=1)
                for matrix in (steps, residual, direction, *kept)
            )
            vectors = (outputs, squares, enough, lengths, decreases, going)
            outputs, squares, enough, lengths, decreases, going = (
                vector[some] for vector in vectors
            )

        # 1. A product, and the curvature along the direction.
        n_products += 1
        product = hessian.product(direction)
        curvature = np.einsum("jk,jk->k", direction, product).astype(np.float64)
        along = np.divide(curvature, lengths, where=going, out=np.full(len(going), 1.0))
        least[outputs] = np.where(going, np.fmin(least[outputs], along), least[outputs])
        is_flat = going & ~(along > _NO_CURVATURE)
        if n_products == 1:
            steps[:, is_flat] = direction[:, is_flat]
        going &= ~is_flat

        # 2. The step.
        ahead = np.divide(squares, curvature, where=going, out=np.zeros(len(going)))
        rounded = ahead.astype(steps.dtype)
        steps += rounded * direction
        gains = ahead * squares / 2
        decreases += gains
        going &= gains >= least_gain * decreases / n_products
        if n_products == size:
            break

        # 3. The next direction.
        if len(kept) < n_kept:
            lengths_of_residuals = np.sqrt(np.where(going, squares, 1))
            kept.append(residual / lengths_of_residuals.astype(residual.dtype))
        product *= rounded
        residual -= product
        for first in kept:
            residual -= first * np.einsum("jk,jk->k", first, residual)
        remaining = squared_lengths(residual)
        going &= remaining > enough
        part = np.divide(remaining, squares, where=going, out=np.zeros(len(going)))
        direction *= part.astype(direction.dtype)
        direction += residual
        squares, lengths = remaining, remaining + part**2 * lengths
    result[:, outputs] = steps
    return Steps(result, least)
