"""Conjugate gradients against direct solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.solvers._cg import conjugate_gradients


class Coordinates:
    """An inverse B = T Tᵀ of any matrix T."""

    def __init__(self, matrix):
        self._matrix = matrix

    def times(self, gradient):
        slope = self._matrix.T @ gradient
        return self._matrix @ slope, slope @ slope


def model(n=8, lowest=0.1):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return basis * np.linspace(lowest, 3, n) @ basis.T, rng.normal(size=n)


def solve(hessian, gradient, residual=1e-12, coordinates=None, **options):
    inverse = Coordinates(np.eye(len(gradient)) if coordinates is None else coordinates)
    return conjugate_gradients(
        lambda d: hessian @ d, gradient, inverse, residual=residual, **options
    )


def decrease(hessian, gradient, step):
    return -(gradient @ step + step @ hessian @ step / 2)


def test_two_curvatures_take_two_products():
    gradient = np.array([1.0, -2.0, 3.0, 0.5])
    hessian = np.diag([2.0, 2.0, 5.0, 5.0])
    found = solve(hessian, gradient)
    assert_allclose(found.step, -gradient / np.diag(hessian))
    assert found.n_products == 2


@pytest.mark.parametrize("lowest", [0.1, 0.0, -1.0])
def test_the_step_lowers_the_model_wherever_it_ends(lowest):
    hessian, gradient = model(lowest=lowest)
    found = solve(hessian, gradient)
    assert gradient @ found.step < 0
    # Never worse than the best multiple of the gradient (Cauchy).
    curvature = gradient @ hessian @ gradient
    best = -gradient * (gradient @ gradient / curvature)
    expected = decrease(hessian, gradient, best)
    assert decrease(hessian, gradient, found.step) >= expected * (1 - 1e-9)
    if lowest > 0:
        assert found.least_curvature >= lowest * (1 - 1e-9)


@pytest.mark.parametrize("curvature", [0.0, -1.0, np.nan])
def test_a_first_direction_without_curvature_is_the_step(curvature):
    gradient = np.array([3.0, 4.0])
    found = solve(curvature * np.eye(2), gradient)
    assert_allclose(found.step, -gradient)
    assert found.n_products == 1


def test_perfect_coordinates_take_one_product():
    hessian, gradient = model()
    coordinates = np.linalg.inv(np.linalg.cholesky(hessian)).T
    found = solve(hessian, gradient, coordinates=coordinates)
    assert_allclose(found.step, -np.linalg.solve(hessian, gradient))
    assert found.n_products == 1
    # In those coordinates all curvatures are one.
    assert found.least_curvature == pytest.approx(1)


def test_it_stops_early_where_little_is_gained():
    hessian, gradient = model(n=50, lowest=1e-3)
    rough, exact = (solve(hessian, gradient, residual=r) for r in (0.5, 1e-12))
    assert rough.n_products < exact.n_products
    most = decrease(hessian, gradient, exact.step)
    assert 0.5 * most < decrease(hessian, gradient, rough.step) <= most


def test_directions_that_are_kept_are_conjugate():
    hessian, gradient = model(n=12)
    coordinates = np.random.default_rng(0).normal(size=(12, 15))
    taken = solve(hessian, gradient, coordinates=coordinates, n_kept=5).taken
    assert taken.directions.shape == taken.products.shape == (5, 12)
    assert_allclose(taken.products, taken.directions @ hessian)
    between = taken.directions @ taken.products.T
    assert_allclose(between, np.diag(taken.curvatures), atol=1e-9 * between.max())
    assert solve(hessian, gradient).taken.directions.shape == (0, 12)
