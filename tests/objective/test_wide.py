"""The objective of wide rows in coordinates, against the formula in the features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import entr, logsumexp

from skprob.data import RowSpace
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Sigmoid, Softmax
from skprob.objective import WideObjective, split_rows
from skprob.solvers import solve
from skprob.targets import DenseTarget

N_ROWS, N_FEATURES, L2 = 9, 50, 0.02


def wide_rows(n_classes=3, marginals=False):
    """X, a target, weights of which one is zero, and factors, one of them infinite."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) + 1
    target = rng.dirichlet(np.full(n_classes, 0.4), N_ROWS)
    if marginals:
        target = (target > 0.3).astype(float)
    weight, factors = rng.uniform(0.5, 2, N_ROWS), rng.uniform(0.2, 3, N_FEATURES)
    weight[4], factors[7] = 0, np.inf
    return X, target, weight, factors


def objective_of(X, target, weight, factors, mapping, fit_intercept=True, l2=L2):
    space = RowSpace.of(X, weight, fit_intercept, factors, l2)
    blocks = split_rows(space.coordinates, DenseTarget(target), weight)
    loss, about = FenchelYoungLoss(mapping), {"l2": l2, "fit_intercept": fit_intercept}
    return WideObjective(blocks, loss, space, **about)


def formula(X, target, weight, factors, mapping, coef, intercept, l2=L2):
    """Objective of coefficients and intercepts of the features."""
    raw = X @ coef.T + intercept
    scores = raw * [-0.5, 0.5] if raw.shape[1] == 1 else raw
    losses = FenchelYoungLoss(mapping).evaluate(scores, DenseTarget(target))[0]
    losses = losses + FenchelYoungLoss(mapping).constant(DenseTarget(target))
    is_used = np.isfinite(factors)
    penalty = factors[is_used] * coef[:, is_used] ** 2
    return weight @ losses / weight.sum() + l2 / 2 * penalty.sum()


MAPPINGS = [Softmax(), Entmax(1.5), Sigmoid()]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_the_value_is_that_of_the_features(mapping, n_classes, fit_intercept):
    is_cube = mapping.traits.polytope == "cube"
    data = wide_rows(n_classes, is_cube)
    objective = objective_of(*data, mapping, fit_intercept)
    n_outputs = 1 if n_classes == 2 and not is_cube else n_classes
    assert objective.coef_shape == (n_outputs, N_FEATURES)
    parameters = np.random.default_rng(1).normal(size=objective.n_parameters)
    if objective.description.is_shift_invariant:
        # Equal changes of all scores are no part of the model.
        matrix = parameters.reshape(objective.shape)
        parameters = (matrix - matrix.mean(axis=0)).ravel()
    value, _ = objective.value_and_gradient(parameters)
    coef, intercept = objective.to_model(parameters)
    assert_allclose(value, formula(*data, mapping, coef, intercept), rtol=1e-10)
    assert_allclose(objective.from_model(coef, intercept), parameters, atol=1e-9)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_nothing_off_the_space_is_lower(mapping):
    X, target, weight, factors = data = wide_rows(
        marginals=mapping.traits.polytope == "cube"
    )
    objective = objective_of(*data, mapping)
    start = objective.initial()
    solution = solve(objective, start, tol=1e-12, max_iter=200)
    coef, intercept = objective.to_model(solution.parameters)
    least = formula(*data, mapping, coef, intercept)
    assert_allclose(solution.value, least, rtol=1e-10)
    rng = np.random.default_rng(2)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=coef.shape)
        step[:, 7] = 0  # It is left out.
        assert formula(*data, mapping, coef + step, intercept) > least
    # A bound of the minimum over all coefficients, whose slope vanishes.
    p = mapping((X @ coef.T + intercept).copy())
    share = (weight / weight.sum())[:, None]
    is_used = np.isfinite(factors)
    slope = (share * (p - target)).T @ X[:, is_used]
    slope += L2 * factors[is_used] * coef[:, is_used]
    assert_allclose(slope, 0, atol=1e-9)


def test_a_start_is_projected_and_no_higher():
    data = wide_rows()
    objective, rng = objective_of(*data, Softmax()), np.random.default_rng(3)
    coef, intercept = rng.normal(size=objective.coef_shape), np.array([1.0, -1.0, 0.0])
    coef[:, 7] = 0
    parameters = objective.from_model(coef, intercept)
    value, _ = objective.value_and_gradient(parameters)
    assert value < formula(*data, Softmax(), coef, intercept)
    # The probabilities are the same.
    X, _, weight, _ = data
    p = Softmax()(X @ coef.T + intercept)
    coef, intercept = objective.to_model(parameters)
    p_of_model, has_weight = Softmax()(X @ coef.T + intercept), weight > 0
    assert_allclose(p_of_model[has_weight], p[has_weight], rtol=1e-9)


def test_intercepts_of_a_relative_model_sum_to_zero_before_the_minimum_too():
    """Such as where a fit stops early: with the same probabilities."""
    X, target, weight, factors = wide_rows()
    objective = objective_of(X, target, weight, factors, Softmax())
    parameters = np.random.default_rng(5).normal(size=objective.n_parameters)
    coef, intercept = objective.to_model(parameters)
    assert_allclose(intercept.sum(), 0, atol=1e-12)
    losses = logsumexp(X @ coef.T + intercept, axis=1)
    losses -= (target * (X @ coef.T + intercept)).sum(axis=1)
    losses -= entr(target).sum(axis=1)
    used = np.isfinite(factors)
    penalty = L2 / 2 * (factors[used] * coef[:, used] ** 2).sum()
    value, _ = objective.value_and_gradient(parameters)
    assert_allclose(weight @ losses / weight.sum() + penalty, value, rtol=1e-10)


def test_other_penalties_and_losses_have_the_same_space():
    data = wide_rows()
    objective = objective_of(*data, Softmax(), l2=1e-4)
    other = objective.with_loss(FenchelYoungLoss(Entmax(1.5))).with_l2(0.3)
    parameters = np.random.default_rng(4).normal(size=objective.shape)
    parameters = (parameters - parameters.mean(axis=0)).ravel()
    expected = formula(*data, Entmax(1.5), *other.to_model(parameters), l2=0.3)
    assert_allclose(other.value_and_gradient(parameters)[0], expected, rtol=1e-10)
