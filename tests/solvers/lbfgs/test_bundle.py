"""Bundles of gradients against quadratic programs by SciPy."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize as scipy_minimize

from skprob.solvers import Criteria
from skprob.solvers._minimize import minimize
from skprob.solvers.lbfgs._bundle import Bundle, Evaluation

from ..minimal_problems import PlainDescription


class Polyhedron:
    """The largest of some planes plus half the squared distance from zero.

    At its minimum several planes have the same value: its own gradient is large there.
    """

    traffic = 0, 0

    def __init__(self, n_planes, n_variables, ridge, seed):
        rng = np.random.default_rng(seed)
        self.slopes = rng.normal(size=(n_planes, n_variables))
        self.heights, self.ridge, self.passes = rng.uniform(1, 2, n_planes), ridge, 0
        self.value_at_zero = self.heights.max()
        # Its Hessian costs too much to confirm an expected decrease.
        self.description = PlainDescription(
            10**9, 10**9, (1, n_variables), has_kinks=True
        )

    def initial(self):
        return np.zeros(self.slopes.shape[1])

    def value_and_gradient(self, x):
        self.passes += 1
        heights = self.slopes @ x + self.heights
        top = heights.argmax()
        return (
            float(heights[top] + self.ridge / 2 * x @ x),
            self.slopes[top] + self.ridge * x,
        )

    def at(self, x):
        return Evaluation(x, *self.value_and_gradient(x))

    def has_certificate(self):
        return False

    def duality_gap(self, point, enough=0.0, known=math.inf, after=None):
        return math.inf

    def is_unbounded(self, point):
        return False

    def minimum(self):
        """By SLSQP: the least t with all planes at most t, plus the penalty."""
        n = self.slopes.shape[1]
        result = scipy_minimize(
            lambda v: v[n] + self.ridge / 2 * v[:n] @ v[:n],
            np.append(np.zeros(n), self.value_at_zero),
            jac=lambda v: np.append(self.ridge * v[:n], 1.0),
            constraints={
                "type": "ineq",
                "fun": lambda v: v[n] - self.slopes @ v[:n] - self.heights,
                "jac": lambda v: np.column_stack([-self.slopes, 0 * self.heights + 1]),
            },
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        assert result.success
        return result.x[:n], result.fun


class Scaled:
    """Coordinates in other units than the parameters."""

    def __init__(self, units):
        self._units = units

    def gradient(self, gradient):
        return gradient * self._units

    def to_parameters(self, variables):
        return variables * self._units


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize(
    ("n_planes", "n_variables", "ridge"), [(6, 2, 1.0), (40, 5, 0.3), (100, 10, 0.1)]
)
def test_the_minimum_at_a_kink(n_planes, n_variables, ridge, tol):
    for seed, units in enumerate((1.0, 3.0, np.geomspace(0.3, 2, n_variables))):
        problem = Polyhedron(n_planes, n_variables, ridge, seed)
        criteria = Criteria(tol=tol, max_iter=500)
        bundle = Bundle(criteria, Scaled(units))
        solution = minimize(problem, [bundle], criteria, problem.initial())
        assert solution.converged, solution.message
        x, least = problem.minimum()
        allowed = tol * (solution.value + tol * problem.value_at_zero)
        assert least - 1e-9 <= solution.value <= least + allowed
        # The gradient of the solution is a combination of those nearby.
        assert np.abs(solution.gradient).max() <= tol
        _, gradient = problem.value_and_gradient(solution.parameters)
        assert np.abs(gradient).max() > 10 * tol
        distance = np.linalg.norm(solution.parameters - x)
        assert ridge / 2 * distance**2 <= allowed + 1e-9
        assert problem.passes < 200 * n_variables


def test_the_gradient_of_a_state_is_the_smallest_combination():
    """The combination of the gradients of two planes, at both sides of the kink."""
    problem = Polyhedron(2, 1, 0.0, 0)
    problem.slopes, problem.heights = np.array([[1.0], [-3.0]]), np.zeros(2)
    criteria = Criteria(tol=1e-6, max_iter=10)
    bundle = Bundle(criteria, Scaled(1.0))
    points = problem.at(np.array([0.5])), problem.at(np.array([-0.5]))
    slopes = tuple(point.gradient for point in points)
    state = bundle._combined(points[0], points, slopes, 1.0)
    # 3/4 of the first and 1/4 of the second.
    assert_allclose(state.point.gradient, 0, atol=1e-12)
    assert_allclose(points[0].error_of(points[1]), 0.5 - 1.5 + 3, rtol=1e-12)
    alone = bundle._combined(points[0], points[:1], slopes[:1], 1.0)
    assert_allclose(alone.point.gradient, 1)
