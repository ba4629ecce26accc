"""Standardised sparse rows in single precision, for coefficients column by column."""

import numpy as np
from scipy.linalg.blas import sger


class ScaledRows:
    """Products with the sum of CSR rows in single precision and one shift of all rows.

    Coefficients are of shape (n_columns, M), the order in which SciPy multiplies sparse
    matrices, so that no array is transposed.

    Parameters
    ----------
    X : CSR array of float32 of shape (n_rows, n_columns)
    """

    def __init__(self, X):
        self._X, self._transposed = X, X.T

    def matvec(self, coef, shift):
        """Raw predictions (n_rows, M) of rows x + shift; a new array."""
        raw = self._X @ coef
        raw += shift @ coef
        return raw

    def rmatvec(self, residual, shift):
        """Products (n_columns, M) of rows x + shift with a residual (n_rows, M)."""
        product = self._transposed @ residual
        total = np.ones(len(residual), np.float32) @ residual
        # A view in Fortran order, to which BLAS adds in place.
        return sger(1.0, total, shift, a=product.T, overwrite_a=True).T
