"""Expected sizes of sets against scikit-learn's ridge regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import RidgeCV

from skprob.decision import (
    ExpectedSize,
)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_expected_sizes_are_those_of_ridge_regression(container, dtype):
    rng = np.random.default_rng(0)
    # Columns of a sparse matrix are not scaled.
    units = 10.0 ** np.arange(-2, 2, 0.5) if container is np.asarray else 1.0
    X = (units * rng.normal(size=(300, 8))).astype(dtype)
    scale = X.std(axis=0) if container is np.asarray else 1
    sizes = 3 + X @ (rng.normal(size=8) / X.std(axis=0)) + rng.normal(size=300)
    model = ExpectedSize(container(X), sizes, np.ones(300))
    Z = X.astype(float) / scale
    Z -= Z.mean(axis=0)
    unit = (Z**2).sum() / 8
    candidates = [
        RidgeCV([10.0**k * unit]).fit(Z, sizes).predict(Z) for k in range(-3, 3)
    ]
    predicted = model(container(X))
    clipped = np.clip(candidates, sizes.min(), sizes.max())
    tolerance = 1e-6 if dtype is np.float64 else 1e-4
    assert np.abs(clipped - predicted).max(axis=1).min() < tolerance
    assert np.corrcoef(model.out_of_fold, sizes)[0, 1] > 0.8


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_features", [8, 100])
def test_expected_sizes_of_features_far_from_zero(n_features, dtype, container):
    """Features whose mean is 100,000 times their deviation."""
    rng = np.random.default_rng(0)
    # Multiples of 1/64, so that the shifted features are exact in single precision.
    X = np.rint(64 * rng.normal(size=(600, n_features))) / 64
    signal = 2 * X @ rng.normal(size=n_features) / np.sqrt(n_features)
    sizes = np.rint(np.clip(4 + signal, 1, 9))
    near = ExpectedSize(container(X), sizes, np.ones(600))
    shifted = (X + 1e5).astype(dtype)
    assert (np.abs(shifted - 1e5 - X) == 0).all()
    far = ExpectedSize(container(shifted), sizes, np.ones(600))
    assert_allclose(far.out_of_fold, near.out_of_fold, atol=1e-3)
    assert_allclose(far(container(shifted)), near(container(X)), atol=1e-3)
    assert ((far.out_of_fold - sizes) ** 2).mean() < 0.1 * sizes.var()


def test_the_last_feature_may_have_no_entries():
    rng = np.random.default_rng(0)
    X = sparse.random_array((90, 5), density=0.5, rng=rng, dtype=np.float32)
    X = sparse.csr_array(sparse.hstack([X, sparse.csr_array((90, 1))]), dtype="f4")
    sizes = X.sum(axis=1) + rng.random(90)
    in_double = X.astype(float)
    expected = ExpectedSize(in_double, sizes, np.ones(90))(in_double)
    assert_allclose(ExpectedSize(X, sizes, np.ones(90))(X), expected, rtol=1e-6)


def test_useless_features_give_about_the_mean_size():
    rng = np.random.default_rng(0)
    for X in (np.ones((50, 2)), rng.normal(size=(50, 40))):
        sizes = rng.integers(1, 5, 50)
        model = ExpectedSize(X, sizes, np.ones(50))
        error = ((model.out_of_fold - sizes) ** 2).mean()
        assert error <= sizes.var() * 1.3
    assert_array_equal(ExpectedSize(X, np.full(50, 2), np.ones(50))(X), np.full(50, 2))


def test_sizes_are_no_smaller_and_no_larger_than_those_of_the_rows():
    """Also those of rows far from the others, with which the folds do not agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    sizes = 2 + (X[:, 0] > 0) + (X[:, 0] > 1)
    X[::7] *= 30
    model = ExpectedSize(X, sizes, np.ones(60))
    assert np.abs(model.coef).max() > 0
    for predicted in model.out_of_fold, model(X), model(100 * X):
        assert predicted.min() >= 2 and predicted.max() <= 4
    assert model.out_of_fold.min() == 2
