"""Entmax and sparsemax: provisional, exact by Newton in the threshold."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from ._base import Mapping
from ._jacobian import entmax_linearization
from ._softmax import Softmax


def solve(scores, alpha):
    beta = alpha - 1
    lam = np.zeros((scores.shape[0], 1), dtype=scores.dtype)
    for _ in range(100):
        x = 1 + beta * (scores - lam)
        np.maximum(x, 0, out=x)
        with np.errstate(divide="ignore"):
            logx = np.log(x)
        p = np.exp(logx / beta)
        S = p.sum(axis=1, keepdims=True)
        A = np.exp(logx * (1 / beta - 1)).sum(axis=1, keepdims=True) if beta != 1 else (x > 0).sum(axis=1, keepdims=True)
        step = -S * np.expm1(-beta * np.log(S)) / (beta * A)
        lam = lam + step
        if np.abs(step).max(initial=0) <= 4 * np.finfo(scores.dtype).eps:
            break
    with np.errstate(divide="ignore"):
        p = np.exp(np.log1p(np.maximum(beta * (scores - lam), -1)) / beta)
    p /= p.sum(axis=1, keepdims=True)
    return p, lam[:, 0]


class Entmax(Mapping):
    _parameter_constraints = {"alpha": [Interval(Real, 1, None, closed="left")]}
    has_potential = True

    def __init__(self, alpha=1.5):
        self.alpha = alpha

    @property
    def has_zeros(self):
        return self.alpha > 1

    def probabilities(self, scores):
        if self.alpha == 1:
            return Softmax().probabilities(scores)
        return solve(scores, self.alpha)[0]

    def probabilities_and_potential(self, scores):
        if self.alpha == 1:
            return Softmax().probabilities_and_potential(scores)
        p, lam = solve(scores, self.alpha)
        inner = np.einsum("nk,nk->n", p, np.maximum(scores, np.finfo(p.dtype).min))
        return p, inner * (1 - 1 / self.alpha) + lam / self.alpha

    def negative_entropy(self, probabilities):
        if self.alpha == 1:
            return Softmax().negative_entropy(probabilities)
        a = self.alpha
        return ((probabilities**a).sum(axis=1) - probabilities.sum(axis=1)) / (a * (a - 1))

    def linearize(self, scores):
        return entmax_linearization(self.probabilities(scores), self.alpha)

    def log_linearize(self, scores):
        if self.alpha == 1:
            return Softmax().log_linearize(scores)
        return super().log_linearize(scores)
