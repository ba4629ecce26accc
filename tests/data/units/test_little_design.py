"""The design of little data against one that is not written out."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.data import (
    DenseDesign,
    LittleDesign,
    Standardization,
    StandardizedDesign,
    as_design,
    standardized,
)


def designs(n_rows, n_features, container=np.asarray):
    """Little and dense designs of the same standardised columns, and these."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, n_features)) * 10.0 ** rng.uniform(-3, 3, n_features)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    units = Standardization.of(mean, deviation, True, 1e-3, X.dtype)
    little = standardized(as_design(container(X)), units, n_rows)
    Z = np.column_stack([(X - units.mean) / units.scale, np.ones(n_rows)])
    return little, DenseDesign(Z), Z


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(1, 1), (5, 12), (60, 4)])
def test_products_are_those_of_the_standardised_columns(container, shape):
    little, dense, Z = designs(*shape, container)
    assert type(little) is LittleDesign
    assert (little.shape, little.dtype) == (dense.shape, dense.dtype)
    assert little.n_stored == dense.n_stored
    rng = np.random.default_rng(0)
    close = {"rtol": 1e-10, "atol": 1e-11}
    for n_outputs in (1, 3, 9):
        coef, shift = (
            rng.normal(size=(n_outputs, Z.shape[1])),
            rng.normal(size=n_outputs),
        )
        for given in (coef, np.asfortranarray(coef)):
            assert_allclose(little.matvec(given), dense.matvec(given), **close)
        assert_allclose(little.matvec(coef, shift), dense.matvec(coef, shift), **close)
        residual = rng.normal(size=(len(Z), n_outputs))
        for given in (residual, np.asfortranarray(residual)):
            assert_allclose(little.rmatvec(given), dense.rmatvec(given), **close)
        for weights in (residual, np.abs(residual), 0 * residual):
            sandwich, expected = little.sandwich(weights), dense.sandwich(weights)
            assert sandwich.shape == (n_outputs, Z.shape[1], Z.shape[1])
            assert_allclose(sandwich, expected, **close)
    rows = np.array([0, len(Z) - 1, 0])
    assert_allclose(little.columns(rows), Z[rows].T, **close)
    taken = little.take(rows)
    assert type(taken) is LittleDesign
    coef = rng.normal(size=(2, Z.shape[1]))
    assert_allclose(taken.matvec(coef), Z[rows] @ coef.T, **close)


def test_results_are_new_arrays():
    little, _, _ = designs(20, 3)
    coef, residual = np.ones((3, 4)), np.ones((20, 3))
    for product, given in (
        (little.matvec, coef),
        (little.rmatvec, residual),
        (little.sandwich, residual),
    ):
        first = product(given)
        kept = first.copy()
        first += 1
        assert_array_equal(product(given), kept)
        assert_array_equal(given, 1)


def test_single_precision_and_large_data_are_not_written_out():
    units = Standardization(np.zeros(3), np.ones(3), False)
    X = np.ones((10, 3))
    assert type(standardized(as_design(X), units, 10)) is LittleDesign
    for design, n_rows in ((as_design(X.astype("f4")), 10), (as_design(X), 10**6)):
        assert type(standardized(design, units, n_rows)) is StandardizedDesign


def test_products_of_pairs_of_columns_do_not_fill_the_memory():
    """The products of all rows would take 165 MB, and the data take 2 MB."""
    little = LittleDesign(np.random.default_rng(0).normal(size=(160, 1600)))
    weights = np.random.default_rng(1).random((1600, 54))
    tracemalloc.start()
    try:
        sandwich = little.sandwich(weights)
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()
    Z = little.columns(slice(None))
    assert_allclose(sandwich[7], (Z * weights[:, 7]) @ Z.T, rtol=1e-9, atol=1e-9)
