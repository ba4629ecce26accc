"""Hessian products in the coordinates of a preconditioner, against the formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import softmax

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax, Sparsemax
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
    target = LabelTarget(rng.integers(N_CLASSES, size=N_ROWS), N_CLASSES)
    weight = rng.uniform(0.5, 2, size=N_ROWS)
    if cuts:
        blocks = in_blocks(X, target, weight, cuts)
    else:
        blocks = split_rows(X, target, weight)
    loss = FenchelYoungLoss(mapping)
    options = {"l2": 0.01, "fit_intercept": fit_intercept}
    return LinearObjective(blocks, loss, **options), X.toarray(), weight / weight.sum()


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
    objective, X, weight = problem(mapping, fit_intercept, cuts)
    assert objective.description.suits_single_precision
    rng = np.random.default_rng(1)
    x = far * rng.normal(size=objective.shape) / np.sqrt(objective.shape[1])
    mean, scale, _ = objective.units
    A = (X - mean) / scale
    unit = rng.uniform(0.5, 2, size=objective.shape[1])
    T, center = np.diag(unit), None
    if fit_intercept:
        A = np.hstack([A, np.ones((N_ROWS, 1))])
        center = rng.normal(size=N_FEATURES)
        T[-1, :-1] = -center * unit[:-1]
    J = weight[:, None, None] * jacobians(mapping, A @ x.T)
    ridge = np.zeros(len(unit))
    ridge[:N_FEATURES] = 0.01 / scale**2
    variables = rng.normal(size=(len(unit), N_CLASSES)).astype(np.float32)
    change = np.einsum("nkl,nl->nk", J, A @ T @ variables)
    expected = (A @ T).T @ change + (ridge * unit**2)[:, None] * variables

    point = objective.at(x.ravel())
    passes = objective.passes
    product = point.scaled_hessian(unit, center).product(variables.ravel())
    assert product.dtype == np.float32
    assert objective.passes == passes + 1
    atol = 3e-6 * np.abs(expected).max()
    assert_allclose(product.reshape(expected.shape), expected, rtol=0, atol=atol)


def test_rows_that_are_copied_to_the_cache_do_not_suit_single_precision():
    X = sparse.csr_array(np.eye(20, 2000))
    for n_rows, is_sparse in (20, False), (2000, True):
        rows = sparse.vstack([X] * (n_rows // 20), format="csr")
        target = LabelTarget(np.arange(n_rows) % 2, 2)
        blocks = split_rows(rows, target, np.ones(n_rows))
        objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.1)
        assert objective.description.suits_single_precision == is_sparse
