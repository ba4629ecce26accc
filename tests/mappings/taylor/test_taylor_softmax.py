"""Taylor softmax against its definition in many digits."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.mappings import TaylorSoftmax, taylor_softmax
from skprob.mappings.taylor._polynomial import (
    log_curvature,
    log_slope,
    scaled_polynomial,
)

from ..definitions import definition, taylor_polynomial
from ..precise_derivatives import assert_derivatives, floats, many_digits, row

ORDERS = [2, 4, 10, 30]


def mode_and_sides(order):
    """Where f is smallest compared with its terms, and the sizes around it."""
    rng = np.random.default_rng(order)
    near = -0.3 * order + rng.normal(size=20)
    return np.concatenate([near, rng.normal(size=10), rng.uniform(-40, 40, size=20)])


def test_polynomial_and_its_logarithmic_derivatives():
    for order in range(2, 31, 2):
        assert_polynomial(order, np.append(mode_and_sides(order)[::4], 0.0))
    # Scaled, as soon as one of the numbers is large.
    large = [1e12, -1e12, 1e30, -1e30, 1e300, -1e300]
    for order in ORDERS:
        assert_polynomial(order, np.concatenate([mode_and_sides(order), large]))


@many_digits
def assert_polynomial(order, x):
    """Its value and those of the derivatives of its logarithm."""
    mantissa, exponent = scaled_polynomial(x, order)
    assert ((mantissa >= 0.5) & (mantissa < 1)).all()
    for i, xi in enumerate(row(x)):
        f = taylor_polynomial(order, xi)
        value = mp.ldexp(mp.mpf(mantissa[i]), int(exponent[i])) / mp.factorial(order)
        assert abs(value / f - 1) < 4e-15
    ratios = [
        taylor_polynomial(order - 1, a) / taylor_polynomial(order, a) for a in row(x)
    ]
    second = [
        taylor_polynomial(order - 2, a) / taylor_polynomial(order, a) - r**2
        for a, r in zip(row(x), ratios, strict=True)
    ]
    size = np.minimum(1, order / np.maximum(np.abs(x), 1))
    error = np.abs(log_slope(x, order) - floats(ratios))
    assert (error <= 4e-15 * size).all()
    error = np.abs(log_curvature(x, order) - floats(second))
    assert (error <= 2e-14 * (np.abs(floats(second)) + size**2)).all()


@pytest.mark.parametrize("order", ORDERS)
def test_probabilities_and_their_logarithms(order):
    rng = np.random.default_rng(0)
    scores = [
        rng.normal(size=4) - 0.3 * order,
        rng.normal(size=5) * 10,
        rng.normal(size=3) * 1e-8,
        np.array([1e30, -1e30, 0.0, 1e29]),
        np.array([1e6, 1e6 + 1, 0.5]),
        np.array([-1e300, 3.0]),
        np.array([-1.0, -1.0, 2.0]),
        np.array([7.0]),
    ]
    mapping = TaylorSoftmax(order)
    for z in scores:
        with mp.workdps(300):
            exact = definition(TaylorSoftmax(order))(row(z))
            logs = floats(mp.log(p) for p in exact)
        assert_allclose(mapping(z[None])[0], floats(exact), rtol=1e-14, atol=0)
        assert_allclose(
            mapping.log_probabilities(z[None])[0], logs, rtol=1e-14, atol=1e-14
        )


@pytest.mark.parametrize("order", [2, 30])
@many_digits
def test_single_precision(order):
    z = np.array([[3.0, -9.25, 0.5, -2.0], [1e30, -1e30, 2.0, 1e29]], np.float32)
    p = taylor_softmax(z, order)
    assert p.dtype == np.float32
    exact = [floats(definition(TaylorSoftmax(order))(row(r))) for r in z]
    assert_allclose(p, exact, rtol=0, atol=1e-7)
    logs = TaylorSoftmax(order).log_probabilities(z)
    assert logs.dtype == np.float32
    assert np.isfinite(logs).all()


@pytest.mark.parametrize("order", [2, 4, 10, 30])
def test_derivatives(order):
    rng = np.random.default_rng(order)
    scores = [
        rng.normal(size=3),
        rng.normal(size=4) - 0.3 * order,
        np.array([20.0, -15.0, 3.0]),
        np.array([0.7]),
    ]
    assert_derivatives(TaylorSoftmax(order), definition(TaylorSoftmax(order)), scores)


def test_derivatives_of_huge_scores_are_finite_and_small():
    z = np.array([[1e30, -1e30, 2.0], [1e300, 1e-300, -1e300]])
    direction = np.ones_like(z)
    for order in (2, 30):
        linear = TaylorSoftmax(order).log_linearize(z.copy())
        assert_allclose(
            linear.vjp(np.eye(3)[[0, 0]])[:, 0], order / z[:, 0] / 2, rtol=1e-14
        )
        assert np.isfinite(linear.vjp_derivative(direction, direction)).all()


@pytest.mark.parametrize("order", [2, 30])
def test_unavailable_classes(order):
    z = np.array([[1.0, -np.inf, -3.0], [-np.inf, -np.inf, -1e30]])
    mapping = TaylorSoftmax(order)
    p = mapping(z)
    assert_array_equal(p == 0, z == -np.inf)
    assert_array_equal(mapping.log_probabilities(z) == -np.inf, z == -np.inf)
    assert_allclose(p[0, [0, 2]], mapping(z[:1, [0, 2]])[0], rtol=1e-15)
    kept, direction = z[:1, [0, 2]], np.array([[1.0, 5.0, 2.0], [1.0, 2.0, 3.0]])
    for product in (mapping.jvp, mapping.vjp):
        assert_array_equal(product(z, direction)[z == -np.inf], 0)
        assert_allclose(
            product(z, direction)[0, [0, 2]],
            product(kept, direction[:1, [0, 2]])[0],
            rtol=1e-14,
        )


def test_it_is_not_shift_invariant():
    z = np.array([[1.0, 0.0]])
    assert not TaylorSoftmax.traits.is_shift_invariant
    assert np.abs(TaylorSoftmax()(z + 1) - TaylorSoftmax()(z)).max() > 0.02


def test_a_lower_score_can_have_the_higher_probability():
    assert not TaylorSoftmax.traits.is_order_preserving
    for order in ORDERS:
        p = TaylorSoftmax(order)([[-2.0 * order, -0.35 * order, 0.0]])[0]
        assert p[0] > p[1]


def test_it_has_no_potential():
    mapping = TaylorSoftmax()
    assert not mapping.traits.has_potential
    jacobian = mapping.jacobian([[1.0, -2.0, 0.5]])[0]
    assert np.abs(jacobian - jacobian.T).max() > 0.05
    with pytest.raises(TypeError, match="TaylorSoftmax does not provide a potential"):
        mapping.potential([[1.0, 2.0]])
    with pytest.raises(TypeError, match="TaylorSoftmax does not provide an entropy"):
        mapping.entropy([[0.5, 0.5]])


def test_large_scores_do_not_lead_to_a_one_hot_row():
    p = taylor_softmax(np.array([[2.0, 1.0, -1.0]]) * 1e8, order=4)
    assert_allclose(p, [[16 / 18, 1 / 18, 1 / 18]], rtol=1e-7)


def test_rows_of_any_length_sum_to_one():
    for n_classes in (1, 2, 65, 10_000):
        scores = np.random.default_rng(0).normal(size=(3, n_classes)) * 5
        p = taylor_softmax(scores, order=6)
        assert (p > 0).all()
        assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-15)


def test_along_any_axis():
    scores = np.random.default_rng(0).normal(size=(2, 3, 4))
    p = taylor_softmax(scores, 4, axis=1)
    assert_array_equal(p[1, :, 2], TaylorSoftmax(4)(scores[1, :, 2][None])[0])


def test_bad_order_is_refused():
    message = r"order.*TaylorSoftmax must be.*2, 4, 6, 8"
    for order in (1, 3, 0, -2, 32, 2.0, None, "2"):
        with pytest.raises(ValueError, match=message):
            taylor_softmax([1.0, 2.0], order)
