"""Hessian products of several outputs, against the formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Sigmoid
from skprob.objective import LinearObjective, split_rows
from skprob.targets import DenseTarget

# More numbers than a copy in the cache would have.
N_ROWS, N_FEATURES, N_LABELS = 300, 1000, 4


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("is_sparse", "precision"),
    [(True, np.float32), (True, np.float64), (False, np.float64)],
)
def test_products_are_those_of_the_formula(is_sparse, precision, fit_intercept):
    rng = np.random.default_rng(0)
    X = sparse.random_array((N_ROWS, N_FEATURES), density=0.05, rng=rng, format="csr")
    Y = (rng.random((N_ROWS, N_LABELS)) < 0.3).astype(float)
    weight = rng.uniform(0.5, 2, size=N_ROWS)
    blocks = split_rows(X if is_sparse else X.toarray(), DenseTarget(Y), weight)
    loss = FenchelYoungLoss(Sigmoid())
    objective = LinearObjective(blocks, loss, l2=0.01, fit_intercept=fit_intercept)
    mean, scale, _ = objective.units
    A = (X.toarray() - mean) / scale
    if fit_intercept:
        A = np.hstack([A, np.ones((N_ROWS, 1))])
    x = rng.normal(size=objective.shape) / np.sqrt(objective.shape[1])
    p, shares = expit(A @ x.T), weight / weight.sum()
    unit, center = rng.uniform(0.5, 2, size=objective.shape), None
    if fit_intercept:
        center = rng.normal(size=(N_LABELS, N_FEATURES))
    ridge = np.zeros(objective.shape[1])
    ridge[:N_FEATURES] = 0.01 / scale**2
    variables = rng.normal(size=objective.shape[::-1])
    expected = np.empty_like(variables)
    for k in range(N_LABELS):
        # The columns of the label: multiplied by their units, less their centers.
        columns = A * unit[k]
        if fit_intercept:
            columns[:, :-1] -= center[k]
        curvature = shares * p[:, k] * (1 - p[:, k])
        expected[:, k] = columns.T @ (curvature * (columns @ variables[:, k]))
        expected[:, k] += ridge * unit[k] ** 2 * variables[:, k]

    hessian = objective.separate_at(x.ravel()).scaled_hessian(unit, center, precision)
    passes = objective.passes
    atol = (3e-6 if precision is np.float32 else 1e-12) * np.abs(expected).max()
    for some in slice(None), np.array([1, 3]):
        part = hessian if isinstance(some, slice) else hessian.of_outputs(some)
        product = part.product(variables[:, some].astype(precision))
        assert product.dtype == precision
        assert_allclose(product, expected[:, some], rtol=0, atol=atol)
    assert objective.passes == passes + 1.5
