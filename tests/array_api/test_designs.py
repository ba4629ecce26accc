"""Rows in arrays of other libraries, without an estimator."""

import numpy as np
from numpy.testing import assert_allclose

from skprob._utils.arrays import column_sums
from skprob.data import as_design


def test_sums_of_single_precision_are_computed_in_double_precision(library):
    """The mean of a column is corrected by that of the differences from it."""
    rng = np.random.default_rng(0)
    X = (1000 + rng.normal(size=(20_000, 2))).astype(np.float32)
    given, exact = library.array(X), X.astype(np.float64)
    assert library.holds(given, "float32")
    assert_allclose(column_sums(given), exact.sum(axis=0), rtol=1e-12)
    weight = library.array(np.ones(len(X), np.float32))
    total, mean, deviation = as_design(given).moments(weight)
    assert total == len(X)
    assert_allclose(mean, exact.mean(axis=0), rtol=1e-9)
    assert_allclose(deviation, exact.std(axis=0), rtol=1e-4)
