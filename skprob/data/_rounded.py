"""Rows in a NumPy array of float64 whose products are in single precision."""

import numpy as np

from ._dense import DenseDesign


class RoundedDesign(DenseDesign):
    """Rows in an array of float64, whose products are in single precision.

    Rows are rounded for each product, so that no copy of all rows is stored. With many
    outputs rounding takes little time compared with the products.
    """

    def __init__(self, X):
        super().__init__(X)
        self.dtype = np.dtype(np.float32)

    def matvec(self, coef, shift=None):
        return DenseDesign(self.host_X.astype(np.float32)).matvec(coef, shift)

    def rmatvec(self, residual):
        return residual.T @ self.host_X.astype(np.float32)

    def take(self, rows):
        return RoundedDesign(self.host_X[rows])

    def joined(self, others):
        return super().joined(others).in_single_precision()
