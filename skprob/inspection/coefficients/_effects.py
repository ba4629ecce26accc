"""Mean effects of features on probabilities, and their derivatives.

The effect of feature j on class k is a mean over rows of

    ∂p_k / ∂x_j = Σ_m J_km W_mj,

with J the Jacobian in raw predictions. With H_kmn the second derivatives of p_k, its
derivative in the coefficient W_ml is the mean of J_km δ_jl + Σ_n H_kmn W_nj x_l.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..._utils.arrays import dense
from ._linearized import linearized

# Number of arrays of the size of the scores in a linearization and its products.
_N_ARRAYS = 8


def effects_of(rows, dummies, with_gradient):
    """Weighted mean effects of the features over rows, and their gradient.

    Parameters
    ----------
    rows : FittedRows
    dummies : ndarray of int
        Columns of X whose effect is the difference between their values 1 and 0.
    with_gradient : bool

    Returns
    -------
    effects : ndarray of shape (n_scores, n_features)
    gradient : ndarray of shape (n_scores, n_features, M * size) or None
        Derivatives in the coefficients.
    """
    weight = rows.weight / rows.weight.sum()
    effects, gradient = _slopes(rows, weight, with_gradient)
    for j in dummies:
        effects[:, j], step_gradient = _step(rows, weight, j, with_gradient)
        if with_gradient:
            gradient[:, j] = step_gradient
    if not with_gradient:
        return effects, None
    return effects, gradient.reshape(*effects.shape, -1)


def dummies_of(X):
    """Columns with the values 0 and 1 and no others."""
    X = sparse.csc_array(X) if sparse.issparse(X) else X
    is_binary = np.asarray(abs(X * X - X).sum(axis=0)).ravel() == 0
    mean = np.asarray(X.mean(axis=0)).ravel()
    return np.flatnonzero(is_binary & (0 < mean) & (mean < 1))


def _slopes(rows, weight, with_gradient):
    """Mean derivatives of the probabilities in all features, and their gradient."""
    M, n_features = len(rows.coef), rows.X.shape[1]
    coef, features = rows.coef[:, :n_features], np.arange(n_features)
    effects, gradient = np.zeros((rows.n_scores, n_features)), None
    if with_gradient:
        gradient = np.zeros((rows.n_scores, n_features, *rows.coef.shape))
    for batch in rows.blocks(_N_ARRAYS * rows.n_scores):
        linear, row_weight = linearized(rows.model, rows.scores(batch)), weight[batch]
        units = [rows.unit(len(row_weight), m) for m in range(M)]
        for k in range(rows.n_scores):
            cotangent = _one_hot(k, linear.probabilities)
            slope = row_weight @ rows.to_raw(linear.vjp(cotangent))
            effects[k] += slope @ coef
            if not with_gradient:
                continue
            gradient[k, features, :, features] += slope
            for unit, coefficients in zip(units, coef, strict=True):
                curvature = rows.to_raw(linear.vjp_derivative(cotangent, unit.copy()))
                sums = rows.weighted_sums(batch, curvature * row_weight[:, None])
                gradient[k] += coefficients[:, None, None] * sums
    return effects, gradient


def _step(rows, weight, feature, with_gradient):
    """Mean change of the probabilities as a feature changes from 0 to 1."""
    effect = np.zeros(rows.n_scores)
    gradient = np.zeros((rows.n_scores, *rows.coef.shape)) if with_gradient else None
    for batch in rows.blocks(_N_ARRAYS * rows.n_scores):
        scores, row_weight = rows.scores(batch), weight[batch]
        along = rows.to_scores(rows.coef[:, feature] * np.ones((len(scores), 1)))
        current = dense(rows.X[batch][:, [feature]])
        for value, sign in ((1.0, 1.0), (0.0, -1.0)):
            linear = linearized(rows.model, scores + (value - current) * along)
            effect += sign * (row_weight @ linear.probabilities)
            if not with_gradient:
                continue
            for k in range(rows.n_scores):
                cotangent = _one_hot(k, scores)
                slope = rows.to_raw(linear.vjp(cotangent)) * row_weight[:, None]
                sums = rows.weighted_sums(batch, slope)
                sums[:, feature] = value * slope.sum(axis=0)
                gradient[k] += sign * sums
    return effect, gradient


def _one_hot(k, scores):
    """Rows of zeros of the shape of scores, with ones in column k."""
    indicator = np.zeros_like(scores)
    indicator[:, k] = 1
    return indicator
