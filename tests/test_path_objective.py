"""Objectives along a path are those of single fits, by finite differences too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from skprob.losses import FenchelYoungLoss, MarginLoss
from skprob.mappings import Entmax, Softmax
from skprob.objective import PathObjective

from .test_objective import Problem

LOSS = MarginLoss(FenchelYoungLoss(Entmax(1.5)), 0.3)


def problem(n_classes, fit_intercept=True):
    made = Problem(n_classes)
    single = made.objective(LOSS, fit_intercept=fit_intercept)
    return made, single, PathObjective.of(single)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_what_is_remembered_is_what_is_computed(n_classes, fit_intercept):
    made, _, path = problem(n_classes, fit_intercept)
    rng = np.random.default_rng(0)
    point = made.parameters(fit_intercept)
    for l2 in (0.1, 3.0, 0.1):
        expected = made.objective(LOSS, l2=l2, fit_intercept=fit_intercept)
        penalised = path.with_penalty(l2)
        for x in (np.zeros_like(point), point, point, rng.normal(size=len(point))):
            for method in ("value_and_gradient", "linearize"):
                value, gradient, *_ = getattr(expected, method)(x)
                found = getattr(penalised, method)(x)
                assert found[0] == value
                assert_array_equal(found[1], gradient)
            product = penalised.linearize(x).hessian_product(point)
            assert_array_equal(product, expected.linearize(x).hessian_product(point))


def test_another_loss_forgets_the_values():
    made, _, path = problem(3)
    point = made.parameters()
    path.linearize(point), path.value_and_gradient(0 * point)
    loss = FenchelYoungLoss(Softmax())
    other, expected = PathObjective.of(path, loss), made.objective(loss)
    for x in (point, 0 * point):
        assert other.value_and_gradient(x)[0] == expected.value_and_gradient(x)[0]
        assert other.linearize(x).value == expected.linearize(x).value


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_batch_is_each_objective_in_other_coordinates(n_classes, fit_intercept):
    _, _, path = problem(n_classes, fit_intercept)
    rng = np.random.default_rng(1)
    mean = rng.normal(size=4) * fit_intercept
    scale = rng.uniform(0.5, 2, 4)
    penalties = np.array([0.1, 2.0, 0.5])
    batch = path.under(penalties, mean, scale)
    points = rng.normal(size=(2, path.n_parameters))
    which = np.array([2, 0])
    there = batch.linearize(which, points)
    originals = batch.original_gradients(there.gradients)
    for k, penalty in enumerate(penalties[which]):
        single = path.with_penalty(penalty)

        def value(x, single=single):
            return single.value_and_gradient(batch.to_original(x))[0]

        original = batch.to_original(points[k])
        assert_allclose(batch.from_original(original), points[k])
        assert_allclose(there.values[k], value(points[k]))
        slope = approx_fprime(points[k], value, 1e-7)
        assert_allclose(there.gradients[k], slope, atol=1e-5)
        expected = np.sort(single.value_and_gradient(original)[1])
        assert_allclose(np.sort(originals[k]), expected)


def test_batches_along_a_path():
    """What they have in common is made once, and again where it is not the same."""
    _, _, path = problem(3)
    points = np.random.default_rng(0).normal(size=(2, path.n_parameters))
    penalties = np.array([0.1, 2.0])
    for loss in LOSS, FenchelYoungLoss(Softmax()), LOSS:
        path = PathObjective.of(path, loss)
        for factor in 1.0, 2.0, 1.0:
            batch = path.under(
                factor * penalties, np.full(4, factor), np.full(4, 1 / factor)
            )
            there = batch.linearize(np.arange(2), points)
            for k, penalty in enumerate(factor * penalties):
                single = path.with_penalty(penalty)
                value, _ = single.value_and_gradient(batch.to_original(points[k]))
                assert_allclose(there.values[k], value)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_hessians_of_a_batch(n_classes, fit_intercept):
    _, _, path = problem(n_classes, fit_intercept)
    batch = path.under(np.array([0.1, 2.0]), np.zeros(4), np.ones(4))
    points = np.random.default_rng(1).normal(size=(2, path.n_parameters)) / 2
    which = np.arange(2)
    (hessian,) = batch.linearize(which, points).hessians([1])
    steps = 1e-6 * np.eye(path.n_parameters)
    columns = [
        batch.linearize(which, points + step).gradients[1]
        - batch.linearize(which, points - step).gradients[1]
        for step in steps
    ]
    expected = np.array(columns) / 2e-6
    if fit_intercept and n_classes > 2:
        # What all intercepts share gets a curvature, so that it stays as it is.
        ends = np.arange(4, path.n_parameters, 5)
        expected[np.ix_(ends, ends)] += 1 / n_classes
    assert_allclose(hessian + np.diag(batch.ridges[1]), expected, atol=1e-6)


def test_much_data_and_losses_that_are_not_convex_do_not_suit_a_batch():
    assert problem(3)[2].suits_batch
    much = Problem(3, n_samples=20_000).objective(LOSS)
    assert not PathObjective.of(much).suits_batch
    steep = Problem(3).objective(FenchelYoungLoss(Entmax(3)))
    assert not PathObjective.of(steep).suits_batch
