"""Every solver finds the optimum that another method finds, whatever the units."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from skprob import solvers
from skprob.mappings import Entmax, PerturbMax, Softmax, Sparsemax
from skprob.solvers import method_for

from .training_problems import (
    METHODS,
    classes,
    exact_optimum,
    objective_of,
    optimum,
    rounding_error,
)

CONTAINERS = [np.asarray, sparse.csr_array]
FEW = [Softmax(), Entmax(1.5), Sparsemax()]
every_mapping = pytest.mark.parametrize("mapping", FEW, ids=repr)
every_solver = pytest.mark.parametrize("solver", METHODS)


def in_turn(first):
    """Each solver with dense or sparse rows, the first of CONTAINERS or the next."""
    return [(CONTAINERS[(first + i) % 2], each) for i, each in enumerate(METHODS)]


def solve(solver, objective, *, tol=1e-7, max_iter=1000, start=None):
    start = objective.initial() if start is None else start
    limits = {"tol": tol, "max_iter": max_iter}
    solution = solvers.solve(objective, start, solver=solver, **limits)
    value, gradient = objective.value_and_gradient(solution.parameters)
    rounding = rounding_error(objective, solution.parameters)
    assert_allclose(solution.value, value, rtol=1e-12, atol=rounding)
    assert_allclose(solution.gradient, gradient, rtol=1e-6, atol=1e-6 * tol + rounding)
    assert solution.gradient_norm == np.abs(solution.gradient).max()
    assert solution.gradient_norm <= tol or not solution.converged
    return solution


@pytest.mark.parametrize("mapping", FEW, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_auto_is_the_method_of_its_choice(mapping, n_classes):
    """Bit for bit: the other tests here need not have it, too."""
    objectives = [objective_of(*classes(n_classes), mapping) for _ in range(2)]
    method = method_for(objectives[0].description)
    assert method == "newton-cholesky"
    # A second fit of an objective would save the pass of the first duality gap.
    solutions = list(map(solve, ("auto", method), objectives))
    assert_array_equal(*(solution.parameters for solution in solutions))
    assert solutions[0].message == solutions[1].message
    rows = [[row[:5] for row in solution.history] for solution in solutions]
    assert_array_equal(*rows)


def centred(intercept):
    return intercept - intercept.mean()


@pytest.mark.parametrize(
    "mapping", [*FEW, Entmax(1.25), Entmax(2.5), PerturbMax()], ids=repr
)
def test_the_optimum_is_the_one_another_method_finds(mapping):
    X, y = classes()
    objective = objective_of(X, y, mapping)
    expected_coef, expected_intercept = optimum(X, y, mapping, l2=0.01)
    for solver in METHODS:
        solution = solve(solver, objective, tol=3e-8)
        assert solution.converged, solution.message
        coef, intercept = objective.to_model(solution.parameters)
        assert_allclose(coef, expected_coef, atol=1e-6)
        assert_allclose(centred(intercept), centred(expected_intercept), atol=1e-6)


@every_mapping
@pytest.mark.parametrize(
    ("l2", "unit"), [(0.0, [1e-6, 1e-2, 1e2, 1e6]), (0.01, [1e-2, 1.0, 1e2, 1e6])]
)
def test_the_optimum_does_not_need_comparable_features(mapping, l2, unit):
    X, y = classes(n_features=4)
    offset = np.array([1.0, 0.0, 1e3, 1e6]) * np.minimum(unit, 1)
    # In the coordinates of X the penalty of feature j is that of coef[j] / unit[j].
    expected, expected_intercept = optimum(X, y, mapping, l2=l2, penalty_unit=unit)
    if l2:
        assert abs(expected[:, 0]).max() < 0.05 < abs(expected[:, 3]).max()
    # Each solver has dense rows with the one penalty, and sparse ones with the other.
    for container, solver in in_turn(int(l2 > 0)):
        objective = objective_of(container(X * unit + offset), y, mapping, l2=l2)
        solution = solve(solver, objective, tol=1e-6)
        assert solution.converged, solution.message
        coef, intercept = objective.to_model(solution.parameters)
        assert_allclose((coef - coef.mean(axis=0)) * unit, expected, atol=1e-4)
        shifted = centred(intercept + coef @ offset)
        assert_allclose(shifted, centred(expected_intercept), atol=1e-4)


@pytest.mark.parametrize(
    ("mapping", "n_classes"),
    [(Softmax(), 2), (Entmax(1.5), 4), (Sparsemax(), 2), (Sparsemax(), 4)],
)
def test_with_every_penalty_from_all_to_none(mapping, n_classes):
    """C from 1e-4 to infinity, and what is still to gain is what tol allows."""
    X, y = classes(n_classes, n_samples=120)
    X = np.hstack([X * [1e-2, 1, 30], X[:, :1]])  # collinear
    weight = np.random.default_rng(0).uniform(0, 2, len(y))
    for i, C in enumerate((1e-4, 1.0, 1e6, np.inf)):
        objective = objective_of(
            X, y, mapping, l2=1 / (C * weight.sum()), weight=weight
        )
        least, _ = objective.value_and_gradient(exact_optimum(objective))
        # Each solver has each tolerance, and with any two penalties in a row others.
        for j, solver in enumerate(METHODS):
            tol = (1e-2, 1e-4, 1e-8)[(i + j) % 3]
            solution = solve(solver, objective, tol=tol, max_iter=2000)
            assert solution.converged, solution.message
            allowed = tol * (solution.value + tol * objective.value_at_zero)
            assert solution.value - least <= 4 * allowed + 1e-13


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_objective_is_that_of_logistic_regression(n_classes):
    """Weights over twelve decades, and a class of a single row."""
    X, y = classes(n_classes, n_samples=300)
    X, y = np.vstack([X, [[0.1, 0.2, 0.3]]]), np.append(y, n_classes)
    X = X * [0.1, 1, 30] + [5, 0, -20]
    for weight in (np.ones(301), 10.0 ** np.random.default_rng(0).uniform(-6, 6, 301)):
        objective = objective_of(X, y, l2=1 / weight.sum(), weight=weight)
        model = LogisticRegression(solver="newton-cholesky", tol=1e-11, max_iter=500)
        model.fit(X, y, sample_weight=weight)
        parameters = objective.from_model(model.coef_, model.intercept_)
        least, _ = objective.value_and_gradient(parameters)
        for solver in METHODS:
            solution = solve(solver, objective, tol=1e-9)
            assert solution.value == pytest.approx(least, rel=1e-8)
            coef, intercept = objective.to_model(solution.parameters)
            assert_allclose(coef, model.coef_, atol=1e-4)
            assert_allclose(intercept, centred(model.intercept_), atol=1e-3)


def test_where_plain_lbfgs_gets_stuck():
    X, y = classes(n_features=4, n_samples=200)
    bad = X * [1e-3, 1, 1e3, 1e5] + [0, 10, 1e4, 1e6]
    l2 = 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stuck = LogisticRegression(C=1 / (l2 * 200), max_iter=1000).fit(bad, y)
    objective = objective_of(bad, y, l2=l2)
    parameters = objective.from_model(stuck.coef_, stuck.intercept_)
    for solver in METHODS:
        solution = solve(solver, objective, tol=1e-4)
        assert solution.converged
        assert objective.value_and_gradient(parameters)[0] > solution.value + 1e-3


@every_mapping
def test_single_precision_gets_as_far_as_it_can(mapping):
    X, y = classes(n_samples=500, n_features=6)
    reference = solve("newton-cg", objective_of(X, y, mapping), tol=1e-9)
    for container, solver in in_turn(FEW.index(mapping)):
        single = objective_of(container(X.astype(np.float32)), y, mapping)
        solution = solve(solver, single, tol=1e-5)
        assert solution.converged, solution.message
        assert_allclose(solution.parameters, reference.parameters, atol=1e-3)


@every_mapping
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_constant_and_duplicate_columns(mapping, l2):
    X, y = classes()
    n = len(y)
    columns = [X, X[:, :1], np.zeros((n, 1)), np.full((n, 1), 1e6)]
    objective = objective_of(np.hstack(columns), y, mapping, l2=l2)
    # A duplicate halves the penalty of its feature.
    expected, _ = optimum(X, y, mapping, l2=l2, penalty_unit=[np.sqrt(2), 1, 1])
    for solver in METHODS:
        solution = solve(solver, objective, tol=1e-6)
        assert solution.converged, solution.message
        coef, _ = objective.to_model(solution.parameters)
        assert_allclose(coef[:, 0], coef[:, 3], atol=1e-6)
        assert_allclose(coef[:, 4:], 0, atol=1e-8)
        merged = np.column_stack([coef[:, 0] + coef[:, 3], coef[:, 1:3]])
        assert_allclose(merged, expected, atol=1e-4)


@every_mapping
def test_more_features_than_rows(mapping):
    X, y = classes(n_samples=12, n_features=40)
    dense = objective_of(X, y, mapping)
    least, _ = dense.value_and_gradient(exact_optimum(dense))
    for container, solver in in_turn(FEW.index(mapping)):
        objective = objective_of(container(X), y, mapping)
        solution = solve(solver, objective, tol=1e-9)
        assert solution.converged, solution.message
        assert solution.value - least <= 1e-10
        coef, _ = objective.to_model(solution.parameters)
        # The penalty keeps the coefficients in the span of the rows.
        assert_allclose(coef, coef @ np.linalg.pinv(X) @ X, atol=1e-6)


def test_many_sparse_features_with_their_own_frequencies():
    """So many that the preconditioner is a diagonal."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 700), density=0.05, format="csr", rng=rng)
    X = sparse.csr_array(X.multiply(10.0 ** rng.uniform(-1, 1, 700)))
    for mapping in (Softmax(), Sparsemax()):
        objective = objective_of(X, np.arange(60) % 3, mapping, l2=1e-2)
        tight = solve("newton-cg", objective, tol=1e-12)
        for solver in ("auto", "lbfgs", "newton-cg"):
            solution = solve(solver, objective, tol=1e-6)
            assert solution.converged, solution.message
            assert solution.value - tight.value <= 1e-5 * tight.value


@every_mapping
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_single_row_that_tells_anything(mapping, n_classes):
    """All others have no features, or no weight."""
    y = np.arange(50) % n_classes
    X = np.zeros((50, 3))
    X[7] = [1.0, -2.0, 300.0]
    lone = np.random.default_rng(0).normal(size=(50, 3))
    weight = np.full(50, 1e-12)
    weight[: n_classes + 1] = 1
    for rows, by_row in ((X, np.ones(50)), (lone, weight)):
        objective = objective_of(rows, y, mapping, l2=1e-3, weight=by_row)
        least, _ = objective.value_and_gradient(exact_optimum(objective))
        for solver in METHODS:
            solution = solve(solver, objective)
            assert solution.converged, solution.message
            assert solution.value - least <= 1e-6 * least


@pytest.mark.parametrize("unit", [1e-310, 1e-150, 1e150, 1e300])
def test_absurd_units(unit):
    X, y = classes()
    cases = [(l2, *case) for i, l2 in enumerate((0.0, 0.01)) for case in in_turn(i)]
    for l2, container, solver in cases:
        objective = objective_of(container(X * [1, 1, unit]), y, l2=l2)
        solution = solve(solver, objective, tol=1e-6)
        assert solution.converged, solution.message
        assert np.isfinite(solution.parameters).all()
        # Too small a feature is not worth its penalty, or has no coefficient.
        n_useful = 3 if unit > 1 or (l2 == 0 and unit == 1e-150) else 2
        if l2 == 0 or n_useful == 2:
            plain = solve(solver, objective_of(X[:, :n_useful], y, l2=l2))
            assert solution.value == pytest.approx(plain.value, abs=1e-9)


@pytest.mark.parametrize("unit", [1e5, 1e8, 1e11])
def test_a_success_is_within_tol_in_huge_units_as_well(unit):
    """The gradient is that of standardised features, which rounding does not hide."""
    X, y = classes()
    for mapping in (Softmax(), Sparsemax()):
        plain = solve("auto", objective_of(X, y, mapping, l2=0.0), tol=1e-9)
        objective = objective_of(X * unit + unit, y, mapping, l2=1e-9)
        for solver in METHODS:
            solution = solve(solver, objective, tol=1e-7)
            assert solution.converged, solution.message
            assert solution.gradient_norm <= 1e-7
            assert solution.value == pytest.approx(plain.value, rel=1e-6)


@every_solver
def test_a_weak_penalty_of_huge_or_single_precision_features_is_no_excuse(solver):
    """The duality gap divides what rounding leaves of the gradient by the penalty."""
    X, y = classes(5, n_samples=1000, n_features=5)
    single = (X * [0.1, 1, 10, 100, 1000]).astype(np.float32)
    for mapping in (Softmax(), Sparsemax()):
        plain = objective_of(X, y, mapping, l2=0.0)
        expected = solve(solver, plain, tol=1e-9).value
        for data, l2 in ((single, 1e-8), (single, 1e-12), (X * 1e13, 1e-2)):
            objective = objective_of(data, y, mapping, l2=l2)
            solution = solve(solver, objective, tol=1e-3)
            assert solution.converged, solution.message
            assert solution.value == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("mapping", [Entmax(1.5), Sparsemax()], ids=repr)
def test_separable_classes_with_a_loss_that_can_be_zero(mapping):
    for solver in METHODS:
        X, _ = classes(n_features=2)
        y = (X[:, 0] > 0).astype(int) + (X[:, 0] > 0.8)
        X[:, 0] += 3 * y  # a wide gap between the classes
        solution = solve(solver, objective_of(X, y, mapping, l2=0.0), tol=1e-6)
        assert solution.converged, solution.message
        assert 0 <= solution.value < 1e-6
