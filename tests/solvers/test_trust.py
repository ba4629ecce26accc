"""An optimum one can trust, on data that make it hard."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from skprob.losses import FenchelYoungLoss, SparseTarget
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.solvers import SOLVERS, newton_cg
from skprob.solvers._course import Course

from .problems import classes, exact_optimum, objective_of

every_solver = pytest.mark.parametrize("solver", SOLVERS)


def solve(objective, solver, tol, max_iter=1000):
    start = objective.initial()
    return SOLVERS[solver](objective, start, tol=tol, max_iter=max_iter)


def logistic_regression(X, y, l2, weight):
    """Its objective, by second derivatives without approximation."""
    model = LogisticRegression(
        C=1 / (l2 * weight.sum()), solver="newton-cholesky", tol=1e-12, max_iter=500
    )
    return model.fit(X, y, sample_weight=weight)


@every_solver
def test_success_is_not_reported_with_percents_to_go(solver):
    X, y = load_digits(return_X_y=True)
    objective = objective_of(X, y, l2=1 / len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = LogisticRegression(tol=1e-3, max_iter=10_000).fit(X, y)
    assert theirs.n_iter_[0] < 10_000  # it believes to be there
    best = newton_cg(objective, objective.initial(), tol=1e-10, max_iter=100)
    there = objective.pack(theirs.coef_, theirs.intercept_)
    assert objective.value_and_gradient(there)[0] > 1.05 * best.value
    solution = solve(objective, solver, tol=1e-3)
    assert solution.converged
    assert solution.value < 1.002 * best.value


@every_solver
@pytest.mark.parametrize("tol", [1e200, 1e300])
def test_a_tolerance_whose_square_overflows_is_a_large_one(solver, tol):
    X, y = classes(3)
    for mapping in Softmax(), Sparsemax():
        solution = solve(objective_of(X, y, mapping=mapping), solver, tol=tol)
        assert solution.converged
        assert solution.n_iter <= 1


def promised(objective, value, tol):
    """By how much a value may exceed the minimum."""
    cold, _ = objective.value_and_gradient(objective.initial())
    return tol * (value + tol * cold)


@every_solver
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
def test_what_is_left_is_what_was_promised(solver, load, mapping):
    """Along a path of penalties, from zero and from the last solution alike."""
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    start, n_cold, n_warm = None, 0, 0
    for C in (1e-2, 1, 100, 1e4):
        objective = objective_of(X, y, mapping, l2=1 / (C * len(y)))
        if start is None:
            start = objective.initial()
        cold = solve(objective, solver, tol=1e-4)
        warm = SOLVERS[solver](objective, start, tol=1e-4, max_iter=1000)
        least, _ = objective.value_and_gradient(exact_optimum(objective))
        for solution in (cold, warm):
            left = solution.value - least
            if C <= 100:
                assert solution.converged, solution.message
                # It is an estimate, after all.
                assert left <= 4 * promised(objective, solution.value, 1e-4)
            elif solution.converged:
                # With hardly any loss left there is a kink at every step.
                assert left <= 0.05 * solution.value
        start = warm.parameters
        n_cold += cold.n_iter
        n_warm += warm.n_iter
    assert n_warm < n_cold


@every_solver
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
def test_success_is_certified(solver, mapping):
    """Where estimates are worth little: raw features, and hardly any loss left."""
    X, y = load_wine(return_X_y=True)
    objective = objective_of(X, y, mapping, l2=1e-4 / len(y))
    solution = solve(objective, solver, tol=1e-4, max_iter=3000)
    assert solution.converged, solution.message
    gap = objective.duality_gap(solution.parameters, solution.value, solution.gradient)
    assert gap <= 0.05 * solution.value
    least, _ = objective.value_and_gradient(exact_optimum(objective))
    # Up to rounding, of numbers of the order of one.
    assert solution.value - least <= gap + 1e-15


@every_solver
@pytest.mark.parametrize("alpha", [1, 1.25, 1.5])
def test_a_loose_tolerance_takes_little_loss_for_none_no_sooner(solver, alpha):
    """Classes that can be told apart, so that the square of tol is much beside it."""
    n_converged = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        X = random.normal(size=(40, 8))
        y = (X @ random.normal(size=(8, 4))).argmax(axis=1)
        objective = objective_of(X, y, Entmax(alpha), l2=1e-5 / len(y))
        solution = solve(objective, solver, tol=1e-2)
        gap = objective.duality_gap(
            solution.parameters, solution.value, solution.gradient
        )
        assert not solution.converged or gap <= 0.05 * solution.value
        n_converged += solution.converged
    assert n_converged >= 8


@pytest.mark.parametrize("seed", [4, 7, 10, 11])
def test_the_penalty_of_small_units_does_not_hide_what_is_left_of_the_curvature(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(50, 20))
    y = (X[:, 12:] @ random.normal(size=(8, 4))).argmax(axis=1)
    objective = objective_of(X * np.logspace(-5, 5, 20), y, l2=1e-4 / len(y))
    solution = solve(objective, "newton-cg", tol=1e-4)
    assert solution.converged
    assert solution.n_iter < 60


def test_units_that_differ_much_do_not_keep_steps_short():
    """Long steps where the loss is flat take turns with short ones."""
    n_steps = 0
    for seed in (0, 12, 18):
        random = np.random.default_rng(seed)
        X = random.normal(size=(45, 14))
        units = 10.0 ** random.uniform(-5, 5, 14)
        scores = X @ random.normal(size=(14, 5)) + random.gumbel(size=(45, 5))
        objective = objective_of(
            X * units, scores.argmax(axis=1), Entmax(1.5), l2=1 / (30 * 45)
        )
        solution = solve(objective, "newton-cg", tol=1e-6)
        assert solution.converged
        n_steps += solution.n_iter
    assert n_steps < 250


def test_an_estimate_that_the_certificate_does_not_bear_out_is_not_enough():
    objective = objective_of(*classes(), l2=1e-3)
    best = newton_cg(objective, objective.initial(), tol=1e-12, max_iter=100)
    far = best.parameters * 1.5
    value, gradient = objective.value_and_gradient(far)
    assert value > 1.05 * best.value
    course = Course(objective, tol=10.0, max_iter=10)
    course.arrive(far, value, gradient, 0.0)
    assert course.converged  # a tolerance so large promises nothing
    course = Course(objective, tol=np.abs(gradient).max(), max_iter=10)
    course.arrive(far, value, gradient, 0.0)
    assert not course.converged


def test_the_rule_does_not_depend_on_the_start():
    objective = objective_of(*classes(), l2=1e-3)
    point = np.random.default_rng(0).normal(size=objective.n_parameters)
    no_gradient = np.zeros_like(point)
    value, tol = 0.2, 1e-2
    for part, there in ((0.99, True), (1.01, False)):
        gain = part * promised(objective, value, tol)
        for starts in ([], [objective.initial()], [point / 2]):
            course = Course(objective, tol=tol, max_iter=10)
            for start in starts:
                course.arrive(start, *objective.value_and_gradient(start), np.nan)
                assert not course.converged
                course.iterated()
            course.arrive(point, value, no_gradient, gain)
            assert course.converged == there


def test_a_small_gradient_alone_is_not_enough():
    """Unless the duality gap says so, where the curvature is not known."""
    X, y = classes(n_samples=1000)
    objective = objective_of(X, y, l2=1e-7)
    best = newton_cg(objective, objective.initial(), tol=1e-12, max_iter=100)
    for size, there in ((1e-9, True), (1e-1, False)):
        far = best.parameters * (1 + size)
        value, gradient = objective.value_and_gradient(far)
        course = Course(objective, tol=1e-1, max_iter=10)
        assert np.abs(gradient).max() <= 1e-1
        course.arrive(far, value, gradient, np.nan)
        assert course.converged == there


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_newton_gets_to_the_last_digits(load, mapping):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    objective = objective_of(X, y, mapping, l2=1 / len(y))
    solution = newton_cg(objective, objective.initial(), tol=1e-10, max_iter=100)
    assert solution.converged, solution.message
    assert solution.gradient_norm <= 1e-10
    gap = objective.duality_gap(solution.parameters, solution.value, solution.gradient)
    assert gap <= 1e-7 * solution.value


@pytest.mark.parametrize("mapping", [Entmax(1.5), Sparsemax()], ids=repr)
def test_newton_is_not_lost_among_the_kinks_of_nearly_separable_data(mapping):
    """Nearly all rows are without curvature at the optimum, and not on the way."""
    X, y = load_digits(return_X_y=True)
    objective = objective_of(X, y, mapping, l2=1 / len(y))
    solution = newton_cg(objective, objective.initial(), tol=1e-9, max_iter=100)
    assert solution.converged, solution.message
    gap = objective.duality_gap(solution.parameters, solution.value, solution.gradient)
    assert gap <= 1e-4 * solution.value


@every_solver
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_of_all_sizes(solver, n_classes):
    X, y = classes(n_classes, n_samples=300)
    weight = 10.0 ** np.random.default_rng(0).uniform(-6, 6, len(y))
    objective = objective_of(X, y, l2=1e-3, weight=weight)
    solution = solve(objective, solver, tol=1e-8)
    assert solution.converged, solution.message
    model = logistic_regression(X, y, 1e-3, weight)
    there = objective.pack(model.coef_, model.intercept_)
    expected, _ = objective.value_and_gradient(there)
    assert solution.value == pytest.approx(expected, rel=1e-7)


@every_solver
def test_classes_of_one_row(solver):
    X, y = classes(3, n_samples=100)
    y = np.append(y, [3, 4])
    X = np.vstack([X, [[0.1, 0.2, 0.3], [3, 3, 3]]])
    objective = objective_of(X, y, l2=1e-2)
    solution = solve(objective, solver, tol=1e-8)
    assert solution.converged, solution.message
    model = logistic_regression(X, y, 1e-2, np.ones(len(y)))
    there = objective.pack(model.coef_, model.intercept_)
    expected, _ = objective.value_and_gradient(there)
    assert solution.value == pytest.approx(expected, rel=1e-9)


@every_solver
@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.05), Sparsemax()], ids=repr)
def test_a_class_that_is_never_the_target_does_not_keep_a_fit_from_ending(
    solver, mapping
):
    """There is no best intercept for it, or a very low one, and no certificate."""
    X, y = classes(3)
    target = SparseTarget.from_labels(y, n_classes=4)
    blocks = split_rows(X, target, np.ones(len(y)))
    objective = LinearObjective(blocks, FenchelYoungLoss(mapping), l2=0.01)
    solution = solve(objective, solver, tol=1e-4, max_iter=200)
    assert solution.converged, solution.message
    without = objective_of(X, y, mapping, l2=0.01)
    best = newton_cg(without, without.initial(), tol=1e-10, max_iter=100)
    assert abs(solution.value - best.value) <= 1e-3 * best.value
