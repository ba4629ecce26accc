"""Coordinates in which the Hessian is about the identity."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri


class Whitening:
    """Standardised parameters, whitened by a factor of the Gram matrix.

    With Gram matrices G_k = L_k L_kᵀ of the standardised features, the penalty added,
    the model is w_k = L_k⁻ᵀ v_k: then the diagonal blocks of the Hessian in v are
    identities. Where all classes can gain the same score without any effect, the
    blocks know nothing of that direction, which has but the penalty for a curvature:
    it gets coordinates of its own, and the others are kept orthogonal to it.

    Parameters
    ----------
    objective : object
        With ``coef_shape``, ``l2``, ``fit_intercept``, ``dtype``, ``pack``,
        ``unpack`` and ``scores_are_relative``.
    standardization : Standardization
    grams : ndarray of shape (M or 1, size, size)
        One for each output of the model, or one for all of them; size is n_features,
        plus one if there is an intercept.
    """

    def __init__(self, objective, standardization, grams):
        self._objective = objective
        n_outputs, n_features = objective.coef_shape
        ridge = np.zeros(grams.shape[1])
        # Divided twice: the square could overflow.
        ridge[:n_features] = objective.l2 / standardization.scale
        ridge[:n_features] /= standardization.scale
        # From rows of whitened parameters to rows of original ones, at once.
        self._standardization = standardization
        self._factors = self._unscaled(_inverse_factors(grams, ridge, objective.dtype))
        self._splits = len(grams) > 1 and objective.scores_are_relative
        if self._splits:
            typical = grams[:, range(len(ridge)), range(len(ridge))].mean(axis=0)
            common = np.maximum(ridge, _vanishing(objective.dtype) * typical.max())
            # Without a penalty there is no reason to go that way, but rounding.
            moves = ridge > 0
            self._common = np.zeros_like(ridge)
            self._common[moves] = 1 / np.sqrt(n_outputs * common[moves])

    def to_original(self, variables):
        """Original parameters of variables in the new coordinates."""
        n_outputs, n_features = self._objective.coef_shape
        if n_outputs == 1:
            # The parameters of one output are a row as they are.
            return variables @ self._factors[0]
        rows = variables.reshape(-1, self._factors.shape[1])
        if len(self._factors) == 1:
            original = rows @ self._factors[0]
        else:
            original = np.matmul(rows[:n_outputs, None, :], self._factors)[:, 0]
        if self._splits:
            common = self._unscaled(self._common * rows[n_outputs])
            original += common - original.sum(axis=0) / n_outputs
        coef, intercept = original[:, :n_features], original[:, n_features:]
        return self._objective.pack(coef, intercept.ravel())

    def gradient(self, gradient):
        """Gradient in the new coordinates, from the original gradient."""
        n_outputs, n_features = self._objective.coef_shape
        if n_outputs == 1:
            return self._factors[0] @ gradient
        rows = np.empty((n_outputs, self._factors.shape[1]))
        rows[:, :n_features], intercept = self._objective.unpack(gradient)
        if self._objective.fit_intercept:
            rows[:, -1] = intercept
        if len(self._factors) == 1:
            return (rows @ self._factors[0].T).ravel()
        if not self._splits:
            return np.matmul(self._factors, rows[:, :, None]).ravel()
        mean = rows.sum(axis=0) / n_outputs
        new = np.empty(rows.size + mean.size)
        own = new[: rows.size].reshape(*rows.shape, 1)
        np.matmul(self._factors, (rows - mean)[:, :, None], out=own)
        new[rows.size :] = n_outputs * self._common * self._scaled_adjoint(mean)
        return new

    def _unscaled(self, rows):
        """Rows of standardised parameters, made original ones in place."""
        coef = rows[..., : len(self._standardization.scale)]
        coef /= self._standardization.scale
        if self._objective.fit_intercept:
            rows[..., -1] -= coef @ self._standardization.mean
        return rows

    def _scaled_adjoint(self, row):
        coef = row[: len(self._standardization.scale)]
        if self._objective.fit_intercept:
            coef -= row[-1] * self._standardization.mean
        coef /= self._standardization.scale
        return row


def _vanishing(dtype):
    """Curvature, in units of the largest, that gradients and rounding cannot tell.

    A step divides the rounding of the gradient by it.
    """
    return np.finfo(dtype).eps ** 0.6


def _inverse_factors(grams, ridge, dtype):
    """L_k⁻¹ of each Gram matrix with the penalty.

    A constant feature, of which rounding is all that is left, stays as it is; other
    directions in which there is next to nothing get what rounding would leave.
    """
    hessians = grams.copy()
    # A view of the diagonals.
    diagonals = hessians.reshape(len(grams), -1)[:, :: len(ridge) + 1]
    # What rounding left is of the features' size: penalties, which those in small units
    # have large ones of, are exact.
    largest = diagonals.max(axis=1, initial=0, keepdims=True)
    diagonals += ridge
    largest[largest == 0] = 1
    flat = diagonals < np.sqrt(np.finfo(dtype).eps) * largest
    diagonals += np.where(flat, largest, 0)
    diagonals += _vanishing(dtype) * largest
    for hessian in hessians:
        hessian[...] = _inverse_factor(hessian, _vanishing(dtype))
    return hessians


def _inverse_factor(hessian, jitter):
    """L⁻¹ of one matrix; what makes it positive is added to its diagonal in place."""
    # A view in Fortran order, whose upper triangle is the lower one here.
    factor, failed = dpotrf(hessian.T)
    while failed:
        jitter *= 100
        hessian[np.diag_indices_from(hessian)] += jitter * hessian.diagonal().max()
        factor, failed = dpotrf(hessian.T)
    return dtrtri(factor, overwrite_c=True)[0].T
