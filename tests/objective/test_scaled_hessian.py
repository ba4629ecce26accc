"""Hessian products in the coordinates of a preconditioner, against the formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp, softmax

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.targets import LabelTarget

from ..solvers.training_problems import in_blocks

# More numbers than a copy in the cache would have.
N_ROWS, N_FEATURES, N_CLASSES = 300, 1000, 3


def problem(mapping, fit_intercept=True, cuts=()):
    """An objective of sparse rows; without cuts they are a single block."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((N_ROWS, N_FEATURES), density=0.05, rng=rng, format="csr")
    X.data += 1
    y = rng.integers(N_CLASSES, size=N_ROWS)
    target = LabelTarget(y, N_CLASSES)
    weight = rng.uniform(0.5, 2, size=N_ROWS)
    if cuts:
        blocks = in_blocks(X, target, weight, cuts)
    else:
        blocks = split_rows(X, target, weight)
    loss = FenchelYoungLoss(mapping)
    options = {"l2": 0.01, "fit_intercept": fit_intercept}
    objective = LinearObjective(blocks, loss, **options)
    return objective, X.toarray(), weight / weight.sum(), y


def jacobians(mapping, scores):
    """The Jacobian of each row, written out."""
    if isinstance(mapping, Softmax):
        s = softmax(scores, axis=1)
    else:  # The support, by the definition of the projection.
        ordered = np.sort(scores, axis=1)[:, ::-1]
        margins = 1 + np.arange(1, 4) * ordered - np.cumsum(ordered, axis=1)
        n_positive = (margins > 0).sum(axis=1)
        s = (scores >= ordered[range(len(scores)), n_positive - 1][:, None]) * 1.0
    share = s / s.sum(axis=1, keepdims=True)
    return np.einsum("nk,kl->nkl", s, np.eye(3)) - np.einsum("nk,nl->nkl", s, share)


@pytest.mark.parametrize("far", [1.0, 30.0])
@pytest.mark.parametrize("cuts", [(), (100, 180)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("mapping", [Softmax(), Sparsemax()], ids=repr)
def test_products_are_those_of_the_formula(mapping, fit_intercept, cuts, far):
    """Far from zero few rows have curvature with sparsemax: the others are left out."""
    objective, X, weight, _ = problem(mapping, fit_intercept, cuts)
    assert objective.description.suits_single_precision
    rng = np.random.default_rng(1)
    x = far * rng.normal(size=objective.shape) / np.sqrt(objective.shape[1])
    mean, scale, _ = objective.units
    A = (X - mean) / scale
    unit, center = rng.uniform(0.5, 2, size=objective.shape), None
    if fit_intercept:
        A = np.hstack([A, np.ones((N_ROWS, 1))])
        center = rng.normal(size=(N_CLASSES, N_FEATURES))
    # The columns of each class: multiplied by their units, less their centers.
    AT = A[:, None, :] * unit
    if fit_intercept:
        AT[:, :, :-1] -= center
    J = weight[:, None, None] * jacobians(mapping, A @ x.T)
    ridge = np.zeros(objective.shape[1])
    ridge[:N_FEATURES] = 0.01 / scale**2
    variables = rng.normal(size=objective.shape[::-1]).astype(np.float32)
    change = np.einsum("nkl,nl->nk", J, np.einsum("nlj,jl->nl", AT, variables))
    expected = np.einsum("nkj,nk->jk", AT, change) + (ridge * unit**2).T * variables

    point = objective.at(x.ravel())
    passes = objective.passes
    product = point.scaled_hessian(unit, center).product(variables.ravel())
    assert product.dtype == np.float32
    assert objective.passes == passes + 1
    atol = 3e-6 * np.abs(expected).max()
    assert_allclose(product.reshape(expected.shape), expected, rtol=0, atol=atol)


def formulas(objective, X, y, weight, parameters):
    """Value, and gradient in the columns of standardised X, of softmax in NumPy."""
    mean, scale, fit_intercept = objective.units
    Z = (X - mean) / scale if fit_intercept else X / scale
    if fit_intercept:
        Z = np.hstack([Z, np.ones((N_ROWS, 1))])
    scores, rows = Z @ parameters.T, np.arange(N_ROWS)
    penalty = np.zeros(Z.shape[1])
    penalty[:N_FEATURES] = 0.01 / scale**2
    value = weight @ (logsumexp(scores, axis=1) - scores[rows, y])
    residual = softmax(scores, axis=1)
    residual[rows, y] -= 1
    gradient = (weight[:, None] * residual).T @ Z + penalty * parameters
    return value + (penalty * parameters**2).sum() / 2, gradient


@pytest.mark.parametrize("is_far", [True, False])
@pytest.mark.parametrize("cuts", [(), (100, 180)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rays_along_products_are_those_of_the_step(fit_intercept, cuts, is_far):
    objective, X, weight, y = problem(Softmax(), fit_intercept, cuts)
    rng = np.random.default_rng(1)
    size = objective.shape[1]
    x = rng.normal(size=objective.shape) / np.sqrt(size)
    unit = rng.uniform(0.5, 2, size=objective.shape) / np.sqrt(size)
    center = rng.normal(size=(N_CLASSES, N_FEATURES)) if fit_intercept else None
    point, total = objective.at(x.ravel()), 0.0
    hessian = point.scaled_hessian(unit, center)
    for length in 0.5, -2.0:
        variables = rng.normal(size=(size, N_CLASSES)).astype(np.float32)
        hessian.product(variables.ravel())
        hessian.moved(length)
        total = total + length * variables.astype(float)
    step = unit * total.T
    if fit_intercept:
        step[:, -1] -= (total.T[:, :-1] * center).sum(axis=1)

    passes = objective.passes
    ray = point.along_products(step.ravel(), hessian, is_far)
    value, slope = ray.trial(0.7)
    assert objective.passes == passes
    end = x + 0.7 * step
    true_value, gradient = formulas(objective, X, y, weight, end)
    assert_allclose(value, true_value, rtol=1e-6)
    assert_allclose(slope, np.vdot(gradient, step), rtol=1e-5)

    point = ray.arrive(0.7)
    assert objective.passes == passes + (0.5 if is_far else 1)
    rtol = 1e-6 if is_far else 1e-14
    assert_allclose(point.parameters, end.ravel(), rtol=1e-14)
    assert_allclose(point.value, true_value, rtol=rtol)
    atol = 5 * rtol * np.abs(gradient).max()
    assert_allclose(point.gradient, gradient.ravel(), rtol=0, atol=atol)


def test_no_ray_is_known_where_products_leave_rows_out():
    objective, *_ = problem(Sparsemax())
    x = np.random.default_rng(1).normal(size=objective.shape)
    x *= 30 / np.sqrt(objective.shape[1])
    point = objective.at(x.ravel())
    center = np.zeros((N_CLASSES, N_FEATURES))
    hessian = point.scaled_hessian(np.ones(objective.shape), center)
    step = np.random.default_rng(2).normal(size=objective.shape)
    hessian.product(step.T.ravel().astype(np.float32))
    hessian.moved(1.0)
    passes = objective.passes
    trial = point.along_products(step.ravel(), hessian, True).trial(0.5)
    assert objective.passes == passes + 0.5
    value, gradient = objective.value_and_gradient((x + step / 2).ravel())
    assert_allclose(trial, (value, gradient @ step.ravel()), rtol=1e-10)


@pytest.mark.parametrize("cuts", [(), (100, 180)])
def test_curvature_of_rows_that_are_nearer_to_their_targets(cuts):
    """It is that of a mixture; a step ends at a point with its own curvature."""
    objective, X, weight, y = problem(Softmax(), False, cuts)
    rng = np.random.default_rng(1)
    x = 30 * rng.normal(size=objective.shape) / np.sqrt(N_FEATURES)
    A = X / objective.units[1]
    p = 0.75 * softmax(A @ x.T, axis=1) + 0.25 * np.eye(N_CLASSES)[y]
    variables = rng.normal(size=x.T.shape).astype(np.float32)
    change = A @ variables
    change -= (p * change).sum(axis=1, keepdims=True)
    ridge = 0.01 / objective.units[1] ** 2
    expected = A.T @ (weight[:, None] * p * change) + ridge[:, None] * variables

    point = objective.at(x.ravel())
    value, gradient, passes = point.value, point.gradient, objective.passes
    nearer = point.towards_target(0.25)
    assert objective.passes == passes
    assert nearer.value == value
    assert_array_equal(nearer.gradient, gradient)
    hessian = nearer.scaled_hessian(np.ones(objective.shape), None)
    product = hessian.product(variables.ravel()).reshape(expected.shape)
    atol = 3e-6 * np.abs(expected).max()
    assert_allclose(product, expected, rtol=0, atol=atol)
    total = weight @ (p * (1 - p))
    assert_allclose(nearer.curvature_moments()[0], total, rtol=1e-9)

    hessian.moved(0.01)
    step = 0.01 * variables.T.ravel().astype(float)
    end = point.along_products(step, hessian, True).arrive(1.0)
    direction = rng.normal(size=objective.n_parameters)
    expected = objective.at(x.ravel() + step).hessian_product(direction)
    product = end.hessian_product(direction)
    atol = 1e-5 * np.abs(expected).max()
    assert_allclose(product, expected, rtol=0, atol=atol)


def test_few_active_rows_are_nearer_to_their_targets_too():
    """Rows whose only probability is that of another class have no curvature."""
    y = np.arange(N_ROWS) % 2
    X = sparse.csr_array(np.repeat(np.eye(30, N_FEATURES), 10, axis=0))
    loss = FenchelYoungLoss(Entmax(1.5))
    blocks = split_rows(X, LabelTarget(y, 2 + 1), np.ones(N_ROWS))
    objective = LinearObjective(blocks, loss, l2=0.01, fit_intercept=False)
    # A score of 10 for class 0; in the first 30 rows all scores are equal.
    x = np.zeros(objective.shape)
    x[0, 3:30] = 10
    x *= objective.units[1]
    direction = np.random.default_rng(1).normal(size=objective.shape)
    products = []
    for share in 0.0, 0.25:
        point = objective.at(x.ravel())
        point = point.towards_target(share) if share else point
        products.append(point.hessian_product(direction.ravel()))
    p = np.tile([1.0, 0, 0], (N_ROWS, 1))
    p[:30] = 1 / 3
    p = 0.75 * p + 0.25 * np.eye(3)[y]
    s, A = np.sqrt(p), X.toarray() / objective.units[1]
    change = A @ direction.T
    change -= (s * change).sum(axis=1, keepdims=True) / s.sum(axis=1, keepdims=True)
    expected = (A.T @ (s * change / N_ROWS)).T
    expected += 0.01 / objective.units[1] ** 2 * direction
    assert_allclose(products[1], expected.ravel(), rtol=1e-9, atol=1e-12)
    assert np.abs(products[1] - products[0]).max() > 1e-3


def test_rows_that_are_copied_to_the_cache_do_not_suit_single_precision():
    X = sparse.csr_array(np.eye(20, 2000))
    for n_rows, is_sparse in (20, False), (2000, True):
        rows = sparse.vstack([X] * (n_rows // 20), format="csr")
        target = LabelTarget(np.arange(n_rows) % 2, 2)
        blocks = split_rows(rows, target, np.ones(n_rows))
        objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.1)
        assert objective.description.suits_single_precision == is_sparse
