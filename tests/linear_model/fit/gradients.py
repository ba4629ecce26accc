"""Gradients of objectives, from the probabilities of a fitted model."""

import numpy as np

from skprob.losses import FenchelYoungLoss


def target_matrix(kind, y):
    """The target as a dense matrix of distributions, from its definition."""
    if kind == "class":
        return (y[:, None] == np.unique(y)).astype(float)
    return y / y.sum(axis=1, keepdims=True)


def gradient(model, X, Q, weight):
    """Gradient in the coefficients and intercepts, from the probabilities alone."""
    if isinstance(model.loss_, FenchelYoungLoss):
        residual = model.predict_proba(X) - Q
    else:
        residual = log_loss_residual(model, X, Q)
    if len(model.coef_) == 1:
        residual = (residual[:, 1:] - residual[:, :1]) / 2
    residual = residual * weight[:, None] / weight.sum()
    penalty = model.coef_ / (model.C_ * weight.sum())
    return residual.T @ X + penalty, residual.sum(axis=0)


def log_loss_residual(model, X, Q, step=1e-6):
    scores = model.decision_function(X)
    if scores.ndim == 1:
        scores = np.stack([-scores / 2, scores / 2], axis=1)
    residual = np.empty_like(scores)
    for k, direction in enumerate(step * np.eye(scores.shape[1])):
        up, down = (
            model.mapping_(scores + direction),
            model.mapping_(scores - direction),
        )
        residual[:, k] = -(Q * (np.log(up) - np.log(down))).sum(axis=1) / (2 * step)
    return residual
