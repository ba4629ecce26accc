"""Weighted means and deviations of columns, whatever their units."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.data import Standardization, StandardizedDesign, as_design

both_containers = pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])


def exact_moments(X, weight):
    """In extended precision, about the mean itself."""
    X, weight = X.astype(np.longdouble), weight.astype(np.longdouble)
    share = weight / weight.sum()
    mean = share @ X
    return mean.astype(float), np.sqrt(share @ (X - mean) ** 2).astype(float)


def weights(n, seed=1):
    """Over twelve decades, and a third of them zero."""
    weight = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, n)
    weight[::3] = 0
    return weight


@both_containers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_those_of_the_formulas(container, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * [1, 1e-6, 1e6, 1, 0] + [0, 3, 1e6, -2, 0]
    X[rng.random(X.shape) < 0.5] = 0
    X = X.astype(dtype)
    for weight in (np.ones(200), weights(200)):
        total, mean, deviation = as_design(container(X)).moments(weight.astype(dtype))
        assert mean.dtype == deviation.dtype == np.float64
        expected = exact_moments(X, weight.astype(dtype))
        assert_allclose(total, weight.sum(), rtol=1e-6)
        # Sums of weights in single precision have its rounding errors.
        rtol = 1e-10 if dtype == np.float64 else 1e-5
        assert_allclose(mean, expected[0], rtol=rtol)
        assert_allclose(deviation, expected[1], rtol=rtol)


@both_containers
@pytest.mark.parametrize(
    ("dtype", "offset", "rtol"), [(np.float64, 1e6, 1e-8), (np.float32, 1e4, 1e-6)]
)
def test_digits_do_not_cancel_far_from_zero(container, dtype, offset, rtol):
    X = (np.random.default_rng(0).normal(size=(400, 3)) + offset).astype(dtype)
    weight = np.random.default_rng(1).uniform(0, 2, 400)
    _, mean, deviation = as_design(container(X)).moments(weight)
    expected = exact_moments(X, weight)
    assert_allclose(mean, expected[0], rtol=1e-12)
    assert_allclose(deviation, expected[1], rtol=rtol)


@both_containers
def test_squares_neither_overflow_nor_vanish(container):
    X = np.random.default_rng(0).uniform(-1, 1, size=(50, 3)) * [1, 1, 0]
    expected = exact_moments(X, np.ones(50))
    for unit in (1e-310, 1e-200, 1e-120, 1e120, 1e200, 1e307):
        units = np.array([1, unit, 1])
        _, mean, deviation = as_design(container(X * units)).moments(np.ones(50))
        assert_allclose(mean / units, expected[0], rtol=1e-10)
        assert_allclose(deviation / units, expected[1], rtol=1e-10)


@both_containers
def test_a_constant_column_has_no_deviation(container):
    constants = np.array([0.0, 1.0, 0.1, -1e6, 1e300])
    design = as_design(container(np.tile(constants, (5000, 1))))
    for weight in (np.linspace(1, 2, 5000), weights(5000)):
        _, mean, deviation = design.moments(weight)
        assert_allclose(mean, constants, rtol=1e-14)
        assert np.all(deviation <= 1e-15 * np.abs(constants))


@both_containers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_rows_have_those_of_the_formulas(container, dtype):
    rng = np.random.default_rng(0)
    unit = 1e15 if dtype == np.float32 else 1e150
    units = np.array([1, 1, 1, 1, 1 / unit**2, unit, unit * 1e10, 1])
    offsets = [0, 3, 1e4, 0, 0, 0, 0, 0]
    X = (rng.normal(size=(20_000, 8)) + offsets).astype(dtype)
    X[rng.random(20_000) < 0.9, 0] = 0
    X[:, 3], X[:, 7] = 0.1, 0
    X *= units.astype(dtype)
    for weight in (np.ones(20_000), weights(20_000)):
        _, mean, deviation = as_design(container(X)).moments(weight)
        expected = exact_moments(X / units, weight)
        assert_allclose(mean / units, expected[0], rtol=1e-9, atol=1e-12)
        constant = [3, 7]
        assert np.all(deviation[constant] <= 1e-15)
        others = np.delete([deviation / units, expected[1]], constant, axis=1)
        assert_allclose(*others, rtol=1e-9 if dtype == np.float64 else 1e-6)


@both_containers
def test_without_any_weight_there_are_none(container):
    design = as_design(container(np.arange(6.0).reshape(3, 2)))
    total, mean, deviation = design.moments(np.zeros(3))
    assert total == 0
    assert_allclose(mean, 0)
    assert_allclose(deviation, 0)


@both_containers
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("spread", [1e-3, 1.0])  # Far from the mean, or of its size.
def test_those_of_standardised_columns(container, fit_intercept, spread):
    X = np.random.default_rng(0).normal([0, 5, -3], [1, spread, 1e3], size=(60, 3))
    mean = X.mean(axis=0) + 1 if fit_intercept else np.zeros(3)
    units = Standardization(mean, X.std(axis=0) * [1, 2, 3], fit_intercept)
    Z = (X - mean) / units.scale
    if fit_intercept:
        Z = np.hstack([Z, np.ones((60, 1))])
    weight = np.random.default_rng(1).uniform(size=60)
    _, *moments = as_design(container(X)).moments(weight)
    mean, deviation = units.standardized_moments(*moments)
    expected = exact_moments(Z, weight)
    assert_allclose(mean, expected[0], rtol=1e-10)
    assert_allclose(deviation, expected[1], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_sums_of_columns_and_squares_for_several_weights(kind, fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.4)
    weights = rng.random((50, 3))
    mean, scale = 10 * rng.normal(size=4), rng.uniform(0.5, 2, 4)
    units = Standardization(mean * fit_intercept, scale, fit_intercept)
    Z = (X - units.mean) / scale
    Z = np.hstack([Z, np.ones((50, 1))]) if fit_intercept else Z
    design = StandardizedDesign(as_design(kind(X)), units)
    for matrix, expected in (design, Z), (as_design(kind(X)), X):
        first, second = matrix.power_sums(weights)
        assert_allclose(first, weights.T @ expected, rtol=1e-12)
        assert_allclose(second, weights.T @ expected**2, rtol=1e-12)
