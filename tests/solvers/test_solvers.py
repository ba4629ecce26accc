"""Every solver finds the optimum, whatever the units, and says how it went."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import SOLVERS, lbfgs, newton_cg, newton_cholesky

from ..losses.cases import MAPPINGS
from .problems import classes, objective_of, optimum

WITH_POTENTIAL = {k: m for k, m in MAPPINGS.items() if m.has_potential}
FEW = [Softmax(), Entmax(1.5), Sparsemax()]


@pytest.fixture(params=SOLVERS)
def solve(request):
    """``solve(objective)`` by every solver in turn, from zero."""

    def solve(objective, *, tol=1e-7, max_iter=1000, start=None, **options):
        if start is None:
            start = np.zeros(objective.n_parameters)
        solver = SOLVERS[request.param]
        return solver(objective, start, tol=tol, max_iter=max_iter, **options)

    return solve


def centred(intercept):
    return intercept - intercept.mean()


@pytest.mark.parametrize("mapping", WITH_POTENTIAL.values(), ids=WITH_POTENTIAL)
def test_the_optimum_is_the_one_another_method_finds(solve, mapping):
    X, y = classes()
    objective = objective_of(X, y, mapping)
    solution = solve(objective, tol=3e-8)
    assert solution.converged, solution.message
    coef, intercept = objective.unpack(solution.parameters)
    expected_coef, expected_intercept = optimum(X, y, mapping, l2=0.01)
    assert_allclose(coef, expected_coef, atol=1e-6)
    assert_allclose(centred(intercept), centred(expected_intercept), atol=1e-6)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("mapping", FEW, ids=repr)
@pytest.mark.parametrize(
    ("l2", "unit"), [(0.0, [1e-6, 1e-2, 1e2, 1e6]), (0.01, [1e-2, 1.0, 1e2, 1e6])]
)
def test_the_optimum_does_not_need_comparable_features(
    solve, mapping, container, l2, unit
):
    X, y = classes(n_features=4)
    offset = np.array([1.0, 0.0, 1e3, 1e6]) * np.minimum(unit, 1)
    objective = objective_of(container(X * unit + offset), y, mapping, l2=l2)
    solution = solve(objective, tol=1e-6)
    assert solution.converged, solution.message
    coef, intercept = objective.unpack(solution.parameters)
    # In the coordinates of X the penalty of feature j is that of coef[j] / unit[j].
    expected, expected_intercept = optimum(X, y, mapping, l2=l2, penalty_unit=unit)
    assert_allclose((coef - coef.mean(axis=0)) * unit, expected, atol=1e-4)
    assert_allclose(
        centred(intercept + coef @ offset), centred(expected_intercept), atol=1e-4
    )
    if l2:
        assert abs(expected[:, 0]).max() < 0.05 < abs(expected[:, 3]).max()


def test_where_plain_lbfgs_gets_stuck(solve):
    X, y = classes(n_features=4, n_samples=200)
    bad = X * [1e-3, 1, 1e3, 1e5] + [0, 10, 1e4, 1e6]
    l2 = 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        stuck = LogisticRegression(C=1 / (l2 * 200), max_iter=1000).fit(bad, y)
    objective = objective_of(bad, y, l2=l2)
    there = objective.pack(stuck.coef_, stuck.intercept_)
    # In the large feature's units 1e-4 is out of reach of rounding.
    solution = solve(objective, tol=1e-4)
    assert solution.converged
    assert objective.value_and_gradient(there)[0] > solution.value + 1e-3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_penalty_is_that_of_logistic_regression(solve, n_classes):
    X, y = classes(n_classes, n_samples=100)
    X = X * [0.1, 1, 30] + [5, 0, -20]
    weight = np.random.default_rng(1).uniform(0, 2, 100)
    objective = objective_of(X, y, l2=1 / weight.sum(), weight=weight)
    solution = solve(objective, tol=1e-9)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10)
    model.fit(X, y, sample_weight=weight)
    coef, intercept = objective.unpack(solution.parameters)
    assert_allclose(coef, model.coef_, atol=1e-6)
    assert_allclose(centred(intercept), centred(model.intercept_), atol=1e-5)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("mapping", FEW, ids=repr)
def test_tol_bounds_the_gradient_in_the_original_coordinates(solve, mapping, tol):
    X, y = classes()
    norms = []
    # Small units would satisfy a bound on the original gradient alone at once.
    for unit in (1e-4, 1.0, 10.0):
        objective = objective_of(X * unit, y, mapping, l2=1e-4 * unit**2)
        solution = solve(objective, tol=tol)
        _, gradient = objective.value_and_gradient(solution.parameters)
        assert solution.converged
        assert solution.message == "gradient within tol"
        assert solution.gradient_norm == np.abs(gradient).max() <= tol
        norms.append(solution.gradient_norm)
    exact = solve(objective_of(X * 1e-4, y, mapping, l2=1e-12), tol=1e-10)
    rough = solve(objective_of(X * 1e-4, y, mapping, l2=1e-12), tol=tol)
    assert rough.value - exact.value <= 10 * tol
    assert 0 < norms[2] <= tol


def test_no_iteration_at_the_optimum_and_none_if_none_is_allowed(solve):
    objective = objective_of(*classes())
    solution = solve(objective, tol=1e-7)
    again = solve(objective, start=solution.parameters, tol=2e-7, max_iter=100)
    assert (again.n_iter, again.converged) == (0, True)
    assert_allclose(again.parameters, solution.parameters, rtol=1e-13)
    none = solve(objective, max_iter=0)
    assert (none.n_iter, none.converged, none.stopped) == (0, False, False)
    assert none.message == "max_iter=0 iterations were not enough"
    assert_allclose(none.parameters, 0)
    assert none.value == pytest.approx(np.log(3))


@pytest.mark.parametrize("max_iter", [1, 3])
def test_max_iter_is_honoured(solve, max_iter):
    seen = []
    solution = solve(
        objective_of(*classes()),
        tol=1e-12,
        max_iter=max_iter,
        callback=lambda n, *rest: seen.append((n, rest[-1])),
    )
    assert solution.n_iter == max_iter
    assert not solution.converged
    assert solution.message == f"max_iter={max_iter} iterations were not enough"
    assert seen == [(i, i == max_iter) for i in range(1, max_iter + 1)]


class Staircase:
    """A curved valley that takes tens of thousands of steps (Nesterov)."""

    coef_shape = (1, 10)
    l2 = 0.0
    dtype = np.float64
    fit_intercept = False
    n_parameters = 10
    n_evaluations = 0
    is_convex = False

    def feature_moments(self):
        return np.zeros(10), np.ones(10)

    def falls_without_end(self, parameters, value):
        return False

    def pack(self, coef, intercept):
        return np.ravel(coef)

    def unpack(self, parameters):
        return parameters.reshape(1, 10), np.zeros(1)

    def value_and_gradient(self, x):
        self.n_evaluations += 1
        rest = x[1:] - 2 * x[:-1] ** 2 + 1
        gradient = np.append(2 * (x[0] - 1) / 4, 2 * rest)
        gradient[:-1] -= 8 * rest * x[:-1]
        return (x[0] - 1) ** 2 / 4 + rest @ rest, gradient


def test_evaluations_do_not_cap_the_iterations():
    """SciPy would give up after 15,000 evaluations."""
    objective = Staircase()
    start = np.append(-1.0, np.ones(9))
    solution = lbfgs(objective, start, tol=1e-8, max_iter=12_000)
    assert objective.n_evaluations > 15_000
    assert solution.n_iter == 12_000
    assert solution.message == "max_iter=12000 iterations were not enough"


class Wells(Staircase):
    """Two of them in each variable, of a feature in large units; nothing else."""

    def feature_moments(self):
        return np.zeros(10), np.full(10, 1e12)

    def value_and_gradient(self, x):
        return (1 + (x**2 - 2) ** 2).sum(), 4 * x * (x**2 - 2)


def test_a_stall_without_convexity_needs_no_certificate():
    solution = lbfgs(Wells(), np.ones(10), tol=1e-17, max_iter=1000)
    assert_allclose(solution.parameters, np.sqrt(2), rtol=1e-15)
    assert solution.converged
    assert "up to rounding" in solution.message


def test_the_callback_sees_every_iteration(solve):
    objective = objective_of(*classes())
    seen = []
    solution = solve(objective, callback=lambda *args: seen.append(args))
    count, parameters, values, norms, last = zip(*seen, strict=True)
    assert count == tuple(range(1, solution.n_iter + 1))
    assert last == (False,) * (solution.n_iter - 1) + (True,)
    for theta, value, norm in zip(parameters, values, norms, strict=True):
        expected, gradient = objective.value_and_gradient(theta)
        assert value == pytest.approx(expected, rel=1e-14)
        assert norm == pytest.approx(np.abs(gradient).max(), rel=1e-9)
    assert all(np.diff(values) < 0)
    assert_allclose(parameters[-1], solution.parameters, rtol=0)
    assert norms[-1] == solution.gradient_norm <= 1e-7


def test_a_callback_can_stop(solve):
    objective = objective_of(*classes())
    solution = solve(objective, callback=lambda n, *_: n == 2)
    assert (solution.n_iter, solution.stopped, solution.converged) == (2, True, False)
    assert solution.message == "stopped by a callback"
    _, gradient = objective.value_and_gradient(solution.parameters)
    assert solution.gradient_norm == np.abs(gradient).max() > 1e-8


def test_an_error_in_the_callback_is_not_swallowed(solve):
    def fail(*_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        solve(objective_of(*classes()), callback=fail)


@pytest.mark.parametrize("shape", [(12, 40), (100, 5), (300, 20)])
@pytest.mark.parametrize("mapping", FEW, ids=repr)
def test_the_gradient_tells_where_values_cannot(solve, mapping, shape):
    """About a gradient of 1e-9 values differ by less than their rounding."""
    n_samples, n_features = shape
    X, y = classes(n_samples=n_samples, n_features=n_features)
    solution = solve(objective_of(X, y, mapping), tol=1e-12)
    assert solution.converged, solution.message
    assert solution.gradient_norm <= 1e-12


@pytest.mark.parametrize("mapping", FEW, ids=repr)
def test_a_stall_is_reported(solve, mapping):
    """In float32 no gradient is as small as 1e-12."""
    X, y = classes()
    objective = objective_of(X.astype(np.float32), y, mapping)
    solution = solve(objective, tol=1e-12)
    if solution.gradient_norm > 1e-12:  # sparsemax may hit the optimum exactly
        assert not solution.converged
        assert "no step lowers the objective" in solution.message
    assert solution.n_iter < 200
    assert solution.gradient_norm < 1e-4
    assert type(solution.converged) is type(solution.stopped) is bool


def test_large_units_that_hide_the_gradient_in_rounding_are_said(solve):
    X, y = classes()
    solution = solve(objective_of(X * 1e11, y, l2=0.0), tol=1e-7)
    assert solution.converged
    assert solution.gradient_norm > 1e-7
    assert "up to rounding" in solution.message


@pytest.mark.parametrize("mapping", FEW, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_precision_gets_as_far_as_it_can(solve, mapping, dtype):
    X, y = classes(n_samples=500, n_features=6)
    reference = solve(objective_of(X, y, mapping), tol=1e-9)
    solution = solve(objective_of(X.astype(dtype), y, mapping), tol=1e-5)
    assert solution.converged, solution.message
    assert_allclose(solution.parameters, reference.parameters, atol=1e-3)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("mapping", FEW, ids=repr)
def test_constant_and_duplicate_columns(solve, mapping, container, l2):
    X, y = classes()
    n = len(y)
    columns = [X, X[:, :1], np.zeros((n, 1)), np.full((n, 1), 1e6)]
    objective = objective_of(container(np.hstack(columns)), y, mapping, l2=l2)
    solution = solve(objective, tol=1e-6)
    assert solution.converged, solution.message
    coef, _ = objective.unpack(solution.parameters)
    assert_allclose(coef[:, 0], coef[:, 3], atol=1e-6)
    assert_allclose(coef[:, 4:], 0, atol=1e-8)
    # A duplicate halves the penalty of its feature.
    expected, _ = optimum(
        X, y, mapping, l2=max(l2, 1e-12), penalty_unit=[np.sqrt(2), 1, 1]
    )
    merged = np.column_stack([coef[:, 0] + coef[:, 3], coef[:, 1:3]])
    if l2:
        assert_allclose(merged, expected, atol=1e-5)
    else:
        alone = objective_of(X, y, mapping, l2=0.0)
        assert solution.value == pytest.approx(solve(alone).value, abs=1e-8)


@pytest.mark.parametrize("mapping", FEW, ids=repr)
def test_more_features_than_rows(solve, mapping):
    X, y = classes(n_samples=12, n_features=40)
    objective = objective_of(X, y, mapping)
    solution = solve(objective, tol=1e-9)
    assert solution.converged
    coef, _ = objective.unpack(solution.parameters)
    # The penalty keeps the coefficients in the span of the rows.
    inside = coef @ np.linalg.pinv(X) @ X
    assert_allclose(coef, inside, atol=1e-6)


def separable_classes():
    X, _ = classes(n_features=2)
    y = (X[:, 0] > 0).astype(int) + (X[:, 0] > 0.8)
    X[:, 0] += 3 * y  # a wide gap between the classes
    return X, y


@pytest.mark.parametrize("mapping", [Entmax(1.5), Sparsemax()], ids=repr)
def test_separable_classes_with_a_loss_that_can_be_zero(solve, mapping):
    objective = objective_of(*separable_classes(), mapping, l2=0.0)
    solution = solve(objective, tol=1e-6)
    assert solution.converged, solution.message
    assert 0 <= solution.value < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes_without_an_optimum(solve, n_classes):
    X, y = separable_classes()
    objective = objective_of(X, np.minimum(y, n_classes - 1), l2=0.0)
    solution = solve(objective, tol=1e-4)
    assert not solution.converged
    assert solution.message.startswith("no optimum exists")
    assert np.isfinite(solution.parameters).all()
    assert 0 < solution.value < 1e-6
    # Where there is one, nothing is said.
    assert solve(objective_of(*classes(n_classes), l2=0.0), tol=1e-6).converged


@pytest.mark.parametrize(
    ("mapping", "n_classes", "expected"),
    [
        (Softmax(), 3, newton_cholesky),
        (Softmax(), 20, newton_cg),
        (Softmax(), 500, lbfgs),
        (Sparsemax(), 500, newton_cg),
        (Entmax(2.5), 3, lbfgs),
    ],
)
def test_auto_is_the_solver_that_suits(mapping, n_classes, expected):
    """Of the 2.5 million probabilities, softmax leaves out none.

    With 3 classes the Hessian has 144 numbers, and with 20 it has 6,400.
    """
    objective = objective_of(*classes(n_classes, n_samples=5000), mapping)
    found, solution = (
        solver(objective, objective.initial(), tol=1e-9, max_iter=2)
        for solver in (SOLVERS["auto"], expected)
    )
    assert_array_equal(found.parameters, solution.parameters)
    assert found.n_iter == 2


def test_a_method_that_is_missing_is_named():
    class Nothing:
        dtype = np.float64

    needs = {
        newton_cg: "linearize",
        newton_cholesky: "linearize",
        lbfgs: "value_and_gradient",
    }
    for solver, name in needs.items():
        nothing = Nothing()
        nothing.is_convex = nothing.falls_without_end = None
        with pytest.raises(TypeError, match=f"needs {name}, which Nothing does not"):
            solver(nothing, np.zeros(1), tol=1e-4, max_iter=1)
    with pytest.raises(TypeError, match="needs is_convex"):
        lbfgs(Nothing(), np.zeros(1), tol=1e-4, max_iter=1)


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e-150, 1e150, 1e200, 1e300])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_absurd_units(solve, unit, container, l2):
    X, y = classes()
    without = objective_of(X[:, :2], y, l2=l2)
    plain = objective_of(X, y, l2=0.0)
    objective = objective_of(container(X * [1, 1, unit]), y, l2=l2)
    solution = solve(objective, tol=1e-6)
    assert solution.converged, solution.message
    assert np.isfinite(solution.parameters).all()
    if l2 == 0 and unit in (1e-150, 1e150, 1e200, 1e300):
        assert solution.value == pytest.approx(solve(plain).value, abs=1e-9)
    elif unit < 1:
        # Too small a feature to be worth its penalty, or to have a coefficient.
        assert solution.value == pytest.approx(solve(without).value, abs=1e-9)
