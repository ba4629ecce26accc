"""Units of the features, and the same model in them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.data import (
    LittleDesign,
    Standardization,
    StandardizedDesign,
    as_design,
    standardized,
)

OFFSET, UNIT = np.array([2.0, -1.0, 300.0]), np.array([1e-3, 1.0, 50.0])


def data(n_samples=60):
    return OFFSET + UNIT * np.random.default_rng(0).normal(size=(n_samples, 3))


def units_of(X, fit_intercept=True, ridge=0.0, dtype=np.float64):
    _, mean, deviation = as_design(X).moments(np.ones(len(X)))
    return Standardization.of(mean, deviation, fit_intercept, ridge, dtype)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(1,), (2, 5)])
def test_to_model_and_from_model_are_inverse(shape, fit_intercept):
    units = units_of(data(), fit_intercept)
    rng = np.random.default_rng(1)
    parameters = rng.normal(size=(*shape, units.size))
    coef, intercept = units.to_model(parameters)
    assert coef.shape == (*shape, 3)
    assert intercept.shape == shape
    assert fit_intercept or not intercept.any()
    # The intercepts cancel: up to the rounding of what they are made of.
    assert_allclose(units.from_model(coef, intercept), parameters, atol=1e-9)
    back = units.to_model(units.from_model(coef, intercept))
    assert_allclose(back[0], coef, rtol=1e-12)
    assert_allclose(back[1], intercept, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_model_predicts_the_same_in_either_units(fit_intercept):
    X = data()
    units = units_of(X, fit_intercept)
    parameters = np.random.default_rng(1).normal(size=(4, units.size))
    coef, intercept = units.to_model(parameters)
    design = StandardizedDesign(as_design(X), units)
    expected = X @ coef.T + intercept
    assert_allclose(design.matvec(parameters), expected, rtol=1e-8, atol=1e-8)


def test_scales_are_deviations_or_second_moments():
    X = data()
    with_intercept, without = units_of(X), units_of(X, fit_intercept=False)
    assert_allclose(with_intercept.mean, X.mean(axis=0))
    assert_allclose(with_intercept.scale, X.std(axis=0))
    assert_array_equal(without.mean, 0)
    assert_allclose(without.scale, np.sqrt((X**2).mean(axis=0)))
    # A strong penalty hides what varies little.
    assert_allclose(units_of(X, ridge=1e8).scale, 1e4, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_and_vanishing_features_are_left_about_as_they_are(dtype):
    mean, deviation = np.array([1e5, 0, 0, 1e5]), np.array([0, 0, 1e-200, 1e-4])
    units = Standardization.of(mean, deviation, True, 0.0, dtype)
    # The last is rounding in single precision, and a feature in double.
    last = 1e5 if dtype == np.float32 else 1e-4
    assert_allclose(units.scale, [1e5, 1, 1, last])
    units = Standardization.of(mean, deviation, True, 0.04, np.float64)
    # Only the penalty has curvature along them: its root is the unit.
    assert_allclose(units.scale, 0.2, rtol=1e-6)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_small_data_are_written_out_and_large_ones_are_not(container):
    X = data(20_000)
    units = units_of(X)
    small = as_design(container(X[:100]))
    few = standardized(small, units, 100)
    assert type(few) is LittleDesign
    # A small block of large data is not copied, either.
    assert type(standardized(small, units, 10**6)) is StandardizedDesign
    for large in (np.tile(X, (10, 1)), np.float32(X[:100])):
        design = standardized(as_design(container(large)), units, len(large))
        assert type(design) is StandardizedDesign
        assert design.n_stored == large.size
        assert design.dtype == large.dtype
    residual = np.random.default_rng(0).normal(size=(100, 2))
    wrapped = StandardizedDesign(as_design(container(X[:100])), units)
    assert_allclose(few.rmatvec(residual), wrapped.rmatvec(residual), atol=1e-8)
