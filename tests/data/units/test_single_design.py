"""Copies of standardised rows in single precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob._utils.tuning import Tuning
from skprob.data import Standardization, as_design, standardized


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
    """The last row has no weight, so that it does not change the standardisation."""
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
