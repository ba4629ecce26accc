"""The products with a block of rows, against sums written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.losses import FenchelYoungLoss, SparseTarget
from skprob.objective import LinearObjective, split_rows
from skprob.objective import _products as products

LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "slice": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sparse.csr_array,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3, 10, 70])
@pytest.mark.parametrize("n_features", [45, 90])
@pytest.mark.parametrize("n_rows", [1, 100, 2501])
def test_products(layout, dtype, n_outputs, n_features, n_rows):
    rng = np.random.default_rng(0)
    exact = rng.integers(-8, 9, size=(n_rows, n_features)).astype(dtype) / 8
    X = layout(exact)
    coef = rng.integers(-8, 9, size=(n_outputs, n_features)).astype(dtype) / 8
    residual = rng.integers(-8, 9, size=(n_rows, n_outputs)).astype(dtype) / 8
    # Sums of so few such numbers are exact in any order.
    for order in "CF":
        outputs = products.outputs(X, np.asarray(coef, order=order))
        assert outputs.dtype == dtype
        assert_allclose(outputs, np.einsum("nd,kd->nk", exact, coef), rtol=0)
        total = products.weighted_sum(X, np.asarray(residual, order=order))
        assert total.dtype == dtype
        assert_allclose(total, np.einsum("nk,nd->kd", residual, exact), rtol=0)


def test_small_parts_of_an_array_are_not_copied():
    X = sparse.random_array((10, 9), density=0.5, format="csr", rng=0)
    part = X[:1]
    part.data, part.indices = X.data[: part.nnz], X.indices[: part.nnz]
    transposed = products.compressed(sparse.csc_array, (9, 1), part.data, part)
    assert np.shares_memory(transposed.data, X.data)
    assert np.shares_memory(transposed.indices, X.indices)
    assert_allclose(transposed.toarray(), X.toarray()[:1].T)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_of_zeros_are_new_zeros(layout, dtype):
    X = layout(np.ones((4, 3), dtype=dtype))
    found = products.outputs(X, np.zeros((2, 3), dtype=dtype))
    assert found.dtype == dtype
    assert found.flags.writeable
    assert_allclose(found, np.zeros((4, 2)))


def test_tall_blocks_are_multiplied_in_tiles():
    X = np.ones((2501, 45))
    tile = products._tile(X, 10)
    assert 0 < tile < 2501
    assert tile * 45 * 10 <= products._SMALL
    tiles, rest = products._cut(X, tile)
    assert np.shares_memory(tiles, X)
    assert tiles.shape[0] * tile + len(rest) == 2501


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("share", [0, 0.02, 0.08, 1])
def test_sum_with_a_residual_of_zeros(layout, dtype, order, share, monkeypatch):
    rng = np.random.default_rng(0)
    exact = rng.integers(-8, 9, size=(150, 130)).astype(dtype) / 8
    residual = rng.integers(1, 9, size=(150, 70)).astype(dtype) / 8
    residual[rng.random(residual.shape) >= share] = 0
    found = []
    as_csr = products._as_csr_if_few
    monkeypatch.setattr(
        products,
        "_as_csr_if_few",
        lambda *args: found.append(as_csr(*args)) or found[0],
    )
    X = layout(exact)
    total = products.weighted_sum(X, np.asarray(residual, order=order))
    assert isinstance(total, np.ndarray)
    assert total.dtype == dtype
    assert_allclose(total, np.einsum("nk,nd->kd", residual, exact), rtol=0)
    left_out = found[0] is not None
    assert left_out == (share <= (0.03 if sparse.issparse(X) else 0.1))


def projection(row):
    """Onto the simplex, by sorting."""
    ordered = np.sort(row)[::-1]
    cut = (ordered.cumsum() - 1) / np.arange(1, len(row) + 1)
    return np.maximum(row - cut[ordered > cut][-1], 0)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_objective_of_a_sparse_mapping_with_many_classes(layout):
    n_classes, rng = 80, np.random.default_rng(0)
    exact, labels = rng.standard_normal((200, 130)), rng.integers(n_classes, size=200)
    weight = rng.uniform(0.5, 2, 200)
    share = weight / weight.sum()
    target = SparseTarget.from_labels(labels, n_classes)
    objective = LinearObjective(
        split_rows(layout(exact), target, weight),
        FenchelYoungLoss("sparsemax"),
        l2=0,
        fit_intercept=False,
    )
    coef, along = rng.standard_normal((2, n_classes, 130))
    p = np.array([projection(row) for row in exact @ coef.T])
    assert np.mean(p > 0) < 0.03
    support = p > 0
    move = exact @ along.T * support
    move -= support * (move.sum(axis=1) / support.sum(axis=1))[:, None]
    residual = p - np.eye(n_classes)[labels]
    linear = objective.linearize(coef.ravel())
    expected = np.einsum("n,nk,nd->kd", share, residual, exact).ravel()
    assert_allclose(linear.gradient, expected, rtol=1e-10, atol=1e-14)
    gradient = objective.value_and_gradient(coef.ravel())[1]
    assert_allclose(gradient, expected, rtol=1e-10, atol=1e-14)
    expected = np.einsum("n,nk,nd->kd", share, move, exact).ravel()
    product = linear.hessian_product(along.ravel())
    assert_allclose(product, expected, rtol=1e-10, atol=1e-14)
