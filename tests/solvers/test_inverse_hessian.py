"""The approximate inverse of a Hessian, alone and in a solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import Preconditioner, _preconditioner, coordinates_of, newton_cg
from skprob.solvers._conjugate_gradients import (
    ConjugateDirections,
    truncated_conjugate_gradients,
)
from skprob.solvers._inverse_hessian import InverseHessian

from .problems import counted_passes, objective_of


class Scaled:
    """Coordinates w = T v with any matrix T, wide or high."""

    def __init__(self, matrix):
        self._matrix = matrix

    def to_original(self, variables):
        return self._matrix @ variables

    def gradient(self, gradient):
        return self._matrix.T @ gradient


def problem(n=12, seed=0):
    """A Hessian, coordinates that know little of it, and a gradient."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    hessian = basis * np.logspace(-3, 1, n) @ basis.T
    return hessian, Scaled(rng.normal(size=(n, n + 3))), rng.normal(size=n)


def as_matrix(inverse, n):
    return np.array([inverse.times(e)[0] for e in np.eye(n)]).T


def solved(hessian, gradient, inverse, **options):
    options = {"residual": 1e-12, "max_products": 100, "n_kept": 5} | options
    return truncated_conjugate_gradients(
        lambda d: hessian @ d, gradient, inverse, np.inf, **options
    )


def test_without_directions_it_is_that_of_the_coordinates():
    hessian, coordinates, gradient = problem()
    none = solved(hessian, gradient, InverseHessian(coordinates), n_kept=0).met
    assert none.directions.shape == (0, len(gradient))
    for inverse in InverseHessian(coordinates), InverseHessian(coordinates, none):
        product, square = inverse.times(gradient)
        slope = coordinates.gradient(gradient)
        assert_allclose(product, coordinates.to_original(slope))
        assert square == pytest.approx(gradient @ product)


def test_directions_are_conjugate_and_their_products_are_taken_back():
    hessian, coordinates, gradient = problem()
    met = solved(hessian, gradient, InverseHessian(coordinates)).met
    assert met.directions.shape == met.products.shape == (5, len(gradient))
    assert_allclose(met.products, met.directions @ hessian)
    between = met.directions @ met.products.T
    assert_allclose(between, np.diag(met.curvatures), atol=1e-9 * between.max())
    inverse = InverseHessian(coordinates, met)
    for direction, product in zip(met.directions, met.products, strict=True):
        assert_allclose(inverse.times(product)[0], direction, rtol=1e-6)


def test_it_is_symmetric_and_positive_also_where_the_hessian_has_changed():
    hessian, coordinates, gradient = problem()
    met = solved(hessian, gradient, InverseHessian(coordinates)).met
    rng = np.random.default_rng(1)
    wrong = met._replace(products=met.products * rng.uniform(0.5, 2, (5, 1)))
    inverse = InverseHessian(coordinates, wrong)
    matrix = as_matrix(inverse, len(gradient))
    assert_allclose(matrix, matrix.T, atol=1e-10 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix).min() > 0
    product, square = inverse.times(gradient)
    assert square == pytest.approx(gradient @ product)


def test_the_next_solution_takes_fewer_products():
    hessian, coordinates, gradient = problem()
    plain = InverseHessian(coordinates)
    met = solved(hessian, gradient, plain, n_kept=8).met
    other = np.random.default_rng(2).normal(size=len(gradient))
    without = solved(hessian, other, plain)
    with_them = solved(hessian, other, InverseHessian(coordinates, met))
    exact = other @ np.linalg.solve(hessian, other) / 2
    assert 0.9 * exact < without.decrease <= with_them.decrease <= exact * (1 + 1e-9)
    assert with_them.n_products < 0.7 * without.n_products


def test_another_penalty_changes_products_and_curvatures():
    hessian, coordinates, gradient = problem()
    n_coefs = 8
    ridge = np.where(np.arange(len(gradient)) < n_coefs, 1.0, 0.0)
    met = solved(
        hessian + 2 * np.diag(ridge), gradient, InverseHessian(coordinates)
    ).met
    for added in 3.0, -1.9:
        there = met.with_penalty(added, n_coefs)
        exact = met.directions @ (hessian + (2 + added) * np.diag(ridge))
        assert_allclose(there.products, exact)
        assert_allclose(there.curvatures, np.sum(exact * met.directions, axis=1))


def test_curvature_that_was_but_a_penalty_is_dropped_with_it():
    directions = np.eye(3)[:2]
    met = ConjugateDirections(
        directions, directions * [[2.0], [5.0]], np.array([2, 5.0])
    )
    left = met.with_penalty(-2.0, 3)
    assert_allclose(left.directions, directions[1:])
    assert_allclose(left.products, 3 * directions[1:])
    assert_allclose(left.curvatures, [3])


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr)
def test_directions_of_the_last_step_spare_products(mapping, monkeypatch):
    # Sixteen features and ten classes: much of the Hessian is between the classes.
    X, y = load_digits(return_X_y=True)
    X = X.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    objective = objective_of(X, y, mapping=mapping, l2=1 / len(y))
    passes = counted_passes(monkeypatch)
    values, n_products = [], []
    for most in 30, 0:
        monkeypatch.setattr(_preconditioner, "_MAX_DIRECTIONS", most)
        passes.clear()
        start = objective.initial()
        solution = newton_cg(objective, start, tol=1e-6, max_iter=1000)
        assert solution.converged
        values.append(solution.value)
        n_products.append(passes["products"])
    assert_allclose(*values, rtol=1e-5)
    assert n_products[0] < 0.95 * n_products[1], n_products


def test_directions_that_are_long_beside_the_data_are_not_kept():
    X, y = load_digits(return_X_y=True)
    few = objective_of(X, y, mapping=Softmax(), l2=1e-3)
    # Fifty classes of as many rows as features, nearly all of which are zero.
    many = sparse.random(1000, 5000, 0.002, "csr", random_state=0)
    many = objective_of(many, np.arange(1000) % 50, mapping=Softmax(), l2=1e-3)
    kept = [Preconditioner(o, coordinates_of(o)).n_directions for o in (few, many)]
    assert kept == [30, 0]
