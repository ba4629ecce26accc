"""Products of standardised sparse rows in single precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.data import Standardization, StandardizedDesign, as_design


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_are_those_of_arrays(fit_intercept):
    rng = np.random.default_rng(0)
    X = sparse.random_array((40, 30), density=0.2, rng=rng, format="csr")
    scale = 2.0 ** rng.uniform(-9, 9, size=30)
    units = Standardization(np.zeros(30), scale, fit_intercept)
    rows = StandardizedDesign(as_design(X), units).scaled_rows
    # Without the shift the column of the constant is zero.
    array = np.zeros((40, units.size))
    array[:, :30] = X.toarray() / scale
    coef, residual = rng.normal(size=(units.size, 3)), rng.normal(size=(40, 3))
    coef, residual = coef.astype("f4"), residual.astype("f4")
    for shift in np.zeros(units.size, "f4"), rng.normal(size=units.size).astype("f4"):
        raw, product = rows.matvec(coef, shift), rows.rmatvec(residual, shift)
        assert raw.dtype == product.dtype == np.float32
        largest = np.abs(array).max()
        atol = 1e-5 * largest
        assert_allclose(raw, (array + shift) @ coef, rtol=1e-5, atol=atol)
        assert_allclose(product, (array + shift).T @ residual, rtol=1e-5, atol=atol)
