"""Coordinates by a factor of the Gram matrix, on the device of the data.

With thousands of features the factor and products with it take longer on the host than
all products with X take on a GPU.
"""

import numpy as np

from ..._utils.arrays import (
    all_finite,
    asarray_like,
    concat,
    identity_like,
    namespace,
    reshape,
    to_numpy,
)
from .._coordinates import (
    raise_diagonals,
    scale_of_common_part,
    vanishing_curvature,
)
from ._inverse_factor import inverse_factor


class WhiteningOnDevice:
    """The coordinates of ``Whitening``, with Gram matrices of another library.

    Parameters and gradients are NumPy arrays, and variables in these coordinates arrays
    on the device. So a gradient is copied to the device, and a step back.
    """

    def __init__(self, grams, ridge, description):
        self._n_outputs = n_outputs = description.shape[0]
        precision, vanishing = vanishing_curvature(description)
        diagonals = _diagonals(grams)
        raised = diagonals.copy()
        raise_diagonals(raised, ridge, precision, vanishing)
        self._factors = _inverse_factors(grams, raised, vanishing)
        self._splits = len(diagonals) > 1 and description.is_shift_invariant
        if self._splits:
            typical = diagonals.mean(axis=0)
            common = scale_of_common_part(typical, ridge, vanishing, n_outputs)
            self._common = asarray_like(common, grams)

    def to_parameters(self, variables):
        xp, factors = namespace(self._factors), self._factors
        rows = reshape(asarray_like(variables, factors), (-1, factors.shape[1]))
        if factors.shape[0] == 1:
            return to_numpy(rows @ factors[0, ...]).ravel()
        n_outputs = self._n_outputs
        coordinates = (rows[:n_outputs, None, :] @ factors)[:, 0, :]
        if self._splits:
            common = self._common * rows[n_outputs, :]
            coordinates += common - xp.mean(coordinates, axis=0)
        return to_numpy(coordinates).ravel()

    def gradient(self, gradient):
        xp, factors = namespace(self._factors), self._factors
        rows = asarray_like(gradient.reshape(self._n_outputs, -1), factors)
        if factors.shape[0] == 1:
            return reshape(rows @ factors[0, ...].T, (-1,))
        if not self._splits:
            return reshape(factors @ rows[:, :, None], (-1,))
        mean = xp.mean(rows, axis=0)
        of_outputs = (factors @ (rows - mean)[:, :, None])[:, :, 0]
        common = self._n_outputs * self._common * mean
        return reshape(concat([of_outputs, common[None, :]]), (-1,))


def _diagonals(grams):
    """Diagonals (n_grams, size) of matrices, as a NumPy array of float64."""
    n_grams, size, _ = grams.shape
    entries = reshape(grams, (n_grams, size**2))[:, :: size + 1]
    return to_numpy(entries).astype(np.float64)


def _inverse_factors(grams, diagonals, vanishing):
    """L_k⁻¹ of Gram matrices with other diagonals (n_grams, size).

    They are computed in one call, or one after the other if this fails for some.
    """
    xp, identity = namespace(grams), identity_like(grams.shape[1], grams)

    def with_diagonals(diagonals):
        return xp.where(identity > 0, asarray_like(diagonals, grams)[:, None, :], grams)

    factors = inverse_factor(with_diagonals(diagonals))
    if factors is not None:
        return factors
    factors = []
    for k, diagonal in enumerate(diagonals):
        factors.append(_inverse_factor(grams[k, ...], diagonal, vanishing))
    return xp.stack(factors)


def _inverse_factor(gram, diagonal, jitter):
    """L⁻¹ of one matrix with another diagonal, which grows until it is positive.

    The result is the identity if numbers have overflowed.
    """
    xp, identity = namespace(gram), identity_like(gram.shape[0], gram)
    if not (np.isfinite(diagonal).all() and all_finite(gram)):
        return identity
    while True:
        hessian = xp.where(identity > 0, asarray_like(diagonal, gram), gram)
        factor = inverse_factor(hessian)
        if factor is not None:
            return factor
        jitter *= 100
        diagonal = diagonal + jitter * diagonal.max()
