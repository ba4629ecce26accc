"""A composite problem with the members that solvers declare to need, and no others."""

import copy
from dataclasses import replace

import numpy as np

from ..minimal_problems import SquaredHinges, SquaredHingesPoint


class CompositeHinges(SquaredHinges):
    """Squared hinges and a ridge, plus a shrinkage."""

    def __init__(self, X, signs, ridge, shrinkage, **kind):
        super().__init__(X, signs, ridge, has_shrinkage=True, **kind)
        self.shrinkage = shrinkage

    def at(self, parameters, known=None):  # Evaluated anew.
        return self.composed(SquaredHingesPoint(_Smooth(self), parameters))

    def at_part(self, whole, columns):  # Evaluated anew.
        matrix = whole.parameters.reshape(self.description.shape[0], -1)
        return self.at(matrix[:, columns].ravel())

    def composed(self, smooth):
        return CompositeHingesPoint(self, smooth)

    def value_and_gradient(self, parameters):
        point = self.at(parameters)
        return point.value, point.gradient

    def restricted(self, features):
        other = copy.copy(self)
        other._X = self._X[:, features]
        shape = self.description.shape[0], len(features)
        other.description = replace(
            self.description, n_stored=other._X.size, shape=shape
        )
        other.shrinkage = self.shrinkage.restricted(features)
        return other


class _Smooth(SquaredHinges):
    """The smooth part of a composite problem, which counts its passes."""

    def __init__(self, problem):
        vars(self).update(vars(problem))


class CompositeHingesPoint:
    """A composite problem at one point."""

    def __init__(self, problem, smooth):
        matrix = smooth.parameters.reshape(problem.description.shape)
        gradient = smooth.gradient.reshape(problem.description.shape)
        shrinkage = problem.shrinkage
        self.smooth, self.parameters = smooth, smooth.parameters
        self.value = smooth.value + shrinkage.value(matrix)
        self.gradient = shrinkage.smallest_subgradient(matrix, gradient).ravel()


def composite_optimum(X, signs, ridge, thresholds, by_column, n_steps=20_000):
    """Parameters (M, size) and value at the minimum, by FISTA with restarts."""
    length = 1 / (np.linalg.norm(X, 2) ** 2 / len(X) + ridge)
    W = before = np.zeros((signs.shape[1], X.shape[1]))
    t = 1.0
    for _ in range(n_steps):
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        V, t = W + (t - 1) / after * (W - before), after
        before = W
        margin = np.maximum(1 - signs * (X @ V.T), 0)
        U = V - length * ((-signs * margin).T @ X / len(X) + ridge * V)
        size = np.linalg.norm(U, axis=0) if by_column else abs(U)
        kept = np.maximum(size - length * thresholds, 0)
        W = U * kept / np.where(size > 0, size, 1)
        if np.vdot(V - W, W - before) > 0:
            t = 1.0
        if abs(W - before).max() < 1e-15:
            break
    margin = np.maximum(1 - signs * (X @ W.T), 0)
    size = np.linalg.norm(W, axis=0) if by_column else abs(W).sum(axis=0)
    value = (margin**2).sum() / (2 * len(X)) + ridge / 2 * (W**2).sum()
    return W, value + thresholds @ size
