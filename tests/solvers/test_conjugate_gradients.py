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
        slope = gradient.reshape(-1) @ self._matrix
        product = (self._matrix @ slope).reshape(gradient.shape)
        return product, (slope.reshape(len(gradient), -1) ** 2).sum(axis=1)


def model(n=8, lowest=0.1):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return basis * np.linspace(lowest, 3, n) @ basis.T, rng.normal(size=n)


def solve(hessian, gradient, forcing_term=1e-12, coordinates=None, **options):
    inverse = Coordinates(np.eye(len(gradient)) if coordinates is None else coordinates)
    return conjugate_gradients(
        lambda d: hessian @ d, gradient, inverse, forcing_term=forcing_term, **options
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
    rough, exact = (solve(hessian, gradient, forcing_term=r) for r in (0.5, 1e-12))
    assert rough.n_products < exact.n_products
    most = decrease(hessian, gradient, exact.step)
    assert 0.5 * most < decrease(hessian, gradient, rough.step) <= most


def test_directions_that_are_kept_are_conjugate():
    hessian, gradient = model(n=12)
    coordinates = np.random.default_rng(0).normal(size=(12, 15))
    kept = solve(hessian, gradient, coordinates=coordinates, n_kept=5).kept
    assert kept.directions.shape == kept.products.shape == (1, 5, 12)
    directions, products, curvatures = (part[0] for part in kept)
    assert_allclose(products, directions @ hessian)
    between = directions @ products.T
    assert_allclose(between, np.diag(curvatures), atol=1e-9 * between.max())
    assert solve(hessian, gradient).kept.directions.shape == (1, 0, 12)


def test_groups_are_minimised_as_if_each_were_alone():
    """One that takes many products, one that takes few, one without curvature."""
    easy, hard = np.diag(np.full(12, 2.0)), model(n=12, lowest=0.01)[0]
    hessians = [easy, hard, -np.eye(12), hard]
    gradients = np.random.default_rng(1).normal(size=(4, 12))
    gradients[3] = 0
    seen = []

    def product(direction):
        rows = direction.reshape(4, 12)
        seen.append(rows.any(axis=1))
        return np.concatenate([h @ d for h, d in zip(hessians, rows, strict=True)])

    found = conjugate_gradients(
        product,
        gradients.ravel(),
        Coordinates(np.eye(48)),
        forcing_term=1e-3,
        n_groups=4,
        n_kept=20,
    )
    for k, step in enumerate(found.step.reshape(4, 12)[:3]):
        alone = solve(hessians[k], gradients[k], forcing_term=1e-3)
        assert_allclose(step, alone.step, rtol=1e-9)
        # Its direction is zero when it is done.
        assert np.sum(seen, axis=0)[k] == alone.n_products
    assert not found.step[36:].any()
    assert found.n_products == len(seen) == solve(hard, gradients[1], 1e-3).n_products
    directions, products, curvatures = (part[1] for part in found.kept)
    assert_allclose(directions @ products.T, np.diag(curvatures), atol=1e-9)
