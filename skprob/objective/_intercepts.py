"""The best intercepts for given coefficients."""

import numpy as np
from scipy.optimize import minimize

from ._blocks import linearize_outputs, model_outputs, weighted_total
from ._parallel import sum_over

_MAX_STEPS = 8
# What is left of the gradient, with each intercept in units of its curvature.
_PRECISION = 1e-2


def best_intercepts(objective, parameters):
    """Parameters with the same coefficients and, nearly, the best intercepts.

    X is read once; after that the outputs of the rows are all that matters.
    Newton's method: plain steps for one intercept, where they help, else with
    conjugate gradients inside a trust region, through SciPy.

    Parameters
    ----------
    objective : LinearObjective
        With intercepts and a convex loss.
    parameters : ndarray of shape (n_parameters,)

    Returns
    -------
    parameters : ndarray of shape (n_parameters,) or None
        None where the outputs of all rows would not fit.
    """
    if not objective.outputs_fit:
        return None
    coef, intercept = objective.unpack(parameters)
    problem = _InterceptProblem(objective, coef, intercept)
    start = np.zeros_like(intercept)
    slope = np.linalg.norm(problem.value_and_gradient(start)[1])
    if slope <= np.finfo(np.float64).eps:
        return parameters
    found = None
    if len(start) == 1:
        found = _root(problem, start, _PRECISION * slope)
    if found is None:
        found = minimize(
            problem.value_and_gradient,
            start,
            jac=True,
            hessp=problem.hessian_product,
            method="trust-ncg",
            options={"gtol": _PRECISION * slope, "maxiter": _MAX_STEPS},
        ).x
    return objective.pack(coef, intercept + problem.scale * found)


def _root(problem, x, precision):
    """Where the slope in one variable vanishes; None where a Newton step fails."""
    value, slope = problem.value_and_gradient(x)
    while abs(slope[0]) > precision:
        bend = problem.hessian_product(x, np.ones(1))
        there = x - slope / bend if bend[0] > 0 else x
        value_there, slope_there = problem.value_and_gradient(there)
        # Half of the slope at least: then there are few steps.
        if not (value_there <= value and abs(slope_there[0]) <= abs(slope[0]) / 2):
            return None
        x, value, slope = there, value_there, slope_there
    return x


class _InterceptProblem:
    """The mean loss as a function of what is added to the intercepts.

    The variables are in units of `scale`, in which the curvatures are one.
    """

    def __init__(self, objective, coef, intercept):
        self._loss, self._blocks = objective.loss, objective.blocks
        self._outputs = [
            model_outputs(block.X, coef, intercept).astype(np.float64, copy=False)
            for block in self._blocks
        ]
        self._where = None
        curvature = self._curvature(np.zeros_like(intercept))
        usable = curvature > np.finfo(np.float64).eps * curvature.max()
        self.scale = 1 / np.sqrt(curvature, out=np.ones_like(curvature), where=usable)

    def value_and_gradient(self, variables):
        self._linearize(self.scale * variables)
        return self._value, self.scale * self._gradient

    def hessian_product(self, variables, direction):
        self._linearize(self.scale * variables)
        return self.scale * self._product(self.scale * direction)

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
            along = np.tile(direction, (len(block.weight), 1))
            return (block.weight @ self._linear[i].hessian_product(along),)

        return sum_over(range(len(self._linear)), part, len(direction))[0]

    def _curvature(self, shift):
        """Second derivatives."""
        self._linearize(shift)

        def part(i):
            return (self._blocks[i].weight @ self._linear[i].hessian_diagonal(),)

        return sum_over(range(len(self._linear)), part, len(shift))[0]
