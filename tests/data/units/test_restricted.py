"""Some columns of a design against the same columns of an array."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.data import (
    Standardization,
    StandardizedDesign,
    as_design,
    restricted,
    standardized,
)
from skprob.data.units._restricted import SelectedColumns

N_ROWS, N_FEATURES = 30, 8
FEW, MANY = np.array([1, 4, 6]), np.array([0, 1, 2, 4, 5, 7])


def numbers(*shape, seed=0):
    """Multiples of 1/8: sums of their products are exact, in float32 as well."""
    return np.random.default_rng(seed).integers(-8, 9, size=shape) / 8


def table(density):
    X = numbers(N_ROWS, N_FEATURES)
    X[np.random.default_rng(1).random(X.shape) > density] = 0
    return X


def units(fit_intercept):
    mean = numbers(N_FEATURES, seed=2) * fit_intercept
    return Standardization(mean, 2.0 ** np.arange(-3, 5), fit_intercept)


CONTAINERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "single": lambda X: X.astype("f4"),
    "csr": sparse.csr_array,
    "csr single": lambda X: sparse.csr_array(X.astype("f4")),
}


@pytest.mark.parametrize(
    ("density", "fit_intercept", "features"),
    [(0.04, True, FEW), (0.6, True, MANY), (0.04, False, MANY)],
    ids=["few of sparse columns", "many", "many without an intercept"],
)
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_it_is_a_design_of_the_columns(container, density, fit_intercept, features):
    X, standardization = table(density), units(fit_intercept)
    mean, scale, _ = standardization
    Z, columns = (X - mean) / scale, features
    if fit_intercept:
        Z, columns = np.column_stack([Z, np.ones(N_ROWS)]), np.append(features, 8)
    design = StandardizedDesign(as_design(container(X)), standardization)
    # So many rows in all that they are not copied as little data.
    some = restricted(design, columns, n_rows=10**7)
    check(some, Z[:, columns])
    # Restrict it again to some of these columns.
    fewer = np.array([0, 2, len(columns) - 1][: 2 + fit_intercept])
    check(restricted(some, fewer, n_rows=10**7), Z[:, columns[fewer]])


def check(design, Z):
    """Every operation of a design against the array that it stands for."""
    n_columns, rng = Z.shape[1], np.random.default_rng(3)
    atol = 1e-12 if design.dtype == np.float64 else 1e-3
    assert design.shape == Z.shape
    coef, shift = numbers(3, n_columns, seed=4), numbers(3, seed=5)
    coef, residual = coef.astype(design.dtype), numbers(N_ROWS, 3, seed=6)
    residual = residual.astype(design.dtype)
    assert_allclose(design.matvec(coef), Z @ coef.T, atol=atol)
    assert_allclose(design.matvec(coef, shift), Z @ coef.T + shift, atol=atol)
    assert_allclose(design.rmatvec(residual), residual.T @ Z, atol=atol)
    weight = rng.uniform(size=N_ROWS).astype(design.dtype)
    rows = np.array([3, 0, 17])
    assert_allclose(design.columns(rows), Z[rows].T, atol=atol)
    assert_allclose(design.take(rows).matvec(coef), Z[rows] @ coef.T, atol=atol)
    joined = design.take(rows).joined(
        [design.take(slice(4)), design.take(slice(9, 11))]
    )
    expected = Z[[*rows, 0, 1, 2, 3, 9, 10]]
    assert_allclose(joined.matvec(coef), expected @ coef.T, atol=atol)
    sandwich = design.sandwich(weight[:, None])[0]
    assert_allclose(sandwich, (Z.T * weight) @ Z, rtol=1e-5, atol=10 * atol)


def test_little_data_stay_little():
    X, standardization = table(0.6), units(True)
    design = standardized(as_design(X), standardization, N_ROWS)
    Z = np.column_stack([(X - standardization[0]) / standardization[1], np.ones(30)])
    columns = np.append(FEW, 8)
    some = restricted(design, columns, N_ROWS)
    assert type(some) is type(design)
    check(some, Z[:, columns])
    # Large data become little ones where few of their columns are.
    wrapped = StandardizedDesign(as_design(X), standardization)
    assert type(restricted(wrapped, columns, N_ROWS)) is type(design)


def test_few_columns_are_copied_and_many_are_not():
    kinds = {}
    for name, density in ("dense", 0.6), ("csr", 0.6), ("sparse", 0.04):
        X = table(density)
        X = X if name == "dense" else sparse.csr_array(X)
        wrapped = StandardizedDesign(as_design(X), units(False))
        for features in FEW, MANY:
            some = restricted(wrapped, features, n_rows=10**7)
            kinds[name, len(features)] = type(some._design).__name__
    assert kinds["dense", 3] == kinds["csr", 3] == "DenseDesign"
    assert kinds["sparse", 3] == "CSRDesign"
    assert {kinds[name, 6] for name in ("dense", "csr", "sparse")} == {
        SelectedColumns.__name__
    }


def test_rows_with_few_and_many_numbers_are_joined():
    """Some columns are dense in one block, and sparse in another."""
    X, columns = np.vstack([table(0.04), table(0.6)]), FEW
    halves = [sparse.csr_array(X[:N_ROWS]), sparse.csr_array(X[N_ROWS:])]
    few, many = (
        restricted(StandardizedDesign(as_design(half), units(False)), columns, 10**7)
        for half in halves
    )
    assert type(few._design) is not type(many._design)
    Z = X[:, columns] / units(False).scale[columns]
    assert_allclose(few.joined([many]).columns(slice(None)), Z.T)
    expected = np.vstack([Z[N_ROWS:], Z[:N_ROWS]])
    assert_allclose(many.joined([few]).columns(slice(None)), expected.T)


def test_arrays_of_other_libraries():
    xp = pytest.importorskip("array_api_strict")
    X, standardization = table(0.6), units(True)
    design = StandardizedDesign(as_design(xp.asarray(X)), standardization)
    columns = np.append(FEW, 8)
    some = restricted(design, columns, N_ROWS)
    Z = np.column_stack([(X - standardization[0]) / standardization[1], np.ones(30)])
    coef, residual = numbers(3, 4, seed=4), numbers(N_ROWS, 3, seed=6)
    raw = np.asarray(some.matvec(coef))
    assert_allclose(raw, Z[:, columns] @ coef.T, atol=1e-12)
    product = np.asarray(some.rmatvec(xp.asarray(residual)))
    assert_allclose(product, residual.T @ Z[:, columns], atol=1e-12)
    rows = np.array([3, 0, 17])
    assert_allclose(np.asarray(some.columns(rows)), Z[rows][:, columns].T, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("container", ["csr", "csr single"])
def test_gram_matrices_of_sparse_columns(container, fit_intercept):
    X, standardization = table(0.04), units(fit_intercept)
    mean, scale, _ = standardization
    Z, columns = (X - mean) / scale, np.array([0, 2, 3, 7])
    if fit_intercept:
        Z, columns = np.column_stack([Z, np.ones(N_ROWS)]), np.append(columns, 8)
    whole = StandardizedDesign(as_design(CONTAINERS[container](X)), standardization)
    factors = np.where(table(0.7)[:, :3] == 0, 0, numbers(N_ROWS, 3, seed=5))
    for features in columns, np.arange(Z.shape[1]), columns[:1], columns[-1:]:
        outputs = np.repeat([0, 2, 1], len(features))
        features = np.tile(features, 3)
        scaled = factors[:, outputs] * Z[:, features]
        expected = scaled.T @ scaled
        gram = whole.gram(features, factors, outputs)
        assert_allclose(gram, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("container", ["C", "csr"])
def test_rows_are_sparse_where_few_numbers_are_stored(container):
    for share in (0.04, 0.6):
        design = as_design(CONTAINERS[container](table(share)))
        is_sparse = container == "csr" and share == 0.04
        for each in (design, StandardizedDesign(design, units(True))):
            assert each.is_sparse(0.1) is is_sparse
        if container == "C":
            gram = each.gram(np.arange(3), np.ones((N_ROWS, 1)), np.zeros(3, int))
            assert gram is None
