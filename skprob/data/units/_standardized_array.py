"""Centred and scaled columns of an array of another library, on its device."""

import numpy as np

from ..._utils.arrays import (
    asarray_like,
    concat,
    namespace,
    to_numpy,
    widened,
    zeros,
)
from ._standardized_design import StandardizedDesign


class StandardizedArray(StandardizedDesign):
    """The standardised columns of an ``ArrayDesign``, then a constant of one.

    Coefficients are divided by the scales on the device, so that a product copies only
    one array to the device, or back.

    Parameters
    ----------
    design : ArrayDesign
    units : Standardization
    """

    def __init__(self, design, units):
        super().__init__(design, units)
        mean, scale, _ = units
        self._mean, self._scale = design.wide(mean), design.wide(scale)
        self._center = design.wide(mean / scale)

    def matvec(self, coef, shift=None):
        coef = self._design.wide(coef)
        raw = coef[:, : self._mean.shape[0]] / self._scale
        if self._units.fit_intercept:
            offset = coef[:, -1] - raw @ self._mean
            shift = offset if shift is None else offset + asarray_like(shift, offset)
        return self._design.matvec(raw, shift)

    def rmatvec(self, residual):
        product = widened(self._design.rmatvec_on_device(residual))
        # Divide first, so that large features do not overflow.
        product = product / self._scale
        if self._units.fit_intercept:
            xp = namespace(product)
            total = xp.sum(asarray_like(residual, product), axis=0, dtype=product.dtype)
            product -= total[:, None] * self._center
            product = concat([product, total[:, None]], axis=1)
        return to_numpy(product).astype(np.float64)

    def columns(self, rows):
        """Some rows, transposed, in the library of X."""
        columns, (mean, scale, fit_intercept) = self._design.columns(rows), self._units
        mean, scale = asarray_like(mean, columns), asarray_like(scale, columns)
        z = (columns - mean[:, None]) / scale[:, None]
        constant = zeros((int(fit_intercept), columns.shape[1]), columns) + 1.0
        return concat([z, constant])
