"""Problems that have the members that solvers declare to need, and no others.

They are written in NumPy alone. An access to anything else raises AttributeError.
"""

import copy
import math
from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class PlainDescription:
    """The size and the kind of a problem, with all fields of the protocol."""

    n_rows: int
    n_stored: int
    shape: tuple
    dtype: np.dtype = field(default_factory=lambda: np.dtype("f8"))
    suits_single_precision: bool = False
    is_dense: bool = False
    has_intercept: bool = False
    is_linear: bool = True
    is_convex: bool = True
    has_bounded_hessian: bool = True
    has_kinks: bool = False
    has_proximal_step: bool = False
    is_separable: bool = False
    has_separate_outputs: bool = False
    is_shift_invariant: bool = False
    is_on_host: bool = True
    is_remote: bool = False
    has_shrinkage: bool = False


class SquaredHinges:
    """Mean of ½ max(0, 1 - y_k z_k)² summed over outputs k, and a ridge penalty.

    The signs y are of shape (n_rows, n_outputs), z = X Wᵀ, and there is no intercept.
    Curvature jumps from zero to one, so that a solver needs several steps.
    """

    traffic = 0, 0
    has_penalty = True
    has_several_classes = True

    def __init__(self, X, signs, ridge, **kind):
        self._X, self._signs, self._ridge = X, signs, ridge
        # A list, which copies under other penalties share.
        self._n_passes = [0.0]
        n_rows, n_outputs = signs.shape
        self.value_at_zero = n_outputs / 2
        shape = n_outputs, X.shape[1]
        self.description = PlainDescription(n_rows, X.size, shape, **kind)

    @property
    def passes(self):
        return self._n_passes[0]

    def count(self, passes):
        self._n_passes[0] += passes

    def initial(self):
        return np.zeros(math.prod(self.description.shape))

    def value_and_gradient(self, parameters):
        self.count(1)
        W = parameters.reshape(self.description.shape)
        margin = np.maximum(1 - self._signs * (self._X @ W.T), 0)
        value = np.sum(margin**2) / (2 * len(self._X)) + self._ridge / 2 * np.sum(W**2)
        residual = -self._signs * margin / len(self._X)
        return float(value), (residual.T @ self._X + self._ridge * W).ravel()

    def at(self, parameters):
        return SquaredHingesPoint(self, parameters)

    def curvature_at(self, parameters):
        self.count(0.5)
        return SquaredHingesCurvature(self, parameters)

    def with_l2(self, l2):
        other = copy.copy(self)
        other._ridge = l2
        return other

    def family(self, strengths):
        return SquaredHingesFamily(self, strengths)

    def intercepts_alone(self):
        return None

    def sample(self, n_rows):
        other = SquaredHinges(self._X[:n_rows], self._signs[:n_rows], self._ridge)
        other.description = replace(self.description, n_rows=n_rows)
        return other

    def in_single_precision(self):
        """X is rounded to single precision; sums are not."""
        other = copy.copy(self)
        other._X = self._X.astype("f4").astype("f8")
        other.description = replace(self.description, dtype=np.dtype("f4"))
        return other

    def of_outputs(self, outputs):
        other = SquaredHinges(self._X, self._signs[:, outputs], self._ridge)
        shape = other.description.shape
        other.description = replace(self.description, shape=shape)
        return other

    def splitting(self, parameters, strength, n_kept):
        raw = self._X @ parameters.reshape(self.description.shape).T
        self.count(1.5)
        # Fixed if the parameters are the minimum.
        gradient = -self._signs * np.maximum(1 - self._signs * raw, 0)
        point = raw + gradient / strength
        return SquaredHingesSplitting(self, strength, n_kept, point)

    def has_certificate(self):
        return True

    def duality_gap(self, point, enough=0.0, known=math.inf, after=None):
        """By strong convexity."""
        return min(known, float(point.gradient @ point.gradient) / (2 * self._ridge))

    def is_unbounded(self, point):
        return False


class SquaredHingesCurvature:
    """Second derivatives at one point."""

    def __init__(self, problem, parameters):
        self._problem, W = problem, parameters.reshape(problem.description.shape)
        self.is_at_zero = not W.any()
        self.ridge = np.full(W.shape[1], problem._ridge)
        active = problem._signs * (problem._X @ W.T) < 1
        self._weights = active / len(active)

    def total_curvature(self):
        return self._weights.sum(axis=0), int(self._weights.any(axis=1).sum())

    def sandwiches(self, by_output, n_drawn, on_device=False, dtype=np.float64):
        X = self._problem._X
        weights = self._weights
        if not by_output:
            weights = weights.mean(axis=1, keepdims=True)
        return np.array([(X.T * w) @ X for w in weights.T])

    def curvature_moments(self, dtype=np.float64):
        self._problem.count(1)
        weights, X = self._weights, self._problem._X
        total = weights.sum(axis=0)
        mean = weights.T @ X / total[:, None]
        return total, mean, weights.T @ X**2 / total[:, None] - mean**2


class SquaredHingesPoint(SquaredHingesCurvature):
    """Value and derivatives at one point."""

    def __init__(self, problem, parameters):
        super().__init__(problem, parameters)
        self.parameters = parameters
        self.value, self.gradient = problem.value_and_gradient(parameters)

    def with_penalty_times(self, factor):
        other = copy.copy(self)
        other._problem = copy.copy(self._problem)
        other._problem._ridge = factor * self._problem._ridge
        other.ridge = factor * self.ridge
        more = other._problem._ridge - self._problem._ridge
        other.value = self.value + more / 2 * float(self.parameters @ self.parameters)
        other.gradient = self.gradient + more * self.parameters
        return other

    def hessian_product(self, direction):
        self._problem.count(1)
        problem = self._problem
        along = direction.reshape(problem.description.shape)
        change = self._weights * (problem._X @ along.T)
        return (change.T @ problem._X + problem._ridge * along).ravel()

    def scaled_hessian(self, unit, center):
        return SquaredHingesScaledHessian(self, unit)

    def along_products(self, step, hessian, is_far):
        return self.along(step)

    def hessian(self):
        return np.array([self.hessian_product(e) for e in np.eye(len(self.parameters))])

    def without_tails(self, step):
        return 0.0, None

    def piece_hessian(self, included, share=1.0, dtype=np.float64):
        some = np.ix_(included.ravel(), included.ravel())
        return self.hessian()[some].astype(dtype)

    def along(self, step):
        return PlainRay(self._problem, self.parameters, step)

    def towards_target(self, share):
        return self


class SquaredHingesScaledHessian:
    """The Hessian in other units of the parameters."""

    def __init__(self, point, unit):
        self._point, self._unit = point, unit

    def product(self, variables):
        direction = self._unit * variables.reshape(self._unit.T.shape).T
        product = self._point.hessian_product(direction.ravel())
        product = self._unit * product.reshape(self._unit.shape)
        return product.T.astype(np.float32).ravel()

    def moved(self, length):
        pass


class PlainRay:
    """Any problem along a step."""

    def __init__(self, problem, parameters, step):
        self._problem, self._start, self._step = problem, parameters, step

    def trial(self, length):
        moved = self._start + length * self._step
        value, gradient = self._problem.value_and_gradient(moved)
        return value, float(gradient @ self._step)

    def arrive(self, length):
        return self._problem.at(self._start + length * self._step)


class SquaredHingesFamily:
    """The problem under several penalties, at one point after the other."""

    def __init__(self, problem, strengths):
        self._problems = [problem.with_l2(strength) for strength in strengths]

    def at(self, parameters, which):
        pairs = zip(which, parameters, strict=True)
        points = [self._problems[k].at(x) for k, x in pairs]
        values, gradients = [p.value for p in points], [p.gradient for p in points]
        hessians = np.array([point.hessian() for point in points])
        return np.array(values), np.array(gradients), hessians


class SquaredHingesSplitting:
    """An iterate of Douglas-Rachford splitting: raw predictions of all rows."""

    def __init__(self, problem, strength, n_kept, point, kept=()):
        self._problem, self._strength, self._n_kept = problem, strength, n_kept
        self._point, self._kept = point, kept

    def step(self):
        problem, point, strength = self._problem, self._point, self._strength
        X, signs = problem._X, problem._signs
        problem.count(1)
        moved = (strength * point + signs) / (1 + strength)
        nearest = np.where(signs * point < 1, moved, point)
        n_rows, size = X.shape
        matrix = X.T @ X / n_rows + problem._ridge / strength * np.eye(size)
        W = np.linalg.solve(matrix, X.T @ (2 * nearest - point) / n_rows).T
        residual = X @ W.T - nearest
        kept = (*self._kept[1 - self._n_kept :], (residual, point + residual))
        products = [np.sum(residual * before) / n_rows for before, _ in kept]
        after = SquaredHingesSplitting(problem, strength, self._n_kept, point, kept)
        return after, W.ravel(), np.array(products)

    def mixed(self, shares):
        points = (following for _, following in self._kept)
        point = sum(share * p for share, p in zip(shares, points, strict=True))
        problem, strength, n_kept = self._problem, self._strength, self._n_kept
        return SquaredHingesSplitting(problem, strength, n_kept, point, self._kept)


class Valley:
    """A curved valley in two variables (Rosenbrock); raw predictions are not linear.

    Its only minimum is at ones.
    """

    traffic = 0, 0

    def __init__(self):
        self.passes = 0.0
        kind = {"is_linear": False, "is_convex": False}
        self.description = PlainDescription(1, 2, (1, 2), **kind)

    def initial(self):
        return np.array([-1.2, 1.0])

    def value_and_gradient(self, parameters):
        self.passes += 1
        x, y = parameters
        value = (1 - x) ** 2 + 10 * (y - x**2) ** 2
        gradient = [2 * (x - 1) - 40 * x * (y - x**2), 20 * (y - x**2)]
        return float(value), np.array(gradient)

    def at(self, parameters):
        return ValleyPoint(self, parameters)

    def duality_gap(self, point, enough=0.0, known=math.inf, after=None):
        return math.inf

    def is_unbounded(self, point):
        return False


class ValleyPoint:
    """The valley at one point."""

    def __init__(self, problem, parameters):
        self._problem, self.parameters = problem, parameters
        self.value, self.gradient = problem.value_and_gradient(parameters)

    def hessian_product(self, direction):
        x, y = self.parameters
        hessian = [[2 - 40 * y + 120 * x**2, -40 * x], [-40 * x, 20]]
        return np.array(hessian) @ direction

    def along(self, step):
        return PlainRay(self._problem, self.parameters, step)
