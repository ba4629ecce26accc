"""Newton's method with the whole Hessian, and what goes on where it ends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import Standardization, _auto, auto, newton_cholesky

from .problems import classes, exact_optimum, objective_of

MAPPINGS = [Softmax(), Entmax(1.5), Sparsemax()]


def solve(objective, *, tol=1e-8, max_iter=100, start=None, **options):
    start = objective.initial() if start is None else start
    return newton_cholesky(objective, start, tol=tol, max_iter=max_iter, **options)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, np.float32])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_hessian_is_that_of_its_products(
    n_classes, mapping, fit_intercept, convert
):
    X, y = classes(n_classes)
    X = convert(X * [1e-2, 1, 1e2] + [0, 1, -50])
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    weight[5] = 0
    l2 = 0.01
    objective = objective_of(
        X, y, mapping, l2=l2, fit_intercept=fit_intercept, weight=weight
    )
    coordinates = Standardization(objective)
    hessian = objective.hessian(coordinates.mean, coordinates.scale)
    start = np.random.default_rng(1).normal(size=objective.n_parameters)
    there = objective.linearize(coordinates.to_original(start))
    expected = [
        coordinates.gradient(there.hessian_product(coordinates.to_original(e)))
        for e in np.eye(objective.n_parameters)
    ]
    found = hessian(there) + np.diag(hessian.ridge)
    if n_classes > 2 and fit_intercept:
        # The same added to all intercepts has got a curvature.
        n = objective.coef_shape[0]
        found[-n:, -n:] -= 1 / n
    single = convert is np.float32
    assert_allclose(found, expected, rtol=1e-7, atol=1e-5 if single else 1e-12)


def test_several_blocks_are_one():
    X, y = classes(3)
    objective = objective_of(X, y)
    parts = [slice(0, 20), slice(20, 21), slice(21, 60)]
    (block,) = objective.blocks
    blocks = [
        block._replace(
            X=X[rows], target=block.target.block(rows), weight=block.weight[rows]
        )
        for rows in parts
    ]
    several = type(objective)(blocks, objective.loss, l2=objective.l2)
    start = np.random.default_rng(1).normal(size=objective.n_parameters)
    found, expected = (
        one.hessian(np.zeros(3), np.ones(3))(one.linearize(start))
        for one in (several, objective)
    )
    assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("l2", [1e-4, 0.1])
@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_is_at_the_optimum_in_a_few_steps(n_classes, mapping, l2):
    X, y = classes(n_classes, n_samples=200)
    objective = objective_of(X * [1e-3, 1, 1e3], y, mapping, l2=l2)
    solution = solve(objective)
    assert solution.converged
    assert solution.n_iter <= 12
    least, _ = objective.value_and_gradient(exact_optimum(objective))
    assert solution.value <= least * (1 + 1e-10)


def test_what_is_still_to_gain_is_known():
    X, y = classes(2, n_samples=200)
    objective = objective_of(X, y)
    values = []
    solve(objective, tol=1e-12, callback=lambda n, x, value, *_: values.append(value))
    rough = solve(objective, tol=1e-3)
    assert 0 <= rough.value - values[-1] <= 1e-3 * rough.value


class Shy:
    """An objective whose Hessian has a direction of negative curvature."""

    def __init__(self, objective):
        self._objective = objective

    def __getattr__(self, name):
        return getattr(self._objective, name)

    def hessian(self, mean, scale):
        whole = self._objective.hessian(mean, scale)

        def hessian(there):
            return whole(there) - 10 * np.eye(len(whole.ridge))

        hessian.ridge = whole.ridge
        return hessian


def test_where_the_hessian_is_of_no_use_the_way_ends():
    objective = objective_of(*classes())
    solution = solve(Shy(objective))
    assert not solution.converged
    assert solution.n_iter == 0
    assert_array_equal(solution.parameters, 0)
    assert "no step lowers the objective" in solution.message


@pytest.mark.parametrize("n_steps", [0, 2])
def test_auto_goes_on_from_there(monkeypatch, n_steps):
    objective = objective_of(*classes())
    few = auto(objective, objective.initial(), tol=1e-8, max_iter=n_steps)
    assert few.n_iter == n_steps

    def fails(objective, initial, *, tol, max_iter, callback):
        found = newton_cholesky(
            objective,
            initial,
            tol=tol,
            max_iter=n_steps,
            callback=callback and (lambda *args: callback(*args[:-1], False)),
        )
        assert not found.converged
        return found

    monkeypatch.setattr(_auto, "newton_cholesky", fails)
    seen = []
    solution = auto(
        objective,
        objective.initial(),
        tol=1e-8,
        max_iter=50,
        callback=lambda n, *rest: seen.append(n),
    )
    assert solution.converged
    assert seen == list(range(1, solution.n_iter + 1))
    assert solution.n_iter > n_steps
    least, _ = objective.value_and_gradient(exact_optimum(objective))
    assert solution.value <= least * (1 + 1e-10)


def test_what_is_small():
    """Rows, pairs of classes and pairs of features make the price."""

    def is_small(n_classes, n_samples, n_features):
        X, y = classes(n_classes, n_samples, n_features)
        return objective_of(X, y).has_small_hessian

    assert is_small(2, 500, 30)
    assert is_small(3, 150, 4)
    assert is_small(5, 100, 10)
    assert not is_small(10, 1000, 20)
    assert not is_small(2, 20, 300)
    assert not is_small(2, 100_000, 5)
