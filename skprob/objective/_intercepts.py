"""The best intercepts for given coefficients."""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ._blocks import linearize_outputs, model_outputs, weighted_total
from ._parallel import sum_over
from ._products import weighted_sum

# What is left of the gradient, with each intercept in units of its curvature.
_PRECISION = 1e-3
_MAX_STEPS = 8
_MAX_PRODUCTS = 30
_EPS = float(np.finfo(np.float64).eps)


class BestIntercepts(NamedTuple):
    """A model with nearly the best intercepts, and its mean loss.

    Attributes
    ----------
    intercept : ndarray of shape (M,)
    value : float
        Without the loss's constant.
    coef_gradient : ndarray of shape (M, n_features)
    intercept_gradient : ndarray of shape (M,)
    """

    intercept: np.ndarray
    value: float
    coef_gradient: np.ndarray
    intercept_gradient: np.ndarray


def best_intercepts(objective, coef, intercept):
    """Nearly the best intercepts for given coefficients.

    X is read for the outputs of the rows, which are all that matters for the
    intercepts, and for the gradient in the end. Newton's method: plain steps, where
    they help, else inside a trust region, through SciPy.

    Parameters
    ----------
    objective : LinearObjective
        With intercepts and a convex loss.
    coef : ndarray of shape (M, n_features)
    intercept : ndarray of shape (M,)
        Where to start.

    Returns
    -------
    best : BestIntercepts or None
        None where the outputs of all rows would not fit.
    """
    if not objective.outputs_fit:
        return None
    problem = _InterceptProblem(objective, coef, intercept)
    start = np.zeros_like(intercept)
    value, gradient = problem.value_and_gradient(start)
    slope, found = _length(gradient), start
    if slope > _EPS:
        found = _newton(problem, start, value, gradient, _PRECISION * slope)
    if found is None:
        found = minimize(
            problem.value_and_gradient,
            start,
            jac=True,
            hessp=problem.hessian_product,
            method="trust-ncg",
            options={"gtol": _PRECISION * slope, "maxiter": _MAX_STEPS},
        ).x
    shift = problem.scale * found
    return BestIntercepts(intercept + shift, *problem.mean_loss(shift))


def _newton(problem, x, value, slope, precision):
    """Where the slope vanishes; None where a Newton step fails."""
    size = _length(slope)
    while size > precision:
        there = x + _newton_step(problem, x, slope)
        value_there, slope = problem.value_and_gradient(there)
        size_there = _length(slope)
        # Half of the slope at least: then there are few steps.
        if not (value_there <= value and size_there <= size / 2):
            return None
        x, value, size = there, value_there, size_there
    return x


def _length(vector):
    return math.sqrt(vector @ vector)


def _newton_step(problem, x, slope):
    """Newton's step, by conjugate gradients."""
    if len(x) == 1 and not x.any():
        # The curvature is one, as the units have made it.
        return -slope
    step, rest = np.zeros_like(x), -slope
    direction, square = rest, rest @ rest
    # Half of what is to be left: the rest is for the model's own error.
    enough = (_PRECISION / 2) ** 2 * square
    for _ in range(_MAX_PRODUCTS):
        product = problem.hessian_product(x, direction)
        bend = direction @ product
        if bend <= 0:
            break
        step = step + square / bend * direction
        rest = rest - square / bend * product
        before, square = square, rest @ rest
        if square <= enough:
            break
        direction = rest + square / before * direction
    return step


class _InterceptProblem:
    """The mean loss as a function of what is added to the intercepts.

    The variables are in units of `scale`, in which the curvatures are one.
    """

    def __init__(self, objective, coef, intercept):
        self._loss, self._blocks = objective.loss, objective.blocks
        self._size = coef.size
        self._outputs = [
            model_outputs(block.X, coef, intercept).astype(np.float64, copy=False)
            for block in self._blocks
        ]
        self._where = None
        curvature = self._curvature(np.zeros_like(intercept))
        usable = curvature > _EPS * curvature.max()
        self.scale = 1 / np.sqrt(curvature, out=np.ones_like(curvature), where=usable)

    def value_and_gradient(self, variables):
        self._linearize(self.scale * variables)
        return self._value, self.scale * self._gradient

    def hessian_product(self, variables, direction):
        self._linearize(self.scale * variables)
        return self.scale * self._product(self.scale * direction)

    def mean_loss(self, shift):
        """Value, and gradients in coefficients and intercepts, at moved intercepts."""
        self._linearize(shift)

        def part(i):
            block = self._blocks[i]
            residual = self._linear[i].gradient * block.weight[:, None]
            return (weighted_sum(block.X, residual.astype(block.X.dtype, copy=False)),)

        coef_gradient = sum_over(range(len(self._blocks)), part, self._size)[0]
        return self._value, coef_gradient, self._gradient

    def _linearize(self, shift):
        # SciPy asks for products where it has asked for the value.
        if self._where is not None and np.array_equal(shift, self._where):
            return
        linear = [None] * len(self._blocks)

        def part(i):
            block = self._blocks[i]
            outputs = self._outputs[i] + shift
            linear[i] = linearize_outputs(self._loss, outputs, block.target)
            value = weighted_total(linear[i].values, block.weight)
            return value, block.weight @ linear[i].gradient

        self._value, self._gradient = sum_over(range(len(linear)), part, len(shift))
        self._linear, self._where = linear, shift

    def _product(self, direction):
        def part(i):
            block = self._blocks[i]
            # In the layout of what it is multiplied with.
            along = np.empty_like(self._linear[i].gradient)
            along[...] = direction
            return (block.weight @ self._linear[i].hessian_product(along),)

        return sum_over(range(len(self._linear)), part, len(direction))[0]

    def _curvature(self, shift):
        """Second derivatives."""
        self._linearize(shift)

        def part(i):
            return (self._blocks[i].weight @ self._linear[i].hessian_diagonal(),)

        return sum_over(range(len(self._linear)), part, len(shift))[0]
