"""Groups of outputs that are minimised one after another."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Sigmoid
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import (
    Tuning,
    groups_of_outputs,
    most_iterations,
    solve,
    solve_in_turn,
)
from skprob.targets import DenseTarget, SmoothedTarget, SparseTarget

from .minimal_problems import SquaredHinges

# Three groups of seven labels of 90 rows, or fewer.
IN_GROUPS = Tuning()._replace(group_size=3 * 90, fewest_outputs=2)


def label_sets(n_labels=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4))
    scores = X @ rng.normal(size=(4, n_labels)) + rng.logistic(size=(90, n_labels))
    return X, (scores > 0.5).astype(float)


def objective_of(X, target, alpha=1.0, l2=0.01, **rows):
    blocks = split_rows(X, target, np.ones(len(X)), **rows)
    return LinearObjective(blocks, FenchelYoungLoss(Sigmoid(alpha)), l2=l2)


def test_groups_have_every_output_once_and_are_bounded():
    X, Y = label_sets()
    description = objective_of(X, DenseTarget(Y)).description
    for n_rows, n_outputs in itertools.product(
        (10, 5000, 10**7), (1, 7, 8, 9, 23, 1000)
    ):
        groups = groups_of_outputs(
            description._replace(n_rows=n_rows, shape=(n_outputs, 5))
        )
        numbers = [k for group in groups for k in range(group.start, group.stop)]
        assert numbers == list(range(n_outputs))
        sizes = [group.stop - group.start for group in groups]
        assert max(sizes) <= max(2**20 // n_rows, 8)
        # A label alone would be taken for the difference of two classes.
        assert n_outputs == 1 or min(sizes) > 1


def test_other_losses_and_remote_rows_are_one_group():
    X, Y = label_sets()
    description = objective_of(X, DenseTarget(Y)).description._replace(n_rows=10**6)
    assert len(groups_of_outputs(description._replace(shape=(100, 5)))) > 1
    for kind in {"is_separable": False}, {"is_remote": True}:
        coupled = description._replace(shape=(100, 5), **kind)
        assert groups_of_outputs(coupled) == [slice(0, 100)]


@pytest.mark.parametrize("solver", ["auto", "newton-cg"])
def test_the_optimum_is_that_of_each_label_alone(solver):
    """By SciPy, label by label."""
    X, Y = label_sets()
    problem = objective_of(X, DenseTarget(Y))
    limits = {"tol": 1e-9, "max_iter": 100, "tuning": IN_GROUPS}
    solution = solve(problem, problem.initial(), solver=solver, **limits)
    coef, intercept = problem.to_model(solution.parameters)
    total = 0.0
    for k, y in enumerate(Y.T):

        def loss(theta, y=y):
            u = X @ theta[:4] + theta[4]
            value = np.mean(np.logaddexp(0, u) - y * u)
            slope = (1 / (1 + np.exp(-u)) - y) / len(y)
            ridge = 0.01 * theta * [1, 1, 1, 1, 0]
            return value + theta @ ridge / 2, np.append(slope @ X, slope.sum()) + ridge

        optimum = minimize(loss, np.zeros(5), jac=True, options={"gtol": 1e-10})
        assert_allclose([*coef[k], intercept[k]], optimum.x, atol=1e-6)
        total += optimum.fun
    assert_allclose(solution.value, total, rtol=1e-9)
    assert solution.converged


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_history_and_figures_are_those_of_all_labels(alpha):
    X, Y = label_sets()
    problem = objective_of(X, DenseTarget(Y), alpha)
    limits = {"solver": "auto", "tol": 1e-5, "max_iter": 100, "tuning": IN_GROUPS}
    calls = []
    solution = solve(
        problem, problem.initial(), callback=lambda *args: calls.append(args), **limits
    )
    value, gradient = problem.value_and_gradient(solution.parameters)
    assert_allclose(solution.value, value, rtol=1e-12)
    assert_allclose(solution.gradient, gradient, atol=1e-12)
    assert solution.gradient_norm == np.abs(solution.gradient).max()
    best = solve(problem, solution.parameters, **limits | {"tol": 1e-9})
    rounding = 1e-15  # Of sums of the losses in another order.
    assert -rounding <= value - best.value <= solution.duality_gap + rounding

    history = solution.history
    assert [row.iteration for row in history] == [*range(len(history))]
    assert_allclose(history[0].objective, problem.value_at_zero, rtol=1e-12)
    assert_allclose(history[-1].objective, value, rtol=1e-12)
    assert all(np.diff([row.objective for row in history]) <= 1e-12)
    assert all(np.diff([row.passes for row in history]) > 0)
    assert all(np.diff([row.seconds for row in history]) >= 0)
    # The reports are the rows of the history.
    assert [call[0] for call in calls] == [*range(1, len(history))]
    assert [call[4] for call in calls] == [False] * (len(calls) - 1) + [True]
    for (_, parameters, value, norm, _), row in zip(calls, history[1:], strict=True):
        assert (value, norm) == (row.objective, row.gradient_norm)
        f, slope = problem.value_and_gradient(parameters)
        assert_allclose([f, np.abs(slope).max()], [value, norm], atol=1e-9)


def test_passes_are_those_with_all_outputs():
    X, Y = label_sets()
    problem = objective_of(X, DenseTarget(Y))
    before = problem.passes
    limits = {"solver": "auto", "tol": 1e-5, "max_iter": 100, "tuning": IN_GROUPS}
    solution = solve(problem, problem.initial(), **limits)
    assert_allclose(problem.passes - before, solution.history[-1].passes)
    whole = solve(problem, problem.initial(), **limits | {"tuning": Tuning()})
    assert solution.history[-1].passes < 2 * whole.history[-1].passes


def test_a_callback_stops_all_groups():
    X, Y = label_sets()
    problem = objective_of(X, DenseTarget(Y))
    start = np.random.default_rng(0).normal(size=problem.n_parameters) / 10
    limits = {"solver": "auto", "tol": 1e-9, "max_iter": 100, "tuning": IN_GROUPS}
    solution = solve(problem, start, callback=lambda i, *_: i == 2, **limits)
    assert solution.stopped
    assert not solution.converged
    assert solution.n_iter == 2
    value, gradient = problem.value_and_gradient(solution.parameters)
    assert_allclose(solution.value, value, rtol=1e-12)
    assert_allclose(solution.gradient, gradient, atol=1e-12)
    moved = (solution.parameters != start).reshape(problem.shape).any(axis=1)
    assert moved.any()
    assert not moved[3:].any()


def test_a_group_that_does_not_converge_is_named():
    X, Y = label_sets()
    problem = objective_of(X, DenseTarget(Y), l2=1e-6)
    limits = {"solver": "newton-cg", "tol": 1e-9, "max_iter": 2, "tuning": IN_GROUPS}
    solution = solve(problem, problem.initial(), **limits)
    assert not solution.converged
    assert solution.message.startswith("labels 0 to 1: after max_iter=2")
    assert "max_iter" in solution.remedies


@pytest.mark.parametrize("kind", ["sparse", "smoothed", "given"])
def test_groups_take_their_part_of_every_target(kind):
    """Groups have the parts of offsets and available labels, too."""
    X, Y = label_sets()
    rng, rows = np.random.default_rng(1), {}
    target = DenseTarget(Y)
    if kind != "given":
        row, column = np.nonzero(Y)
        indptr = np.append(0, np.cumsum(Y.sum(axis=1).astype(int)))
        target = SparseTarget(indptr, column, np.ones(len(row)), Y.shape[1])
    if kind == "smoothed":
        target = SmoothedTarget(target, 0.1, "cube")
    if kind == "given":
        rows = {"offset": rng.normal(size=Y.shape)}
        rows["available"] = (rng.random(Y.shape) < 0.8) | (Y > 0)
    problem = objective_of(X, target, **rows)
    limits = {"solver": "newton-cg", "tol": 1e-9, "max_iter": 100}
    whole = solve(problem, problem.initial(), **limits)
    parts = solve(problem, problem.initial(), tuning=IN_GROUPS, **limits)
    assert_allclose(parts.parameters, whole.parameters, atol=1e-6)
    assert_allclose(parts.value, whole.value, rtol=1e-10)


def test_any_problem_with_the_declared_members():
    rng = np.random.default_rng(0)
    X, signs = rng.normal(size=(50, 3)), np.sign(rng.normal(size=(50, 6)))
    problem = SquaredHinges(X, signs, 0.1, is_separable=True)
    limits = {"solver": "newton-cg", "tol": 1e-9, "max_iter": 50}
    whole = solve(problem, problem.initial(), **limits)
    tuning = Tuning()._replace(group_size=100, fewest_outputs=2)
    parts = solve(problem, problem.initial(), tuning=tuning, **limits)
    assert_allclose(parts.parameters, whole.parameters, atol=1e-8)
    assert parts.converged


class Progress:
    """The numbers of the iterations that were reported, and the problems begun."""

    def __init__(self):
        self.numbers, self.n_begun = [], 0

    def begin(self, parameters):
        self.n_begun += 1

    def end(self):
        pass

    def __call__(self, n_iter, parameters, value, norm, last):
        self.numbers.append(n_iter)
        self.n_begun += not last


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.parametrize("max_iter", [0, 1, 3, 5, 100])
def test_groups_of_problems_in_turn_have_one_limit(solver, max_iter):
    X, Y = label_sets()
    problems = [objective_of(X, DenseTarget(Y), alpha) for alpha in (1.0, 1.5)]
    limits = {"solver": solver, "max_iter": max_iter, "tuning": IN_GROUPS}
    progress = Progress()
    solution = solve_in_turn(
        problems, problems[0].initial(), progress=progress, tol=1e-7, **limits
    )
    n_groups = 3 if solver == "auto" else 1
    assert solution.n_iter <= n_groups * max_iter
    assert [row.iteration for row in solution.history] == [*range(solution.n_iter + 1)]
    assert progress.numbers == [*range(1, solution.n_iter + 1)]
    most = most_iterations(problems, **limits)
    assert progress.n_begun <= most <= n_groups * max(max_iter, 1) + 1
    assert solution.converged or max_iter < 100
    if not solution.converged:
        assert f"after max_iter={max_iter} iterations" in solution.message
