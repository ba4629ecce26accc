"""Mean effects of features on probabilities, and their derivatives.

The effect of feature j on class k is a mean over rows of

    ∂p_k / ∂x_j = Σ_m J_km W_mj,

with J the Jacobian in raw predictions. With H_kmn the second derivatives of p_k, its
derivative in the coefficient W_ml is the mean of J_km δ_jl + Σ_n H_kmn W_nj x_l.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..._utils.pair import pair_adjoint, pair_scores
from ._linearized import linearized


def effects_of(rows, weight, dummies, with_gradient):
    """Mean effects of the features of some rows, and their gradient.

    Parameters
    ----------
    rows : FittedRows
    weight : ndarray of shape (n_samples,)
        Weights of the rows in the mean, with the sum 1.
    dummies : ndarray of int
        Columns of X whose effect is the difference between their values 1 and 0.
    with_gradient : bool

    Returns
    -------
    effects : ndarray of shape (n_scores, n_features)
    gradient : ndarray of shape (n_scores, n_features, M * size) or None
        Derivatives in the coefficients.
    """
    effects, gradient = _slopes(rows, weight, with_gradient)
    for j in dummies:
        effects[:, j], gradient[:, j] = _step(rows, weight, j, with_gradient)
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
    effects = np.zeros((rows.n_scores, n_features))
    gradient = np.zeros((rows.n_scores, n_features, *rows.coef.shape))
    for batch in rows.blocks():
        linear = linearized(rows.model, rows.scores(batch))
        weighted = rows.design(batch) * weight[batch, None]
        units = [_unit(rows, len(weighted), m) for m in range(M)]
        for k in range(rows.n_scores):
            cotangent = np.zeros((len(weighted), rows.n_scores))
            cotangent[:, k] = 1
            slope = weight[batch] @ _in_raw(rows, linear.vjp(cotangent))
            effects[k] += slope @ coef
            if not with_gradient:
                continue
            gradient[k, features, :, features] += slope
            for unit, coefficients in zip(units, coef, strict=True):
                curvature = _in_raw(rows, linear.vjp_derivative(cotangent, unit))
                gradient[k] += coefficients[:, None, None] * (curvature.T @ weighted)
    return effects, gradient


def _step(rows, weight, feature, with_gradient):
    """Mean change of the probabilities as a feature changes from 0 to 1."""
    effect = np.zeros(rows.n_scores)
    gradient = np.zeros((rows.n_scores, *rows.coef.shape))
    for batch in rows.blocks():
        scores, design = rows.scores(batch), rows.design(batch)
        along = rows.coef[:, feature] * np.ones((len(design), 1))
        along = pair_scores(along) if rows.is_pair else along
        current = design[:, feature].copy()
        for value, sign in ((1.0, 1.0), (0.0, -1.0)):
            design[:, feature] = value
            moved = scores + (value - current)[:, None] * along
            linear = linearized(rows.model, moved)
            effect += sign * (weight[batch] @ linear.probabilities)
            if not with_gradient:
                continue
            for k in range(rows.n_scores):
                cotangent = np.zeros_like(scores)
                cotangent[:, k] = 1
                slope = _in_raw(rows, linear.vjp(cotangent)) * weight[batch, None]
                gradient[k] += sign * (slope.T @ design)
    return effect, gradient


def _unit(rows, n_rows, m):
    """Change of the scores of rows as raw prediction m increases."""
    raw = np.zeros((n_rows, len(rows.coef)))
    raw[:, m] = 1
    return pair_scores(raw) if rows.is_pair else raw


def _in_raw(rows, change):
    """A derivative in the scores as one in the raw predictions."""
    return pair_adjoint(change) if rows.is_pair else change
