"""The objective of a linear model written out, and derivatives by differences."""

import numpy as np

from skprob.objective import LinearObjective, n_raw_predictions, split_rows
from skprob.targets import as_target


class Problem:
    """Data with rows of every kind of target, and the objective written out."""

    def __init__(
        self, n_classes, *, n_samples=15, n_features=4, seed=0, polytope="simplex"
    ):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n_samples, n_features)) * [1, 10, 0.1, 1]
        self.X[rng.random(self.X.shape) < 0.4] = 0
        self.X[:, 3] += 5
        Q = rng.dirichlet(np.ones(n_classes), size=n_samples)
        Q[::3] = np.eye(n_classes)[rng.integers(n_classes, size=len(Q[::3]))]
        self.Q = Q
        self.weight = rng.uniform(0.2, 3, n_samples)
        self.weight[[1, 4]] = 0
        self.n_outputs = n_raw_predictions(n_classes, polytope)
        self.coef = rng.normal(size=(self.n_outputs, n_features)) / 4
        self.intercept = rng.normal(size=self.n_outputs) / 2

    def objective(self, loss, *, X=None, l2=0.1, fit_intercept=True, target=None):
        X = self.X if X is None else X
        target = target or as_target(self.Q, self.Q.shape, X.dtype)
        blocks = split_rows(X, target, self.weight)
        return LinearObjective(blocks, loss, l2=l2, fit_intercept=fit_intercept)

    def scores(self, fit_intercept=True):
        """Scores of the model, (-u/2, +u/2) with one output."""
        scores = self.X @ self.coef.T + self.intercept * fit_intercept
        return scores if self.n_outputs > 1 else np.hstack([-scores / 2, scores / 2])

    def formula(self, loss, *, l2=0.1, fit_intercept=True):
        """Σ s ℓ / Σ s + ½ l2 ‖W‖²."""
        losses = loss.value(self.scores(fit_intercept), self.Q)
        value = np.average(losses, weights=self.weight)
        return value + l2 / 2 * (self.coef**2).sum()

    def slope(self, loss, *, l2=0.1, fit_intercept=True):
        """Its gradient in the coefficients and in the intercepts."""
        _, residual = loss.value_and_gradient(self.scores(fit_intercept), self.Q)
        if self.n_outputs == 1:
            residual = (residual[:, 1:] - residual[:, :1]) / 2
        residual = residual * (self.weight / self.weight.sum())[:, None]
        return residual.T @ self.X + l2 * self.coef, residual.sum(axis=0)


def in_model(objective, gradient):
    """A gradient in parameters as one in coefficients and intercepts."""
    mean, scale, fit_intercept = objective.units
    rows = gradient.reshape(objective.shape)
    if not fit_intercept:
        return rows * scale, np.zeros(len(rows))
    return rows[:, :-1] * scale + np.outer(rows[:, -1], mean), rows[:, -1]


def value_only(objective, x):
    return objective.value_and_gradient(x)[0]


def gradient_at(objective, x):
    return objective.value_and_gradient(x)[1]


def by_differences(function, point, step):
    moves = step * np.eye(len(point))
    return np.array(
        [(function(point + m) - function(point - m)) / (2 * step) for m in moves]
    )
