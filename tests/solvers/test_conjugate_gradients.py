"""Conjugate gradients inside a ball, against direct solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.solvers._conjugate_gradients import truncated_conjugate_gradients
from skprob.solvers._inverse_hessian import InverseHessian
from skprob.solvers._scaling import OriginalCoordinates

PLAIN = InverseHessian(OriginalCoordinates())


def model(n=8, lowest=0.1):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return basis * np.linspace(lowest, 3, n) @ basis.T, rng.normal(size=n)


def solve(hessian, gradient, radius=np.inf, residual=1e-12, inverse=PLAIN, **others):
    return truncated_conjugate_gradients(
        lambda d: hessian @ d,
        gradient,
        inverse,
        radius,
        residual=residual,
        max_products=100,
        **others,
    )


def decrease(hessian, gradient, step):
    return -(gradient @ step + step @ hessian @ step / 2)


def test_two_curvatures_take_two_products():
    gradient = np.array([1.0, -2.0, 3.0, 0.5])
    hessian = np.diag([2.0, 2.0, 5.0, 5.0])
    found = solve(hessian, gradient)
    assert_allclose(found.step, -gradient / np.diag(hessian))
    assert found.n_products == 2
    assert not found.at_boundary
    assert_allclose(found.decrease, decrease(hessian, gradient, found.step))


@pytest.mark.parametrize("radius", [1e-3, 0.3, 2.0])
@pytest.mark.parametrize("lowest", [0.1, 0.0, -1.0])
def test_the_ball_is_not_left_and_the_model_falls(radius, lowest):
    hessian, gradient = model(lowest=lowest)
    found = solve(hessian, gradient, radius)
    length = np.linalg.norm(found.step)
    assert found.length == pytest.approx(length)
    assert length <= radius * (1 + 1e-12)
    assert found.at_boundary == (length > radius * (1 - 1e-9))
    assert_allclose(found.decrease, decrease(hessian, gradient, found.step))
    # Never worse than the best multiple of the gradient inside the ball (Cauchy).
    bend = gradient @ hessian @ gradient
    far = radius / np.linalg.norm(gradient)
    ahead = min(gradient @ gradient / bend, far) if bend > 0 else far
    assert found.decrease >= decrease(hessian, gradient, -ahead * gradient) * (1 - 1e-9)


def test_directions_without_curvature_are_followed_to_the_boundary():
    found = solve(np.zeros((2, 2)), np.array([3.0, 4.0]), radius=10.0)
    assert_allclose(found.step, [-6.0, -8.0])
    assert found.at_boundary
    assert found.decrease == pytest.approx(50)


def test_it_stops_early_where_little_is_gained():
    hessian, gradient = model(n=50, lowest=1e-3)
    rough, exact = (solve(hessian, gradient, residual=r) for r in (0.5, 1e-12))
    assert rough.n_products < exact.n_products
    assert 0.5 * exact.decrease < rough.decrease <= exact.decrease


def test_where_steps_are_dear_it_goes_on_for_less():
    hessian, gradient = model(n=50, lowest=1e-3)
    n_products = [
        solve(hessian, gradient, step_cost=cost).n_products for cost in (0, 8, 1e9)
    ]
    assert n_products == sorted(set(n_products))
    best = decrease(hessian, gradient, -np.linalg.solve(hessian, gradient))
    assert_allclose(solve(hessian, gradient, step_cost=1e9).decrease, best, rtol=1e-6)


def test_a_product_with_the_inverse_that_is_known_is_not_made_again():
    hessian, gradient = model()
    made = []

    class Counting:
        def times(self, vector):
            made.append(vector)
            return PLAIN.times(vector)

    def found(**others):
        made.clear()
        return solve(hessian, gradient, inverse=Counting(), **others), len(made)

    expected, n_made = found()
    step, n_fewer = found(downhill=PLAIN.times(-gradient))
    assert_array_equal(step.step, expected.step)
    assert n_fewer == n_made - 1
