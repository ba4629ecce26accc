"""Newton's method for each output, compared with SciPy for each label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from skprob.solvers import Tuning, solve
from skprob.targets import DenseTarget, SmoothedTarget

from .wide_objectives import L2, LIMITS, objective_of, wide_rows


def optimum(X, q, share, offset, fit_intercept):
    """Coefficients and intercept of one logistic regression, by SciPy."""
    size = X.shape[1]

    def loss(theta):
        u = X @ theta[:size] + fit_intercept * theta[size] + offset
        slope = share * (1 / (1 + np.exp(-u)) - q)
        ridge = L2 * np.append(theta[:size], 0)
        value = share @ (np.logaddexp(0, u) - q * u) + theta @ ridge / 2
        return value, np.append(X.T @ slope, fit_intercept * slope.sum()) + ridge

    options = {"gtol": 1e-11, "ftol": 0, "maxiter": 10_000, "maxfun": 20_000}
    start = np.zeros(size + 1)
    return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x


def best_intercept(q, alpha):
    """The score at which two-class entmax of it and zero is q."""
    if alpha == 1:
        return np.log(q / (1 - q))
    return (q ** (alpha - 1) - (1 - q) ** (alpha - 1)) / (alpha - 1)


KINDS = ["plain", "weights", "offset", "unknown", "smoothed", "no intercept"]


# Single precision with weights and offsets, which enter the sums over rows.
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        *((kind, np.float64) for kind in KINDS),
        *((kind, np.float32) for kind in ("weights", "offset")),
    ],
)
def test_the_optimum_is_that_of_each_label_alone(kind, dtype):
    X, Y = wide_rows()
    rng, rows, target = np.random.default_rng(1), {}, DenseTarget(Y.astype(dtype))
    weight, offset, known = np.ones(len(Y)), np.zeros(Y.shape), np.ones(Y.shape, bool)
    if kind == "weights":
        weight = rng.integers(0, 4, len(Y)).astype(float)
    if kind == "offset":
        offset = rows["offset"] = rng.normal(size=Y.shape).astype(dtype)
    if kind == "unknown":
        known = rows["available"] = (rng.random(Y.shape) < 0.7) | (Y > 0)
    if kind == "smoothed":
        target = SmoothedTarget(target, 0.1, "cube")
    has_intercept, X = kind != "no intercept", X.astype(dtype)
    problem = objective_of(X, target, weight, fit_intercept=has_intercept, **rows)
    tol, within = (1e-9, 1e-6) if dtype == np.float64 else (1e-5, 2e-3)
    solution = solve(problem, problem.initial(), **LIMITS | {"tol": tol})
    assert solution.converged
    coef, intercept = problem.to_model(solution.parameters)
    q, share = target.to_dense(float), weight / weight.sum()
    for k in range(Y.shape[1]):
        of_label = q[:, k], share * known[:, k], offset[:, k]
        expected = optimum(X, *of_label, has_intercept)
        assert_allclose([*coef[k], intercept[k]], expected, atol=within)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_figures_are_those_of_all_labels(alpha, tol):
    X, Y = wide_rows()
    problem, calls = objective_of(X, Y, alpha=alpha), []
    limits = LIMITS | {"tol": tol}
    solution = solve(
        problem, problem.initial(), callback=lambda *args: calls.append(args), **limits
    )
    value, gradient = problem.value_and_gradient(solution.parameters)
    assert solution.converged
    assert solution.solver == "newton-cg"
    assert_allclose(solution.value, value, rtol=1e-12)
    assert_allclose(solution.gradient, gradient, atol=1e-12)
    assert solution.gradient_norm == np.abs(solution.gradient).max() <= tol
    best = solve(problem, solution.parameters, **LIMITS | {"solver": "lbfgs"})
    assert 0 <= value - best.value <= tol * value + tol**2 * problem.value_at_zero
    assert value - best.value <= solution.duality_gap <= 0.05 * value

    history = solution.history
    # It starts at the best intercepts.
    start = np.zeros(problem.shape)
    start[:, -1] = best_intercept(Y.mean(axis=0), alpha)
    least = problem.value_and_gradient(start.ravel())[0]
    assert_allclose(history[0].objective, least, rtol=1e-9)
    assert all(np.diff([row.objective for row in history]) <= 0)
    assert all(np.diff([row.passes for row in history]) > 0)
    for (n_iter, parameters, value, norm, last), row in zip(
        calls, history[1:], strict=True
    ):
        assert (n_iter, value, norm) == row[:3]
        f, slope = problem.value_and_gradient(parameters)
        assert_allclose([f, np.abs(slope).max()], [value, norm], atol=1e-9)
        assert last == (row is history[-1])


def test_gaps_bound_what_each_label_can_still_gain():
    X, Y = wide_rows()
    problem = objective_of(X, Y)
    best = solve(problem, problem.initial(), **LIMITS).parameters.reshape(problem.shape)
    least = problem.separate_at(best).values
    rng = np.random.default_rng(0)
    for size in 0.0, 1e-4, 1e-2, 1.0:
        near = best + size * rng.normal(size=best.shape) / np.sqrt(best.shape[1])
        point = problem.separate_at(near)
        gain, gaps = point.values - least, point.duality_gaps()
        assert (gaps >= gain - 1e-12).all()
        # The bound is the loss itself where it is not better.
        assert (gaps <= point.values).all()
    assert (problem.separate_at(best).duality_gaps() <= 1e-7).all()


def test_a_label_in_no_row_and_one_in_all_take_no_iterations():
    X, Y = wide_rows()
    problem = objective_of(X, Y)
    others = solve(problem, problem.initial(), **LIMITS)
    extremes = np.zeros((len(Y), 1)), np.ones((len(Y), 1))
    problem = objective_of(X, np.hstack([Y, *extremes]))
    solution = solve(problem, problem.initial(), **LIMITS)
    assert solution.converged
    assert solution.n_iter == others.n_iter
    coef, intercept = problem.to_model(solution.parameters)
    # The limit: no loss.
    assert_array_equal(coef[-2:], 0)
    assert_allclose(intercept[-2:], np.log(np.finfo(float).eps) * np.array([1, -1]))
    assert_allclose(solution.value, others.value, rtol=1e-10)
    assert_allclose(solution.parameters[: len(others.parameters)], others.parameters)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_starts_at_the_best_intercepts(alpha):
    X, Y = wide_rows()
    weight = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
    problem, given = objective_of(X, Y, weight, alpha=alpha), np.zeros((6, 261))
    given[2, 5] = 1.0
    start = problem.separate_start(given.ravel()).reshape(given.shape)
    frequencies = weight @ Y / weight.sum()
    assert len(np.unique(frequencies)) == 6
    expected = best_intercept(frequencies, alpha)
    others = [0, 1, 3, 4, 5]
    assert_allclose(start[others, -1], expected[others], atol=1e-5)
    assert not start[others, :-1].any()
    # An output that has parameters starts there.
    assert_array_equal(start[2], given[2])


@pytest.mark.parametrize("kind", ["offset", "unknown", "no intercept"])
def test_starts_at_zero_where_rows_differ(kind):
    X, Y = wide_rows()
    rows = {"offset": np.ones(Y.shape)} if kind == "offset" else {}
    if kind == "unknown":
        rows["available"] = Y >= 0
    problem = objective_of(X, Y, fit_intercept=kind != "no intercept", **rows)
    start = problem.initial()
    assert_array_equal(problem.separate_start(start), np.zeros(len(start)))


def test_labels_that_are_done_take_no_more_products():
    X, Y = wide_rows(n_rows=200)
    problem = objective_of(X, Y, l2=1e-4)
    # With the curvature at their own probabilities labels take different passes here.
    options = LIMITS | {"tuning": Tuning(far_by_output=np.inf)}
    outcomes = [
        solve(part, part.initial(), **options)
        for part in (problem.of_outputs(slice(k, k + 2)) for k in (0, 2, 4))
    ]
    passes = [outcome.history[-1].passes for outcome in outcomes]
    together = solve(problem, problem.initial(), **options).history[-1].passes
    assert max(passes) > 1.1 * min(passes)
    assert_allclose(together, np.mean(passes), rtol=0.1)


def test_curvature_nearer_to_the_targets_saves_passes_for_rare_labels():
    rng = np.random.default_rng(0)
    share = rng.uniform(0.005, 0.04, size=(400, 1))
    X = sparse.csr_array((rng.random((400, 1500)) < share).astype(float))
    scores = X @ rng.normal(size=(1500, 5)) @ rng.normal(size=(5, 30))
    scores += 5 * rng.normal(size=30)
    Y = (scores > np.quantile(scores, 0.95)).astype(float)
    problem = objective_of(X, Y[:, Y.any(axis=0)], l2=1 / 400)
    limits = LIMITS | {"tol": 1e-5}
    nearer, plain = (
        solve(problem, problem.initial(), **limits, tuning=Tuning(far_by_output=far))
        for far in (Tuning().far_by_output, np.inf)
    )
    assert_allclose(nearer.value, plain.value, rtol=1e-6)
    assert nearer.n_iter < plain.n_iter
    assert nearer.history[-1].passes < plain.history[-1].passes


def test_start_at_the_optimum_and_stops():
    X, Y = wide_rows()
    problem = objective_of(X, Y)
    best = solve(problem, problem.initial(), **LIMITS)
    again = solve(problem, best.parameters, **LIMITS | {"tol": 1e-6})
    assert (again.converged, again.n_iter) == (True, 0)
    assert_array_equal(again.parameters, best.parameters)
    start = problem.initial()
    stopped = solve(problem, start, callback=lambda n_iter, *_: n_iter == 2, **LIMITS)
    assert (stopped.stopped, stopped.converged, stopped.n_iter) == (True, False, 2)
    short = solve(problem, start, **LIMITS | {"max_iter": 2})
    assert not short.converged
    assert short.message.startswith("after max_iter=2")
    assert_array_equal(short.parameters, stopped.parameters)


def test_groups_of_outputs_are_the_same():
    X, Y = wide_rows()
    problem = objective_of(X, Y)
    whole = solve(problem, problem.initial(), **LIMITS)
    tuning = Tuning()._replace(group_size=3 * len(Y), fewest_outputs=2)
    parts = solve(problem, problem.initial(), tuning=tuning, **LIMITS)
    assert_allclose(parts.parameters, whole.parameters, atol=1e-7)
    assert parts.converged
