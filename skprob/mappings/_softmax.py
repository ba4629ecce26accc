"""Softmax."""

import numpy as np
from scipy.special import xlogy

from ._base import Linearization, Mapping
from ._jacobian import entmax_linearization


class Softmax(Mapping):
    has_potential = True

    def probabilities(self, scores):
        p = np.exp(scores, out=scores)
        p /= p.sum(axis=1, keepdims=True)
        return p

    def probabilities_and_potential(self, scores):
        p = np.exp(scores, out=scores)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        return p, np.log(total[:, 0])

    def negative_entropy(self, probabilities):
        return xlogy(probabilities, probabilities).sum(axis=1)

    def linearize(self, scores):
        return entmax_linearization(self.probabilities(scores), 1)

    def log_linearize(self, scores):
        log_p = scores.copy(order="K")
        p, potential = self.probabilities_and_potential(scores)
        log_p -= potential[:, None]

        def jvp(direction):
            return direction - np.einsum("nk,nk->n", p, direction)[:, None]

        def vjp(direction):
            return direction - p * direction.sum(axis=1, keepdims=True)

        def vjp_derivative(cotangent, direction):
            return -cotangent.sum(axis=1, keepdims=True) * (p * jvp(direction))

        return Linearization(log_p, jvp, vjp, vjp_derivative)
