"""The design of little data against one that is not written out."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob._utils.tuning import Tuning
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
    weight = rng.random(len(Z))
    for one, other in zip(little.moments(weight), dense.moments(weight), strict=True):
        assert_allclose(one, other, **close)
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
    little = LittleDesign(np.random.default_rng(0).normal(size=(1600, 160)))
    weights = np.random.default_rng(1).random((1600, 54))
    tracemalloc.start()
    try:
        sandwich = little.sandwich(weights)
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()
    Z = little.columns(slice(None))
    assert_allclose(sandwich[7], (Z * weights[:, 7]) @ Z.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("most_standardised", [0, 10**6])
@pytest.mark.parametrize("shape", [(40, 3), (300, 60)])
def test_a_copy_in_single_precision_has_its_rounding_errors_and_no_others(
    shape, most_standardised
):
    """A design that is written out has such a copy, and one that is not."""
    rng = np.random.default_rng(0)
    n_rows, n_features = shape
    # Where means are large, digits would cancel if rows were rounded first.
    X = 1e6 + rng.normal(size=shape) * 10.0 ** rng.uniform(-1, 1, n_features)
    units = Standardization.of(X.mean(axis=0), X.std(axis=0), True, 1e-3, X.dtype)
    tuning = Tuning(most_standardised=most_standardised)
    single = standardized(as_design(X), units, n_rows, tuning).single
    Z = np.column_stack([(X - units.mean) / units.scale, np.ones(n_rows)])
    assert (single.shape, single.dtype) == (Z.shape, np.float32)
    coef = rng.normal(size=(4, Z.shape[1]))
    residual = rng.normal(size=(n_rows, 4))
    for result, expected, terms in (
        (single.matvec(coef), Z @ coef.T, np.abs(Z) @ np.abs(coef.T)),
        (
            single.rmatvec(residual.astype("f4")),
            residual.T @ Z,
            np.abs(residual.T) @ np.abs(Z),
        ),
        (
            single.sandwich(residual**2)[1],
            (Z.T * residual[:, 1] ** 2) @ Z,
            np.abs(Z.T * residual[:, 1] ** 2) @ np.abs(Z),
        ),
    ):
        assert (np.abs(result - expected) <= 1e-6 * terms).all()
        assert np.abs(result - expected).max() > 1e-12
    assert single.rmatvec(residual.astype("f4")).dtype == np.float64
    some = np.array([5, 1])
    assert_allclose(single.take(some).columns(slice(None)), Z[some].T, rtol=1e-4)


def test_there_is_no_copy_in_single_precision_where_it_would_overflow():
    """As of a row without weight, which standardisation does not see."""
    X = np.array([[1.0], [2.0], [1e300]])
    units = Standardization(np.array([1.5]), np.array([0.5]), True)
    for most in (0, 100):
        tuning = Tuning(most_standardised=most)
        assert standardized(as_design(X), units, 3, tuning).single is None
        assert standardized(as_design(X[:2]), units, 2, tuning).single is not None


def test_float32_and_sparse_rows_have_no_copy_in_single_precision():
    units = Standardization(np.zeros(2), np.ones(2), True)
    for X in (np.eye(2, dtype="f4"), sparse.csr_array(np.eye(2))):
        design = standardized(as_design(X), units, 10**9)
        assert design.single is None
