"""The objective of cosines against its formula, and its derivatives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.losses import FenchelYoungLoss, MarginLoss
from skprob.mappings import Entmax, Softmax, Sparsemax, Temperature
from skprob.objective import CosineObjective, split_rows
from skprob.solvers import solve
from skprob.targets import LabelTarget

from ..solvers.training_problems import hessian_at

LOSS = MarginLoss(FenchelYoungLoss(Temperature(Softmax(), 0.2)), 0.3)


def data():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 2 * np.eye(4)[y]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, y, rng.uniform(0.5, 2, 60)


def objective_of_cosines(loss=LOSS, container=np.asarray):
    X, y, weight = data()
    blocks = split_rows(container(X), LabelTarget(y, 3), weight)
    return CosineObjective(blocks, loss)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_value_is_that_of_the_formula(container):
    X, y, weight = data()
    objective = objective_of_cosines(container=container)
    x = np.random.default_rng(1).normal(size=objective.n_parameters)
    vectors = x.reshape(3, 4)
    norms = np.linalg.norm(vectors, axis=1)
    losses = LOSS.value(X @ (vectors / norms[:, None]).T, np.eye(3)[y])
    expected = np.average(losses, weights=weight) + np.sum((norms**2 - 1) ** 2) / 2
    value, gradient = objective.value_and_gradient(x)
    assert_allclose(value, expected, rtol=1e-13)
    step = 1e-6 * np.eye(len(x))
    slope = [
        (
            objective.value_and_gradient(x + s)[0]
            - objective.value_and_gradient(x - s)[0]
        )
        / 2e-6
        for s in step
    ]
    assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8)
    slope = [
        (
            objective.value_and_gradient(x + s)[1]
            - objective.value_and_gradient(x - s)[1]
        )
        / 2e-6
        for s in step
    ]
    point = objective.at(x)
    assert_allclose(point.value, value)
    assert_allclose(point.gradient, gradient)
    assert_allclose(hessian_at(objective, x), slope, rtol=1e-5, atol=1e-7)


def test_along_a_step_it_is_evaluated_at_the_parameters():
    objective = objective_of_cosines()
    x, step = np.random.default_rng(1).normal(size=(2, objective.n_parameters))
    point, before = objective.at(x), objective.passes
    ray = point.along(step)
    assert objective.passes == before
    for length in (1.0, 0.1):
        value, gradient = objective.value_and_gradient(x + length * step)
        before = objective.passes
        assert_allclose(ray.trial(length), (value, gradient @ step), rtol=1e-12)
        assert objective.passes == before + 1
    after = ray.arrive(0.1)
    assert objective.passes == before + 1
    assert_array_equal(after.parameters, x + 0.1 * step)
    assert_allclose(after.value, value, rtol=1e-14)
    assert_allclose(after.gradient, gradient, rtol=1e-12, atol=1e-14)
    assert_array_equal(ray.arrive(0.5).parameters, x + 0.5 * step)


def test_no_bound_is_known():
    objective = objective_of_cosines()
    point = objective.at(objective.initial())
    assert not objective.has_certificate()
    assert objective.duality_gap(point) == np.inf
    assert objective.duality_gap(point, known=0.25) == 0.25
    assert not objective.is_unbounded(point)


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        # The rows of the first class cancel: it starts from the mean of all.
        ([[1, 0], [-1, 0], [0, 1], [3, 3]], [[0.6, 0.8], [0, 1], [0.5**0.5] * 2]),
        (
            [[1, 0], [-1, 0], [3, 4], [-3, -4]],
            [[0.5**0.5] * 2, [0.6, 0.8], [-0.6, -0.8]],
        ),
    ],
)
def test_classes_start_from_their_means(X, expected):
    target = LabelTarget(np.array([0, 0, 1, 2]), 3)
    blocks = split_rows(np.array(X, dtype=float), target, np.ones(4))
    start = CosineObjective(blocks, LOSS).initial()
    assert_allclose(start.reshape(3, 2), expected, rtol=1e-14)


def test_the_model_is_made_of_unit_vectors():
    objective = objective_of_cosines()
    x = np.random.default_rng(1).normal(size=objective.n_parameters)
    coef, intercept = objective.to_model(x)
    assert_allclose(np.linalg.norm(coef, axis=1), 1)
    assert not intercept.any()
    assert_allclose(objective.from_model(coef), coef.ravel())
    for size in (1e-200, 1e200):
        assert_allclose(objective.from_model(size * coef), coef.ravel())
    start = objective.initial().reshape(3, 4)
    assert_allclose(np.linalg.norm(start, axis=1), 1)
    # A class vector of zeros has no direction.
    coef[1] = 0
    expected = np.vstack([coef[0], start[1], coef[2]])
    assert_allclose(objective.from_model(coef), expected.ravel())


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton-cg"])
@pytest.mark.parametrize("mapping", [Entmax(1.5), Sparsemax()], ids=repr)
def test_solvers_reach_a_point_where_it_is_level(solver, mapping):
    loss = FenchelYoungLoss(Temperature(mapping, 0.2))
    objective = objective_of_cosines().with_loss(loss)
    start = objective.initial()
    solution = solve(objective, start, solver=solver, tol=1e-6, max_iter=500)
    assert solution.converged, solution.message
    value, gradient = objective.value_and_gradient(solution.parameters)
    assert np.abs(gradient).max() <= 1e-6
    assert value < objective.value_and_gradient(objective.initial())[0]
    norms = np.linalg.norm(solution.parameters.reshape(3, 4), axis=1)
    assert_allclose(norms, 1, rtol=1e-6)
