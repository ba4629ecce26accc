"""Coordinates of the space of rows, against NumPy's singular values and projections."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.data import RowSpace

N_ROWS, N_FEATURES = 7, 40


def rows(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N_ROWS, N_FEATURES)) + rng.normal(size=N_FEATURES)


def space_of(X, weight=None, fit_intercept=True, factors=None, l2=1e-3):
    weight = np.ones(X.shape[0]) if weight is None else weight
    return RowSpace.of(X, weight, fit_intercept, factors, l2)


def sparse_rows(seed=0):
    """Rows of which six of ten entries are zero, and one column has no zeros."""
    X = rows(seed)
    X[np.random.default_rng(9).random(X.shape) < 0.6] = 0
    X[:, 1] = 3
    return X


def csr_with_copies(X):
    """A CSR matrix whose entries are sums of two, in no order, with 64-bit indices."""
    half = sparse.coo_array(X / 2)
    n = half.nnz
    order = np.lexsort((np.random.default_rng(5).random(2 * n), np.tile(half.row, 2)))
    indices = np.tile(half.col, 2)[order].astype(np.int64)
    indptr = np.append(0, np.cumsum(2 * np.bincount(half.row, minlength=len(X))))
    return sparse.csr_matrix((np.tile(half.data, 2)[order], indices, indptr), X.shape)


def single_csr(X):
    return sparse.csr_array(X.astype(np.float32))


def weights():
    weight = np.random.default_rng(1).uniform(0.2, 3, N_ROWS)
    weight[2] = 0
    return weight


CASES = {
    "plain": {},
    "no intercept": {"fit_intercept": False},
    "weights": {"weight": weights()},
    "factors": {"factors": np.random.default_rng(2).uniform(0.1, 9, N_FEATURES)},
    "left out": {"factors": np.where(np.arange(N_FEATURES) % 3, 1.0, np.inf)},
}


@pytest.mark.parametrize(
    ("container", "name"),
    [
        *((np.ascontiguousarray, name) for name in CASES),
        *((sparse.csr_array, name) for name in CASES),
        (np.asfortranarray, "weights"),
        (np.float32, "weights"),
        (csr_with_copies, "weights"),
        (single_csr, "weights"),
    ],
)
def test_scores_and_penalty_are_those_of_the_features(container, name):
    X, case = container(sparse_rows()), CASES[name]
    space, rng = space_of(X, **case), np.random.default_rng(3)
    coef = rng.normal(size=(3, space.coordinates.shape[1]))
    intercept = rng.normal(size=3)
    if not case.get("fit_intercept", True):
        intercept *= 0
    of_features, constant = space.to_features(coef, intercept)
    X = X.toarray() if sparse.issparse(X) else X
    X, factors = X.astype(float), case.get("factors", np.ones(N_FEATURES))
    has_weight = case.get("weight", np.ones(N_ROWS)) > 0
    assert_allclose(
        (X @ of_features.T + constant)[has_weight],
        (space.coordinates @ coef.T + intercept)[has_weight],
        rtol=1e-10,
    )
    is_used = np.isfinite(factors)
    assert not of_features[:, ~is_used].any()
    penalty = factors[is_used] * of_features[:, is_used] ** 2
    assert_allclose(penalty.sum(), np.square(coef).sum(), rtol=1e-10)
    back = space.from_features(of_features, constant)
    assert_allclose(back[0], coef, rtol=1e-9, atol=1e-9)
    assert_allclose(back[1], intercept, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_variances_are_those_of_the_principal_components(fit_intercept, container):
    X, weight = sparse_rows(), weights()
    share = weight / weight.sum()
    Z = X - share @ X if fit_intercept else X
    singular = np.linalg.svd(np.sqrt(share)[:, None] * Z, compute_uv=False)
    rank = N_ROWS - 1 - fit_intercept
    R = space_of(container(X), weight, fit_intercept).coordinates
    assert R.shape == (N_ROWS, rank)
    covariance = R.T @ (share[:, None] * R)
    assert_allclose(covariance, np.diag(singular[:rank][::-1] ** 2), atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_coefficients_off_the_space_are_projected(container):
    X, factors = sparse_rows(), CASES["factors"]["factors"]
    space, root = space_of(container(X), factors=factors), np.sqrt(factors)
    coef = np.random.default_rng(4).normal(size=(2, N_FEATURES))
    Z = (X - X.mean(axis=0)) / root
    expected = (coef * root) @ np.linalg.pinv(Z) @ Z / root
    projected, intercept = space.to_features(*space.from_features(coef, np.ones(2)))
    assert_allclose(projected, expected, atol=1e-12)
    # The rows keep their scores.
    assert_allclose(X @ projected.T + intercept, X @ coef.T + 1, rtol=1e-10)


def test_copies_are_weights_and_the_order_does_not_matter():
    X, counts = rows(), np.array([1, 3, 1, 2, 1, 1, 4])
    copies = np.repeat(np.arange(N_ROWS), counts)[::-1]
    one, two = space_of(X, counts).coordinates, space_of(X[copies]).coordinates
    assert_allclose(np.abs(two), np.abs(one[copies]), rtol=1e-9)


def test_columns_that_do_not_vary():
    X = rows()
    X[:, 3], X[:, 4] = 0, 1e7
    space = space_of(X)
    coef, _ = space.to_features(np.ones((1, N_ROWS - 1)), np.zeros(1))
    assert_allclose(coef[0, 3:5], 0, atol=1e-9)
    assert np.abs(coef).max() > 0.01


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "X", [np.zeros((N_ROWS, 9)), np.full((N_ROWS, 9), 1e-170), rows() * 1e160]
)
def test_numbers_without_a_gram_matrix(X, container):
    assert space_of(container(X), fit_intercept=False) is None


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_single_row(container):
    X = container(rows()[:1])
    assert space_of(X) is None
    space = space_of(X, fit_intercept=False)
    assert_allclose(np.abs(space.coordinates), [[np.linalg.norm(rows()[0])]])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_there_is_no_space_where_digits_are_lost(container):
    X = rows()
    X[:, 0] *= 1e4
    assert space_of(container(X), l2=1e-3) is not None
    X[:, 0] *= 10
    assert space_of(container(X), l2=1e-3) is None
    # Eigenvalues far below the penalty have no effect.
    assert space_of(container(X), l2=1e3) is not None
    # The other eigenvalues are smaller than the error of the largest.
    X[:, 0] *= 1e4
    assert space_of(container(X), l2=1e3) is None


def test_the_mean_of_sparse_rows_takes_digits_of_their_products():
    """The mean of dense rows is subtracted before, and takes none."""
    X = rows()
    X[:, 4] = 1e6
    assert space_of(X) is not None
    assert space_of(sparse.csr_array(X)) is None
    assert space_of(sparse.csr_array(X), l2=1e6) is not None
    X[:, 4] = 1e3
    expected = space_of(X).coordinates
    R = space_of(sparse.csr_array(X)).coordinates
    assert_allclose(np.abs(R), np.abs(expected), rtol=1e-6, atol=1e-6)


def test_rows_that_differ_by_little():
    X = rows()
    X[1] = X[0] + 1e-6 * X[2]
    assert space_of(X, l2=1e-9) is None
    assert space_of(X, l2=1e-3).coordinates.shape[1] == N_ROWS - 1
    # Nothing is lost if they are the same, under a penalty that is not too weak.
    X[1] = X[0]
    assert space_of(X, l2=1e-3).coordinates.shape[1] == N_ROWS - 2
    assert space_of(X, l2=1e-9) is None


def test_X_is_not_changed():
    X = rows()
    space_of(X, **CASES["factors"])
    assert_array_equal(X, rows())
