"""Coordinates in which the Hessian is about the identity.

`to_parameters` maps variables in the coordinates to parameters; `gradient` is its
adjoint, and maps gradients in the parameters to gradients in the variables.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from .._utils.single_precision import smallest_pivot

# Least curvature of an output, as a share of the mean of all outputs. In units of less
# curvature products in single precision would have large rounding errors.
_LEAST_SHARE = 1e-4


class Identity:
    """Coordinates that are the parameters themselves."""

    def to_parameters(self, variables):
        return variables

    gradient = to_parameters


class Scaling:
    """Parameters of columns that are centred and scaled, output by output.

    `moments` are the total curvature of each output (M,), and means and variances (M,
    size) of the columns, weighted by it; `ridge` (size,) has the second derivatives of
    the penalty. With an intercept the columns are centred at these means.

    In units of an output's own deviations the diagonal of its Hessian would be one. The
    unit here is the geometric mean of it and of the same unit for all outputs: along a
    step rows get curvature in other outputs. With the unit and the means of all outputs
    label sets of enron take 1.7 (softmax) and 2.1 times (1.5-entmax) the passes, other
    texts 0.8 to 1.1 times. Without `own_units` the unit is that of all outputs, at an
    output's own means.
    """

    def __init__(self, moments, ridge, description, own_units=True):
        total, mean, variance = moments
        if description.has_intercept:
            square = variance.copy()
            square[:, -1] = 1.0
        else:
            square = variance + mean**2
        curvature = total[:, None] * square
        common = curvature.mean(axis=0)
        if own_units:
            curvature = np.maximum(curvature, _LEAST_SHARE * common)
            curvature = np.sqrt(curvature * common)
        else:
            curvature = np.broadcast_to(common, curvature.shape)
        curvature = curvature + ridge
        # Where there is no curvature the scale is one.
        largest, eps = curvature.max(), np.finfo(float).eps
        least = eps * largest if largest > eps**2 else 1.0
        self._unit = 1 / np.sqrt(np.maximum(curvature, least))
        #: Means of the scaled columns, which move the constants.
        self._center = None
        if description.has_intercept:
            self._center = mean[:, :-1] * self._unit[:, :-1]

    def hessian_at(self, point):
        """The ``ScaledHessian`` at a point in these coordinates."""
        return point.scaled_hessian(self._unit, self._center)

    def to_parameters(self, variables):
        variables = variables.reshape(self._unit.shape)
        rows = self._unit * variables
        if self._center is not None:
            rows[:, -1] -= np.einsum("kj,kj->k", variables[:, :-1], self._center)
        return rows.ravel()

    def gradient(self, gradient):
        rows = gradient.reshape(self._unit.shape)
        scaled = rows * self._unit
        if self._center is not None:
            scaled[:, :-1] -= rows[:, -1:] * self._center
        return scaled.ravel()


class Whitening:
    """Parameters whitened by a factor of their Gram matrix, class by class.

    With Gram matrices G_k = L_k L_kᵀ (M or 1, size, size), to which the penalty `ridge`
    (size,) is added, the parameters of class k are L_k⁻ᵀ v_k: then the diagonal blocks
    of the Hessian in v are identities. If the loss is shift invariant, only the penalty
    has curvature along equal changes of all raw predictions, which the blocks do not
    show. So this direction has separate coordinates, and the others are kept orthogonal
    to it: fits take 0.7 times as long, and pendigits down to 0.25 times.
    """

    def __init__(self, grams, ridge, description):
        self._n_outputs = n_outputs = description.shape[0]
        precision, vanishing = vanishing_curvature(description)
        self._factors, diagonals = _inverse_factors(grams, ridge, precision, vanishing)
        roots = self._factors.reshape(len(grams), -1)[:, :: len(ridge) + 1]
        #: Smallest pivot of the matrices, relative to the entry of the diagonal.
        self.least_pivot = smallest_pivot(1 / roots, diagonals)
        self._splits = len(grams) > 1 and description.is_shift_invariant
        if self._splits:
            typical = grams[:, range(len(ridge)), range(len(ridge))].mean(axis=0)
            self._common = scale_of_common_part(typical, ridge, vanishing, n_outputs)

    def to_parameters(self, variables):
        rows = variables.reshape(-1, self._factors.shape[1])
        if len(self._factors) == 1:
            return (rows @ self._factors[0]).ravel()
        coordinates = np.matmul(rows[: self._n_outputs, None, :], self._factors)[:, 0]
        if self._splits:
            common = self._common * rows[self._n_outputs]
            coordinates += common - coordinates.sum(axis=0) / self._n_outputs
        return coordinates.ravel()

    def gradient(self, gradient):
        rows = gradient.reshape(self._n_outputs, -1)
        if len(self._factors) == 1:
            return (rows @ self._factors[0].T).ravel()
        if not self._splits:
            return np.matmul(self._factors, rows[:, :, None]).ravel()
        mean = rows.sum(axis=0) / self._n_outputs
        of_outputs = np.matmul(self._factors, (rows - mean)[:, :, None])
        return np.append(of_outputs, self._n_outputs * self._common * mean)


def vanishing_curvature(description):
    """Precision of the data, and the curvature below which it is a rounding error.

    This curvature is relative to the largest one. A step divides the rounding error of
    the gradient by the curvature.
    """
    precision = np.finfo(description.dtype).eps
    return precision, precision**0.6


def scale_of_common_part(typical, ridge, vanishing, n_outputs):
    """Scales of the coordinates in which all raw predictions change alike.

    `typical` are the mean diagonals of the Gram matrices.
    """
    common = np.maximum(ridge, vanishing * typical.max())
    # Only rounding errors lead along this direction if there is no penalty.
    common[ridge == 0] = np.inf
    return 1 / np.sqrt(n_outputs * common)


def raise_diagonals(diagonals, ridge, precision, vanishing):
    """Add, in place, the penalty and a jitter to diagonals (n_grams, size).

    With the jitter the matrices have Cholesky factors.
    """
    # The jitter is relative to the features' curvature, because penalties are exact.
    largest = diagonals.max(axis=1, initial=0, keepdims=True)
    diagonals += ridge
    # Features are standardised and losses are in nats: a smaller curvature is zero.
    largest[largest < precision**2] = 1
    flat = diagonals < np.sqrt(precision) * largest
    diagonals += np.where(flat, largest, 0)
    diagonals += vanishing * largest


def _inverse_factors(grams, ridge, precision, vanishing):
    """L_k⁻¹ of each Gram matrix with the penalty, and the diagonals of the matrices.

    A constant feature, whose curvature is a rounding error, keeps its scale. Directions
    with a negligible curvature get that of rounding errors.
    """
    hessians = grams.copy()
    # A view of the diagonals.
    diagonals = hessians.reshape(len(grams), -1)[:, :: len(ridge) + 1]
    raise_diagonals(diagonals, ridge, precision, vanishing)
    raised = diagonals.copy()
    for hessian in hessians:
        hessian[...] = _inverse_factor(hessian, vanishing)
    return hessians, raised


def _inverse_factor(hessian, jitter):
    """L⁻¹ of one matrix; the `jitter` is added to its diagonal, in place, if necessary.

    The result is the identity if numbers have overflowed.
    """
    if not np.isfinite(hessian).all():
        return np.eye(len(hessian))
    # A view in Fortran order, whose upper triangle is the lower one here.
    factor, failed = dpotrf(hessian.T)
    while failed:
        jitter *= 100
        hessian[np.diag_indices_from(hessian)] += jitter * hessian.diagonal().max()
        factor, failed = dpotrf(hessian.T)
    return dtrtri(factor, overwrite_c=True)[0].T
