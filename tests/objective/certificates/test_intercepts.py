"""Intercepts at which mean probabilities are the target's, and Newton's step."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Sigmoid, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.objective.certificates._intercepts import balancing_shift, newton_step
from skprob.solvers import Tuning
from skprob.solvers.lbfgs import EvaluatedPoint
from skprob.targets import LabelTarget, as_target

from ...solvers.training_problems import classes, hessian_at, objective_of

every_mapping = pytest.mark.parametrize(
    "mapping", [Softmax(), Entmax(1.5), Sparsemax()], ids=repr
)


@every_mapping
@pytest.mark.parametrize("n_classes", [2, 4])
def test_newtons_step_of_the_intercepts(mapping, n_classes):
    objective = objective_of(*classes(n_classes), mapping)
    x = 0.1 * np.random.default_rng(0).normal(size=objective.n_parameters)
    size = objective.shape[1]
    hessian = hessian_at(objective, x)[size - 1 :: size, size - 1 :: size]
    point = objective.at(x)
    gradient = point.gradient.reshape(objective.shape)[:, -1]
    share = objective.class_means[: len(gradient)]
    # To 1/2000; what all intercepts share changes nothing.
    step = newton_step(point, gradient, share, rtol=1 / 2000)
    expected, *_ = np.linalg.lstsq(hessian, -gradient)
    if n_classes > 2:
        step = step - step.mean()
    assert_allclose(step, expected, atol=1e-2 * np.abs(expected).max())
    # With many raw predictions it is the result.
    objective.tuning = Tuning(most_twice=0)
    before = objective.passes
    shift, _ = balancing_shift(objective, point)
    if n_classes > 2:
        shift = shift - shift.mean()
    assert_allclose(shift, expected, atol=1e-2 * np.abs(expected).max())
    # At a point without raw predictions they are computed.
    passes = objective.passes - before
    balancing_shift(objective, EvaluatedPoint(x, point.value, point.gradient))
    assert objective.passes == before + 2 * passes + 0.5


@pytest.mark.parametrize(
    "mapping", [Softmax(), Entmax(1.5), Sparsemax(), Sigmoid()], ids=repr
)
def test_mean_probabilities_are_the_targets_after_the_shift(mapping):
    """Also for a class that is in one of 300 rows, and is off by a factor of ten."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 900)), rng.integers(4, size=300)
    y[y == 3], y[17] = 2, 3
    target = LabelTarget(y, n_classes=4)
    if isinstance(mapping, Sigmoid):
        target = as_target(np.eye(4)[y], (300, 4), float, "cube")
    blocks = split_rows(X, target, rng.uniform(0.5, 2, size=300))
    objective = LinearObjective(blocks, FenchelYoungLoss(mapping), l2=1.0)
    W = rng.normal(size=objective.shape) / 60
    before = objective.value_and_gradient(W.ravel())[1].reshape(W.shape)[:, -1]
    share = objective.class_means
    assert before[3] > 10 * share[3]
    W[:, -1] += balancing_shift(objective, objective.at(W.ravel()))[0]
    after = objective.value_and_gradient(W.ravel())[1].reshape(W.shape)[:, -1]
    assert abs(after / share).max() < 1e-4


@every_mapping
def test_without_any_curvature_there_is_none_and_the_bound_is_that_of_the_point(
    mapping,
):
    """Far out every row has one class, and SciPy would divide by zero."""
    objective = objective_of(*classes(3), mapping, l2=1.0)
    x = 1e6 * np.random.default_rng(0).normal(size=objective.n_parameters)
    with np.errstate(all="ignore"):
        assert not objective.at(x).total_curvature()[0].any()
        gradient = objective.at(x).gradient.reshape(objective.shape)[:, -1]
        assert gradient.any()
        assert not balancing_shift(objective, objective.at(x))[0].any()
    value, _ = objective.value_and_gradient(x)
    assert 0 <= objective.duality_gap(objective.at(x)) <= value
