"""The objective once more, in plain NumPy, and its minimum by Newton's method.

Nothing here is skprob's or scikit-learn's, so that it can judge both. With scores
z = W x + b (minus and plus half of the one output, for two classes) the objective is

    mean_i [F(z_i) - z_i[y_i]] + ‖W‖² / (2 C n),

where F is the potential of softmax (α = 1), 1.5-entmax or sparsemax (α = 2).
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logsumexp

# Newton's method ends with the step whose expected decrease is at most this share of
# the objective.
PRECISION = 1e-12
ROUNDING = 1e-14
# Largest number of features with which the preconditioner is a Gram matrix.
MAX_DENSE = 3000


class Optimum(NamedTuple):
    """Parameters at the minimum, its value, and the last step's expected decrease."""

    theta: np.ndarray
    value: float
    decrement: float


class Reference:
    """The objective of a problem.

    Parameters are arrays of shape (M, n_features + 1), the intercepts last; they stay
    zero where there are none.
    """

    def __init__(self, problem, alpha, C):
        self.X, self.y = problem.X, problem.y
        self.fit_intercept = problem.fit_intercept
        self.alpha = alpha
        self.n, self.d = self.X.shape
        n_classes = self.y.max() + 1
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.l2 = 1 / (C * self.n)

    def zeros(self):
        return np.zeros((self.n_outputs, self.d + 1))

    def value(self, theta):
        return self._loss(theta)[1]

    def value_and_gradient(self, theta):
        p, value = self._loss(theta)
        return value, self._gradient(theta, p)

    def _loss(self, theta):
        """Probabilities, and the objective."""
        z = self._scores(theta)
        # Relative to the true class's score, so that no small loss is lost in rounding.
        z -= z[np.arange(self.n), self.y][:, None]
        p, potential = entmax_and_potential(z, self.alpha)
        loss = np.mean(potential)
        return p, loss + self.l2 / 2 * np.sum(theta[:, :-1] ** 2)

    def _gradient(self, theta, p):
        residual = p.copy()
        residual[np.arange(self.n), self.y] -= 1
        gradient = self._adjoint(residual / self.n)
        gradient[:, :-1] += self.l2 * theta[:, :-1]
        return gradient

    def hessian(self, p):
        """Hessian product, and the mean curvature of each row, at probabilities."""
        s = p if self.alpha == 1 else np.where(p > 0, p ** (2 - self.alpha), 0.0)
        share = s / s.sum(axis=1, keepdims=True)

        def product(direction):
            u = self._scores(direction)
            u = s * (u - np.sum(share * u, axis=1, keepdims=True))
            result = self._adjoint(u / self.n)
            result[:, :-1] += self.l2 * direction[:, :-1]
            return result

        return product, np.mean(s * (1 - share), axis=1)

    def _scores(self, theta):
        outputs = np.asarray(self.X @ theta[:, :-1].T) + theta[:, -1]
        return outputs if self.n_outputs > 1 else np.hstack([-outputs, outputs]) / 2

    def _adjoint(self, residual):
        if self.n_outputs == 1:
            residual = (residual[:, 1:] - residual[:, :1]) / 2
        gradient = np.zeros((self.n_outputs, self.d + 1))
        gradient[:, :-1] = (self.X.T @ residual).T
        if self.fit_intercept:
            gradient[:, -1] = residual.sum(axis=0)
        return gradient

    def minimise(self, theta):
        """Newton's method with conjugate gradients, from theta to the optimum."""
        p, value = self._loss(theta)
        gradient = self._gradient(theta, p)
        last, reduction = False, 1e-2
        while not last:
            product, curvature = self.hessian(p)
            step = conjugate_gradients(
                product, -gradient, self._precondition(curvature), reduction
            )
            slope, size = np.vdot(gradient, step), 1.0
            # In theory a full step lowers the objective by about half of the slope.
            last = -slope <= PRECISION * value
            p, trial = self._loss(theta + step)
            while not last and trial > (1 + ROUNDING) * value + 1e-4 * size * slope:
                size /= 2
                p, trial = self._loss(theta + size * step)
            theta, value = theta + size * step, trial
            gradient = self._gradient(theta, p)
            reduction = 1e-2 if -slope > 1e-4 * value else 1e-6
        return Optimum(theta, value, -slope / 2)

    def _precondition(self, curvature):
        """The Hessian of one class at the rows' mean curvature, inverted."""
        weight = curvature / self.n
        ridge = np.append(np.full(self.d, self.l2), 0.0)
        if sparse.issparse(self.X) or self.d > MAX_DENSE:
            square = self.X.multiply(self.X) if sparse.issparse(self.X) else self.X**2
            diagonal = np.append(square.T @ weight, weight.sum()) + ridge
            diagonal += 1e-10 * diagonal.max()
            return lambda residual: residual / diagonal
        weighted = self.X * weight[:, None]
        gram = np.empty((self.d + 1, self.d + 1))
        gram[:-1, :-1] = self.X.T @ weighted
        coupling = weighted.sum(axis=0) if self.fit_intercept else 0.0
        gram[-1, :-1] = gram[:-1, -1] = coupling
        gram[-1, -1] = weight.sum()
        gram += np.diag(ridge)
        scale = np.sqrt(np.diag(gram))
        scale[scale == 0] = 1
        factor = cho_factor(gram / np.outer(scale, scale) + 1e-10 * np.eye(len(gram)))
        return lambda residual: cho_solve(factor, (residual / scale).T).T / scale


def conjugate_gradients(product, target, precondition, reduction, max_iter=500):
    """Solve product(x) = target until the residual's norm has fallen so far."""
    x = np.zeros_like(target)
    residual = target.copy()
    z = precondition(residual)
    direction, rz = z, np.vdot(residual, z)
    goal = reduction**2 * rz
    for _ in range(max_iter):
        curved = product(direction)
        curvature = np.vdot(direction, curved)
        if curvature <= 0:
            break
        step = rz / curvature
        x += step * direction
        residual -= step * curved
        z = precondition(residual)
        rz, previous = np.vdot(residual, z), rz
        if rz <= goal:
            break
        direction = z + rz / previous * direction
    return x


def entmax_and_potential(z, alpha):
    """Probabilities of each row of scores, and the potential F."""
    if alpha == 1:
        potential = logsumexp(z, axis=1)
        return np.exp(z - potential[:, None]), potential
    top = z.max(axis=1, keepdims=True)
    shifted = (alpha - 1) * (z - top)
    p = np.maximum(shifted - threshold(shifted, alpha), 0) ** (1 / (alpha - 1))
    entropy = (1 - np.sum(p**alpha, axis=1)) / (alpha * (alpha - 1))
    return p, np.sum(p * (z - top), axis=1) + top[:, 0] + entropy


def threshold(z, alpha):
    """τ of Σ [z - τ]_+^(1/(α-1)) = 1, by sorting, for α = 2 and 1.5."""
    ordered = -np.sort(-z, axis=1)
    count = np.arange(1, z.shape[1] + 1)
    mean = np.cumsum(ordered, axis=1) / count
    if alpha == 2:
        tau = mean - 1 / count
    elif alpha == 1.5:
        variance = np.cumsum(ordered**2, axis=1) / count - mean**2
        tau = mean - np.sqrt(np.maximum(1 / count - variance, 0))
    else:
        raise ValueError(f"alpha must be 1, 1.5 or 2; got {alpha}.")
    size = np.sum(tau <= ordered, axis=1, keepdims=True)
    return np.take_along_axis(tau, size - 1, axis=1)
