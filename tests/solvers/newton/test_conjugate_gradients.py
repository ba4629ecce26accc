"""Conjugate gradients against direct solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.solvers import Tuning
from skprob.solvers.newton._conjugate_gradients import conjugate_gradients


def inverse_of(matrix):
    """The function of a gradient that multiplies with B = T Tᵀ, for any matrix T."""

    def inverse(gradient):
        slope = gradient.reshape(-1) @ matrix
        product = (matrix @ slope).reshape(gradient.shape)
        return product, (slope.reshape(len(gradient), -1) ** 2).sum(axis=1)

    return inverse


def model(n=8, lowest=0.1):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return basis * np.linspace(lowest, 3, n) @ basis.T, rng.normal(size=n)


def solve(hessian, gradient, forcing_term=1e-12, coordinates=None, **options):
    coordinates = np.eye(len(gradient)) if coordinates is None else coordinates
    options = {"least_gain": Tuning().least_gain} | options
    return conjugate_gradients(
        lambda d: hessian @ d,
        gradient,
        inverse_of(coordinates),
        forcing_term=forcing_term,
        **options,
    )


def decrease(hessian, gradient, step):
    return -(gradient @ step + step @ hessian @ step / 2)


def test_two_curvatures_take_two_products():
    gradient = np.array([1.0, -2.0, 3.0, 0.5])
    hessian = np.diag([2.0, 2.0, 5.0, 5.0])
    solution = solve(hessian, gradient)
    assert_allclose(solution.step, -gradient / np.diag(hessian))
    assert solution.n_products == 2


@pytest.mark.parametrize("lowest", [0.1, 0.0, -1.0])
def test_the_step_lowers_the_model_wherever_it_ends(lowest):
    hessian, gradient = model(lowest=lowest)
    solution = solve(hessian, gradient)
    assert gradient @ solution.step < 0
    # Never worse than the best multiple of the gradient (Cauchy).
    curvature = gradient @ hessian @ gradient
    best = -gradient * (gradient @ gradient / curvature)
    expected = decrease(hessian, gradient, best)
    assert decrease(hessian, gradient, solution.step) >= expected * (1 - 1e-9)
    if lowest > 0:
        assert solution.least_curvature >= lowest * (1 - 1e-9)


@pytest.mark.parametrize("curvature", [0.0, -1.0, np.nan])
def test_a_first_direction_without_curvature_is_the_step(curvature):
    gradient = np.array([3.0, 4.0])
    solution = solve(curvature * np.eye(2), gradient)
    assert_allclose(solution.step, -gradient)
    assert solution.n_products == 1


def test_curvature_that_single_precision_cannot_show_ends_the_step():
    """The gradient has a part along a direction without curvature.

    Products in single precision have rounding errors there, which are curvature in
    double precision.
    """
    hessian, gradient = model(n=50, lowest=0.0)
    single = hessian.astype(np.float32)
    steps = {}
    for precision in (np.float32, np.float64):
        solution = conjugate_gradients(
            lambda d: single @ d.astype(np.float32),
            gradient,
            inverse_of(np.eye(50)),
            forcing_term=1e-9,
            precision=precision,
        )
        steps[precision] = np.abs(solution.step).max()
    assert steps[np.float32] < 1e5 < steps[np.float64]


def test_perfect_coordinates_take_one_product():
    hessian, gradient = model()
    coordinates = np.linalg.inv(np.linalg.cholesky(hessian)).T
    solution = solve(hessian, gradient, coordinates=coordinates)
    assert_allclose(solution.step, -np.linalg.solve(hessian, gradient))
    assert solution.n_products == 1
    # In those coordinates all curvatures are one.
    assert solution.least_curvature == pytest.approx(1)


def test_it_stops_early_where_little_is_gained():
    hessian, gradient = model(n=50, lowest=1e-3)
    rough, exact = (solve(hessian, gradient, forcing_term=r) for r in (0.5, 1e-12))
    assert rough.n_products < exact.n_products
    most = decrease(hessian, gradient, exact.step)
    assert 0.5 * most < decrease(hessian, gradient, rough.step) <= most


def test_a_product_that_adds_less_than_the_least_gain_is_the_last():
    """The gains are those of steps that end after each product in turn."""
    hessian, gradient = model(n=50, lowest=1e-3)
    exact = solve(hessian, gradient, least_gain=0.0)
    most = gradient @ np.linalg.solve(hessian, gradient) / 2
    assert decrease(hessian, gradient, exact.step) == pytest.approx(most)
    n_products = []
    for least_gain in (0.05, 0.2, 0.5):
        solution = solve(hessian, gradient, least_gain=least_gain)
        n_products.append(solution.n_products)
        reached = decrease(hessian, gradient, solution.step)
        before = max(
            decrease(hessian, gradient, step)
            for step in steps_with_fewer_products(
                hessian, gradient, solution.n_products
            )
        )
        assert reached - before < least_gain * reached / solution.n_products
    assert n_products == sorted(n_products, reverse=True)
    assert n_products[0] < exact.n_products


def steps_with_fewer_products(hessian, gradient, n_products):
    """Minima of the model in Krylov spaces of fewer dimensions."""
    space = gradient[:, None] / np.linalg.norm(gradient)
    for _ in range(n_products - 1):
        yield -space @ np.linalg.solve(space.T @ hessian @ space, space.T @ gradient)
        space = np.linalg.qr(np.column_stack([space, hessian @ space[:, -1]]))[0]


def test_a_gradient_that_is_preconditioned_is_not_computed_again():
    hessian, gradient = model()
    coordinates = np.random.default_rng(0).normal(size=(8, 8))
    inverse, n_calls = inverse_of(coordinates), 0

    def counting(residual):
        nonlocal n_calls
        n_calls += 1
        return inverse(residual)

    expected = solve(hessian, gradient, coordinates=coordinates)
    solution = conjugate_gradients(
        lambda d: hessian @ d,
        gradient,
        counting,
        forcing_term=1e-12,
        least_gain=Tuning().least_gain,
        preconditioned=inverse(gradient[None]),
    )
    assert_allclose(solution.step, expected.step, rtol=1e-12)
    # One after each product but the last.
    assert n_calls <= solution.n_products == expected.n_products


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

    solution = conjugate_gradients(
        product,
        gradients.ravel(),
        inverse_of(np.eye(48)),
        forcing_term=1e-3,
        least_gain=Tuning().least_gain,
        n_groups=4,
        n_kept=20,
    )
    for k, step in enumerate(solution.step.reshape(4, 12)[:3]):
        alone = solve(hessians[k], gradients[k], forcing_term=1e-3)
        assert_allclose(step, alone.step, rtol=1e-9)
        # Its direction is zero when it is done.
        assert np.sum(seen, axis=0)[k] == alone.n_products
    assert not solution.step[36:].any()
    assert (
        solution.n_products == len(seen) == solve(hard, gradients[1], 1e-3).n_products
    )
    directions, products, curvatures = (part[1] for part in solution.kept)
    assert_allclose(directions @ products.T, np.diag(curvatures), atol=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_lengths_along_the_directions_add_up_to_the_step(sign):
    """Where the curvature is negative the step is the first direction."""
    hessian, gradient = model()
    directions, total = [], np.zeros_like(gradient)

    def product(direction):
        directions.append(direction.copy())
        return sign * hessian @ direction

    def moved(length):
        nonlocal total
        total = total + length * directions[-1]

    inverse = inverse_of(np.eye(len(gradient)))
    model_step = conjugate_gradients(
        product, gradient, inverse, forcing_term=1e-3, moved=moved
    )
    assert len(directions) == (1 if sign < 0 else model_step.n_products)
    assert_allclose(total, model_step.step, rtol=1e-14)
