"""The ridge penalty in standardised parameters is that of the coefficients."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.data import Standardization
from skprob.objective import Ridge
from skprob.objective._penalty import add_penalty
from skprob.objective._piece_hessian import add_penalty_to_piece

from .formulas import by_differences

MEAN, SCALE = np.array([3.0, 0.0, -2.0]), np.array([0.5, 20.0, 1.0])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_half_the_squared_norm_of_the_coefficients(fit_intercept):
    mean = MEAN if fit_intercept else np.zeros(3)
    units = Standardization(mean, SCALE, fit_intercept)
    ridge = Ridge(0.7, units)
    rng = np.random.default_rng(0)
    coef, intercept = rng.normal(size=(2, 3)), rng.normal(size=2) * fit_intercept
    parameters = units.from_model(coef, intercept)
    assert ridge.value(parameters) == pytest.approx(0.35 * np.sum(coef**2))
    assert_allclose(ridge.values(parameters), 0.35 * np.sum(coef**2, axis=1))

    def value(x):
        return ridge.value(x.reshape(parameters.shape))

    slope = by_differences(value, parameters.ravel(), 1e-5)
    gradient = ridge.product(parameters)
    assert_allclose(gradient.ravel(), slope, rtol=1e-6, atol=1e-9)
    direction = rng.normal(size=parameters.shape)

    def slope_along(x):
        return np.vdot(ridge.product(x.reshape(parameters.shape)), direction)

    product = by_differences(slope_along, parameters.ravel(), 1e-5)
    assert_allclose(ridge.product(direction).ravel(), product, rtol=1e-6, atol=1e-9)
    assert_allclose(ridge.product(direction), direction * ridge.diagonal)
    assert ridge.free_columns == ([3] if fit_intercept else [])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_factors_are_multiples_of_the_penalty_of_each_feature(fit_intercept):
    factors, rng = np.array([4.0, 0.0, 0.25]), np.random.default_rng(0)
    mean = MEAN if fit_intercept else np.zeros(3)
    units = Standardization(mean, SCALE, fit_intercept)
    ridge = Ridge(0.7, units, factors)
    assert ridge.has_free_features
    assert ridge.free_columns == ([1, 3] if fit_intercept else [1])
    coef, intercept = rng.normal(size=(2, 3)), rng.normal(size=2) * fit_intercept
    expected = 0.35 * np.sum(factors * coef**2)
    assert ridge.value(units.from_model(coef, intercept)) == pytest.approx(expected)
    # Two of the features alone, and with another strength.
    some = np.array([2, 0])
    part, parameters = ridge.restricted(some), units.restricted(some)
    parameters = parameters.from_model(coef[:, some], intercept)
    expected = 0.35 * np.sum(factors[some] * coef[:, some] ** 2)
    assert part.value(parameters) == pytest.approx(expected)
    assert part.with_strength(0.1).value(parameters) == pytest.approx(expected / 7)
    assert not part.has_free_features


def test_without_strength_all_columns_are_free():
    ridge = Ridge(0.0, Standardization(MEAN, SCALE, True))
    assert ridge.free_columns == [0, 1, 2, 3]
    assert ridge.value(np.ones((2, 4))) == 0


@pytest.mark.parametrize("unit", [1e-160, 1e160])
def test_squares_of_units_do_not_overflow(unit):
    units = Standardization(np.zeros(1), np.array([unit]), False)
    ridge = Ridge(unit, units)
    assert ridge.diagonal[0] == pytest.approx(1 / unit)
    assert ridge.value(np.array([[unit]])) == pytest.approx(unit / 2)


def test_along_a_step_it_is_a_quadratic_function_of_the_length():
    ridge = Ridge(0.7, Standardization(MEAN, SCALE, True))
    start, step = np.random.default_rng(0).normal(size=(2, 2, 4))
    along = ridge.along(ridge.value(start), start, step)
    for length in (0.0, 0.5, 3.0):
        point = start + length * step
        value, slope = along.at(length)
        assert value == pytest.approx(ridge.value(point))
        assert slope == pytest.approx(np.vdot(ridge.product(point), step))


def test_along_a_step_each_row_may_have_its_own_length():
    ridge = Ridge(0.7, Standardization(MEAN, SCALE, True))
    start, step = np.random.default_rng(0).normal(size=(2, 3, 4))
    lengths, rows = np.array([3.0, 0.5]), [2, 0]
    values, slopes = ridge.along_rows(start, step).take(rows).at(lengths)
    for row, length, value, slope in zip(rows, lengths, values, slopes, strict=True):
        parameters, along = start[[row]], step[[row]]
        penalty = ridge.along(ridge.value(parameters), parameters, along)
        assert_allclose((value, slope), penalty.at(length), rtol=1e-14)


def test_it_is_added_to_hessians():
    units = Standardization(MEAN, SCALE, True)
    diagonals = np.array([Ridge(strength, units).diagonal for strength in (0.7, 2.0)])
    before = np.random.default_rng(0).normal(size=(2, 3, 4, 3, 4))
    hessians = before.copy()
    add_penalty(hessians, diagonals, [3])
    for added, diagonal in zip(hessians - before, diagonals, strict=True):
        expected = np.diag(np.tile(diagonal, 3))
        expected[3::4, 3::4] += 1 / 3
        assert_allclose(added.reshape(12, 12), expected, atol=1e-15)


@pytest.mark.parametrize("has_all", [True, False])
def test_it_is_added_to_a_part_of_a_hessian(has_all):
    diagonal = Ridge(0.7, Standardization(MEAN, SCALE, True)).diagonal
    whole, part = np.zeros((3, 4, 3, 4)), np.random.default_rng(0).random((3, 4)) < 0.5
    part[:, 3] = True, True, has_all
    # Without all entries of a column there is no curvature along equal changes of it.
    add_penalty(whole, diagonal, [3] if has_all else [])
    some = np.zeros((part.sum(), part.sum()))
    add_penalty_to_piece(some, part, diagonal, [3])
    expected = whole.reshape(12, 12)[np.ix_(part.ravel(), part.ravel())]
    assert_allclose(some, expected, rtol=1e-15)
