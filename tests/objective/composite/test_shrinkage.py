"""Shrinkages against their definitions: convexity, differences, projections."""

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from skprob.data import Standardization
from skprob.objective.composite._shrinkage import (
    ColumnShrinkage,
    EntryShrinkage,
    PenaltyShape,
    shrinkage,
)

THRESHOLDS = np.array([0.5, 0.0, 1.5, 0.2, 3.0])
KINDS = {"entries": EntryShrinkage, "columns": ColumnShrinkage}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def penalty(kind, matrix, thresholds=THRESHOLDS):
    """Its definition."""
    by_column = kind is ColumnShrinkage
    sizes = np.linalg.norm(matrix, axis=0) if by_column else abs(matrix).sum(axis=0)
    return float((thresholds * sizes).sum())


def matrix_with_zeros(rng):
    W = rng.normal(size=(3, 5)) * [0.3, 1, 1, 1, 1]
    W[0, 0] = W[2, 3] = 0
    W[:, 4] = 0
    return W


@every_kind
def test_value_and_proximal_step(kind):
    rng, shrink = np.random.default_rng(0), kind(THRESHOLDS)
    W = matrix_with_zeros(rng)
    assert shrink.value(W) == pytest.approx(penalty(kind, W))
    lengths = rng.uniform(0.5, 2, 5 if shrink.is_by_column else (3, 5))
    stepped = shrink.proximal_step(W, lengths)
    assert 0 < np.count_nonzero(stepped)
    assert np.count_nonzero(stepped) < np.count_nonzero(W)
    # (W - stepped) / lengths is a subgradient at the result: the definition.
    slope = (W - stepped) / lengths
    for other in 3 * rng.normal(size=(200, 3, 5)):
        bound = penalty(kind, stepped) + np.vdot(slope, other - stepped)
        assert penalty(kind, other) >= bound - 1e-12


@every_kind
def test_a_small_change_has_a_small_relative_error(kind):
    rng, shrink = np.random.default_rng(0), kind(THRESHOLDS)
    start = matrix_with_zeros(rng)
    for size in 1e-12, 1.0:
        end = start + size * rng.normal(size=start.shape)
        with mp.workdps(50):
            changes = [value_by_mpmath(kind, W) for W in (start, end)]
            expected = float(changes[1] - changes[0])
        assert shrink.change(start, end) == pytest.approx(expected, rel=1e-12)


def value_by_mpmath(kind, matrix):
    total = mp.mpf(0)
    for threshold, column in zip(THRESHOLDS, matrix.T, strict=True):
        entries = [mp.mpf(float(entry)) for entry in column]
        is_column = kind is ColumnShrinkage
        size = mp.norm(entries) if is_column else mp.norm(entries, 1)
        total += mp.mpf(float(threshold)) * size
    return total


@every_kind
def test_the_smallest_subgradient_is_the_steepest_descent(kind):
    rng, shrink = np.random.default_rng(1), kind(THRESHOLDS)
    W, G = matrix_with_zeros(rng), rng.normal(size=(3, 5))

    def derivative(direction, step=1e-7):
        change = penalty(kind, W + step * direction) - penalty(kind, W)
        return np.vdot(G, direction) + change / step

    smallest = shrink.smallest_subgradient(W, G)
    norm = np.linalg.norm(smallest)
    # Its negative has the least derivative of all unit directions, -norm.
    assert derivative(-smallest / norm) == pytest.approx(-norm, abs=1e-5)
    for direction in rng.normal(size=(200, 3, 5)):
        direction /= np.linalg.norm(direction)
        assert derivative(direction) >= -norm - 1e-5


@every_kind
def test_derivatives_where_there_are_some(kind):
    rng, shrink = np.random.default_rng(2), kind(THRESHOLDS)
    W, direction = rng.normal(size=(2, 3, 5))
    W[:, 4] = direction[:, 4] = 0
    step = 1e-5
    ends = W + step * direction, W - step * direction
    slope = (penalty(kind, ends[0]) - penalty(kind, ends[1])) / (2 * step)
    assert np.vdot(shrink.slope(W), direction) == pytest.approx(slope, rel=1e-8)
    assert not shrink.slope(W)[:, 4].any()
    before, after = shrink.slope(ends[1]), shrink.slope(ends[0])
    product = shrink.curvature_product(W, direction)
    assert_allclose(product, (after - before) / (2 * step), atol=1e-8)
    # The bound holds in every direction, and is reached in some of them.
    bound = shrink.largest_curvature(W)
    for column in range(5):
        basis = np.zeros((3, 3, 5))
        basis[range(3), range(3), column] = 1
        hessian = [shrink.curvature_product(W, b)[:, column] for b in basis]
        largest = np.linalg.eigvalsh(hessian)[-1]
        assert bound[column] == pytest.approx(largest, abs=1e-12)


@every_kind
def test_the_residual_is_the_derivative_on_the_piece_of_the_step(kind):
    rng, shrink = np.random.default_rng(3), kind(THRESHOLDS)
    W, G = matrix_with_zeros(rng), 2 * rng.normal(size=(3, 5))
    lengths = rng.uniform(0.2, 1, 5)
    stepped = shrink.proximal_step(W - lengths * G, lengths)
    residual = shrink.model_residual(W, stepped, lengths)
    # The penalty's derivative at the step, continued linearly to the parameters.
    step = 1e-5 * (W - stepped)
    ends = [shrink.slope(np.where(stepped, stepped + s * step, 0)) for s in (-1, 1)]
    continued = shrink.slope(stepped) + (ends[1] - ends[0]) / 2e-5
    on_piece = (stepped != 0) | (THRESHOLDS == 0)
    assert 0 < np.count_nonzero(on_piece) < 15
    assert_allclose(residual[on_piece], (G + continued)[on_piece], atol=1e-7)


def test_the_excess_is_the_distance_from_the_subgradients_at_zero():
    rng = np.random.default_rng(4)
    coupling = 2 * rng.normal(size=(3, 5))
    nearest = np.clip(coupling, -THRESHOLDS, THRESHOLDS)
    distance = ((coupling - nearest) ** 2).sum(axis=0)
    assert_allclose(EntryShrinkage(THRESHOLDS).excess(coupling), distance, atol=1e-14)
    norm = np.linalg.norm(coupling, axis=0)
    nearest = coupling * np.minimum(1, THRESHOLDS / norm)
    distance = ((coupling - nearest) ** 2).sum(axis=0)
    assert_allclose(ColumnShrinkage(THRESHOLDS).excess(coupling), distance, atol=1e-14)
    for kind in KINDS.values():
        # Zero excess where the size is at most the threshold, for every entry.
        inside = (kind(THRESHOLDS).sizes(coupling) <= THRESHOLDS).all(axis=0)
        assert_array_zero_where(kind(THRESHOLDS).excess(coupling), inside)


def assert_array_zero_where(array, is_zero):
    np.testing.assert_array_equal(array == 0, is_zero)


@every_kind
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_common_shift_is_the_best(kind, ridge):
    rng, n_columns = np.random.default_rng(5), 40
    thresholds = rng.uniform(0.1, 1, n_columns)
    shrink = kind(thresholds)
    W = rng.normal(rng.normal(size=n_columns), 2, size=(3, n_columns))
    if kind is ColumnShrinkage:
        W *= rng.random(W.shape) < 0.7
    ridges = np.full(n_columns, ridge)
    shift = shrink.common_shift(W, ridges)

    def value(amount, column):
        moved = W[:, column] - amount
        size = np.linalg.norm(moved) if shrink.is_by_column else abs(moved).sum()
        return thresholds[column] * size + ridge / 2 * (moved**2).sum()

    for column in range(n_columns):
        best = minimize_scalar(value, (-5, 5), args=(column,), options={"xtol": 1e-12})
        assert value(shift[column], column) <= best.fun + 1e-9
    if kind is EntryShrinkage:
        W[1] = 0
        assert not shrink.common_shift(W, ridges).any()


def test_without_a_ridge_no_shift_is_preferred():
    """All shifts between the two middle entries are best."""
    W = np.array([[-1.0, 3.0], [4.0, 2.0], [-2.0, 5.0], [0.5, 8.0]])
    shift = EntryShrinkage(np.ones(2)).common_shift(W, np.zeros(2))
    assert shift.tolist() == [0.0, 3.0]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_more_becomes_zero_after_each_breakpoint(kind):
    rng = np.random.default_rng(1)
    shrinkage = kind(np.append(np.full(7, 0.5), 0.0))
    parameters, step = rng.normal(size=(2, 3, 8))
    lengths = np.sort(shrinkage.breakpoints(parameters, step, parameters))
    assert len(lengths) > 2
    n_zeros = 0
    for length in lengths:
        for side in (1 - 1e-9, 1 + 1e-9):
            moved = parameters + side * length * step
            moved = shrinkage.on_piece_of(moved, parameters)
            if side < 1:
                assert np.count_nonzero(moved == 0) == n_zeros
            n_zeros = np.count_nonzero(moved == 0)
        assert n_zeros > 0


def test_pieces():
    thresholds = np.array([1.0, 0.0, 1.0])
    W = np.array([[1.0, -1.0, 2.0], [-3.0, 5.0, -1.0]])
    reference = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    expected = [[1.0, -1.0, 0.0], [0.0, 5.0, 0.0]]
    by_entry = EntryShrinkage(thresholds).on_piece_of(W, reference)
    np.testing.assert_array_equal(by_entry, expected)
    # The first column turned away from its reference, (1, 1), as a whole.
    expected = [[0.0, -1.0, 0.0], [0.0, 5.0, 0.0]]
    by_column = ColumnShrinkage(thresholds).on_piece_of(W, reference)
    np.testing.assert_array_equal(by_column, expected)


@pytest.mark.parametrize("by_feature", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_it_is_a_penalty_of_the_coefficients_themselves(by_feature, fit_intercept):
    rng, factors = np.random.default_rng(6), np.array([1.0, 0.0, 3.0])
    mean = np.array([2.0, -1.0, 0.0]) * fit_intercept
    units = Standardization(mean, np.array([0.1, 1.0, 20.0]), fit_intercept)
    shape = PenaltyShape(0.4, by_feature, factors)
    shrink = shrinkage(0.5, shape, units)
    coef, intercept = rng.normal(size=(2, 3)), rng.normal(size=2) * fit_intercept
    kind = ColumnShrinkage if by_feature else EntryShrinkage
    expected = 0.5 * 0.4 * penalty(kind, coef, factors)
    parameters = units.from_model(coef, intercept)
    assert shrink.value(parameters) == pytest.approx(expected)
    assert shrink.times(3.0).value(parameters) == pytest.approx(3 * expected)
    some = np.array([0, 2])
    part = 0.2 * penalty(kind, coef[:, some], factors[some])
    assert shrink.restricted(some).value(parameters[:, some]) == pytest.approx(part)
    assert shrinkage(0.0, shape, units) is None
    assert shrinkage(0.5, shape._replace(l1_ratio=0.0), units) is None
