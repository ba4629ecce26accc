"""Hessians of some parameters against sums over the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.data import DenseDesign
from skprob.losses import FenchelYoungLoss
from skprob.mappings import NestedSoftmax, Sigmoid, Softmax
from skprob.objective._piece_hessian import RowHessians, systematic_sample
from skprob.solvers import Tuning
from skprob.targets import as_target


@pytest.mark.parametrize("part", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_hessian_of_some_parameters_of_many_outputs(dtype, part):
    """Few, most or all parameters are included; the rows are in several parts."""
    rng = np.random.default_rng(0)
    n_rows, n_outputs, size = 7000, 14, 5
    Z = rng.normal(size=(n_rows, size)) + 1
    diagonal = rng.uniform(size=(n_rows, n_outputs))
    diagonal[::3] = 0
    vector = np.where(diagonal > 0, rng.normal(size=(n_rows, n_outputs)) / 4, 0)
    included = rng.uniform(size=(n_outputs, size)) < part
    rows = RowHessians(diagonal, vector).astype(dtype)
    tuning = Tuning(outputs_of_pairs=8)
    hessian = rows.of_piece(DenseDesign(Z), included, tuning)
    outputs, columns = np.nonzero(included)
    scaled = vector[:, outputs] * Z[:, columns]
    expected = -scaled.T @ scaled
    for k in range(n_outputs):
        some = np.flatnonzero(outputs == k)
        weighted = Z[:, columns[some]] * diagonal[:, [k]]
        expected[np.ix_(some, some)] += weighted.T @ Z[:, columns[some]]
    assert hessian.dtype == dtype
    error = {np.float64: 1e-13, np.float32: 1e-5}[dtype] * np.abs(expected).max()
    assert_allclose(hessian, expected, rtol=0, atol=error)


MAPPINGS = {
    "nested": (NestedSoftmax([0, 0, 1], 0.5), "simplex"),
    "softmax": (Softmax(), "simplex"),
    "sigmoid": (Sigmoid(), "cube"),
}


@pytest.mark.parametrize(("mapping", "polytope"), MAPPINGS.values(), ids=MAPPINGS)
def test_hessians_of_rows(mapping, polytope):
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=(6, 3)), rng.uniform(size=6)
    Q = rng.dirichlet(np.ones(3), size=6)
    loss = FenchelYoungLoss(mapping)
    linear = loss.linearize(scores.copy(), as_target(Q, Q.shape, float, polytope))
    products = [loss.hessian_product(scores, Q, np.eye(3)[[k] * 6]) for k in range(3)]
    rows = RowHessians.of(linear, weight, loss.traits)
    expected = weight[:, None, None] * np.stack(products, axis=2)
    assert_allclose(whole(rows), expected, atol=1e-12)


def whole(rows):
    """The Hessians of all rows: (n_rows, M, M)."""
    if rows.matrices is not None:
        return rows.matrices
    hessians = rows.diagonal[:, :, None] * np.eye(rows.diagonal.shape[1])
    if rows.vector is not None:
        hessians -= rows.vector[:, :, None] * rows.vector[:, None, :]
    return hessians


def test_rows_with_one_class_have_no_curvature():
    """Their diagonal and vector are zero, so that the rows can be left out."""
    scores = np.array([[800.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    Q = np.eye(3)[[0, 1]]
    loss = FenchelYoungLoss(Softmax())
    linear = loss.linearize(scores, as_target(Q, Q.shape, float, "simplex"))
    rows = RowHessians.of(linear, np.ones(2), loss.traits)
    assert rows.has_curvature.tolist() == [False, True]


@pytest.mark.parametrize("form", ["diagonal", "vector", "matrices"])
def test_drawn_rows_weigh_as_much_as_all(form):
    """A row is its number of draws, divided by the expected number of draws."""
    rng = np.random.default_rng(0)
    diagonal = rng.uniform(size=(40, 3))
    diagonal[0] = 30  # It is drawn several times.
    vector = np.sqrt(diagonal) / 2 if form == "vector" else None
    rows = RowHessians(diagonal, vector)
    if form == "matrices":
        matrices = diagonal[:, :, None] * np.eye(3)
        rows, curvature = RowHessians(None, None, matrices), matrices.sum(axis=(1, 2))
    else:
        curvature = diagonal.sum(axis=1)
    part, n_drawn = rows.sampled(0.25), 10
    draws = systematic_sample(curvature, n_drawn)
    expected = n_drawn * curvature / curvature.sum()
    assert draws[0] > 1 and draws.sum() == n_drawn
    factors = draws / expected
    assert_allclose(whole(part), factors[:, None, None] * whole(rows), atol=1e-12)
    assert np.trace(whole(part).sum(axis=0)) > 0


@pytest.mark.parametrize("n_drawn", [5, 20, 60])
def test_draws_are_in_proportion_to_the_importance(n_drawn):
    """Cumulative numbers of draws are the expected ones, rounded to the nearest."""
    importance = np.random.default_rng(0).exponential(size=20)
    importance[7] = 0
    draws = systematic_sample(importance, n_drawn)
    expected = n_drawn * np.cumsum(importance) / importance.sum()
    assert np.abs(np.cumsum(draws) - expected).max() <= 0.5 + 1e-9
    assert draws[7] == 0 and draws.sum() == n_drawn
