"""L-BFGS: SciPy's limits do not count, and a stall is a stall."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_breast_cancer

from skprob.losses import LogLoss
from skprob.mappings import Entmax, Softmax, TaylorSoftmax
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import Tuning, method_for, solve
from skprob.targets import LabelTarget

from ..minimal_problems import PlainDescription, SquaredHinges, Valley
from ..training_problems import classes, correlated, objective_of


class Staircase:
    """A curved valley that takes tens of thousands of steps (Nesterov)."""

    traffic = 0, 0

    def __init__(self):
        self.passes = 0
        kind = {"is_linear": False, "is_convex": False}
        self.description = PlainDescription(60, 180, (1, 10), **kind)

    def initial(self):
        return np.append(-1.0, np.ones(9))

    def value_and_gradient(self, parameters):
        self.passes += 1
        x = parameters
        error = x[1:] - 2 * x[:-1] ** 2 + 1
        gradient = np.append(2 * (x[0] - 1) / 4, 2 * error)
        gradient[:-1] -= 8 * error * x[:-1]
        return (x[0] - 1) ** 2 / 4 + error @ error, gradient

    def at(self, parameters):
        raise AssertionError("L-BFGS needs none where there are no coordinates")

    def duality_gap(self, point, enough=0.0, known=math.inf, after=None):
        return math.inf

    def is_unbounded(self, point):
        return False


class Wells(Staircase):
    """Two minima in each variable, at plus and minus the root of two."""

    def initial(self):
        return np.ones(10)

    def value_and_gradient(self, parameters):
        squares = parameters**2 - 2
        return float((1 + squares**2).sum()), 4 * parameters * squares


class Bowl(Staircase):
    """A sum of squares with curvatures from 1 to 10."""

    curvatures = np.arange(1.0, 11)

    def value_and_gradient(self, parameters):
        slope = self.curvatures * parameters
        return parameters @ slope / 2, slope


def test_the_expected_decrease_is_that_of_the_curvature_along_the_step():
    objective, start = Bowl(), np.ones(10)
    solution = solve(objective, start, solver="lbfgs", tol=1e-9, max_iter=1)
    step = solution.parameters - start
    curvature = step @ (objective.curvatures * step) / (step @ step)
    expected = solution.gradient @ solution.gradient / (2 * curvature)
    assert solution.value > 1
    assert_allclose(solution.state.expected_decrease, expected, rtol=1e-12)


def test_evaluations_do_not_cap_the_iterations():
    """SciPy would give up after 15,000 evaluations."""
    objective = Staircase()
    solution = solve(objective, objective.initial(), tol=1e-8, max_iter=12_000)
    assert objective.passes > 15_000
    assert solution.n_iter == 12_000
    assert solution.solver == "lbfgs"
    assert solution.message.startswith("after max_iter=12000 iterations")


def test_a_stall_without_convexity_needs_no_certificate():
    objective = Wells()
    start = objective.initial()
    solution = solve(objective, start, solver="lbfgs", tol=1e-13, max_iter=1000)
    assert_allclose(solution.parameters, np.sqrt(2), rtol=1e-13)
    assert solution.converged


def test_points_are_evaluated_and_not_kept():
    """`Problem.at` is never called, and each iteration is one row of the history."""
    calls = []

    class Watched(Valley):
        def at(self, parameters):
            calls.append(parameters)
            return super().at(parameters)

    problem = Watched()
    start = problem.initial()
    solution = solve(problem, start, solver="lbfgs", tol=1e-9, max_iter=500)
    assert solution.converged
    assert not calls
    assert [row.iteration for row in solution.history] == list(
        range(solution.n_iter + 1)
    )
    assert solution.history[-1].passes == problem.passes


def test_correlated_features_are_whitened():
    """Few iterations in units of seven decades, and hundreds without coordinates."""
    objective = correlated(3, l2=1e-6)
    start = objective.initial()
    solution = solve(objective, start, solver="lbfgs", tol=1e-6, max_iter=1000)
    assert solution.converged
    assert solution.n_iter < 60


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(2.5)], ids=repr)
def test_a_start_where_the_curvature_misleads_leads_to_the_minimum(mapping):
    """Far out rows have no curvature, or one that is not bounded."""
    objective = objective_of(*classes(3), mapping, l2=1e-2)
    expected = solve(objective, objective.initial(), tol=1e-8, max_iter=500)
    rng = np.random.default_rng(0)
    for size in (10.0, 1e3, 1e5):
        start = size * rng.normal(size=objective.n_parameters)
        solution = solve(objective, start, solver="lbfgs", tol=1e-6, max_iter=1000)
        assert solution.converged, solution.message
        assert solution.value == pytest.approx(expected.value, rel=1e-6)


def test_correlated_features_do_not_slow_down_a_loss_that_is_not_convex():
    """The same features, mixed: not twice the iterations, to the same minimum."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    # The inverse of this takes apart what the features have in common.
    mixed = X @ np.linalg.inv(np.linalg.cholesky(X.T @ X / len(X))).T
    solutions = []
    for features in X, mixed:
        target = LabelTarget(y, 2)
        blocks = split_rows(features, target, np.ones(len(y)))
        objective = LinearObjective(blocks, LogLoss(TaylorSoftmax()), l2=1e-8)
        start = objective.initial()
        limits = {"tol": 1e-4, "max_iter": 1000}
        solutions.append(solve(objective, start, solver="lbfgs", **limits))
    correlated, independent = solutions
    assert correlated.converged
    assert independent.converged
    assert correlated.n_iter <= 2 * independent.n_iter
    # There is hardly any penalty, on which the two differ.
    assert abs(correlated.value / independent.value - 1) <= 1e-3


# Raw predictions are many.
MANY = Tuning(largest_hessian_cost=0, many_raw_predictions=0, numbers_kept=np.inf)


@pytest.mark.parametrize("tol", [0.3, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_many_raw_predictions_are_computed_in_single_precision_at_first(tol, container):
    """And the value at the end is in double precision, as the minimum is."""
    X, y = classes(6, n_samples=300)
    objective = objective_of(container(X), y, l2=1e-3)
    single, calls = objective.in_single_precision(), {"single": 0, "double": 0}

    def counted(problem, name):
        evaluate = problem.value_and_gradient

        def value_and_gradient(parameters):
            calls[name] += 1
            return evaluate(parameters)

        problem.value_and_gradient = value_and_gradient

    counted(objective, "double")
    counted(single, "single")
    objective.in_single_precision = lambda: single
    start = objective.initial()
    solution = solve(objective, start, tol=tol, max_iter=500, tuning=MANY)
    assert solution.solver == "lbfgs"
    assert solution.converged
    assert calls["single"] >= 1
    if tol == 1e-3:
        assert calls["double"] < calls["single"]
    coef, intercept = objective.to_model(solution.parameters)
    scores = X @ coef.T + intercept
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    value = losses.mean() + 1e-3 / 2 * (coef**2).sum()
    assert_allclose(solution.value, value, rtol=1e-13)
    best = scipy_optimum(X, y, 1e-3)
    assert best - 1e-13 <= solution.value <= best + solution.duality_gap
    assert solution.value <= best * (1 + tol)


def scipy_optimum(X, y, l2):
    """Minimum of the log loss with a ridge penalty, by SciPy."""
    n_classes, Z = y.max() + 1, np.column_stack([X, np.ones(len(X))])

    def fun(parameters):
        W = parameters.reshape(n_classes, -1)
        scores = Z @ W.T
        P = softmax(scores, axis=1)
        P[np.arange(len(y)), y] -= 1
        losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
        penalised = W * np.append(np.ones(X.shape[1]), 0)
        value = losses.mean() + l2 / 2 * (penalised**2).sum()
        return value, (P.T @ Z / len(y) + l2 * penalised).ravel()

    options = {"gtol": 1e-10, "ftol": 0.0, "maxiter": 10_000, "maxfun": 10_000}
    start = np.zeros(n_classes * Z.shape[1])
    return minimize(fun, start, jac=True, method="L-BFGS-B", options=options).fun


def test_the_minimum_is_not_that_of_rounded_data():
    """Single precision changes X by 1e-8 of it, and the optimum by as much."""
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(200, 5)), rng.choice([-1.0, 1.0], (200, 4))
    problem = SquaredHinges(X, signs, 1e-3)
    assert method_for(problem.description, MANY) == "lbfgs"
    limits = {"tol": 1e-10, "max_iter": 500}
    solution = solve(problem, problem.initial(), tuning=MANY, **limits)
    exact = solve(problem, problem.initial(), solver="newton-cholesky", **limits)
    assert solution.converged
    assert_allclose(solution.parameters, exact.parameters, atol=1e-9)
    assert solution.value == problem.value_and_gradient(solution.parameters)[0]
