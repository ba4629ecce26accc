"""Centred and scaled columns, without a copy of the data."""

from functools import cached_property

import numpy as np

from ..._utils.arrays import column_sums
from .._csr import CSRDesign
from .._dense import DenseDesign
from .._design import DesignMatrix
from ._scaled_rows import ScaledRows
from ._single_design import SingleDesign


class StandardizedDesign(DesignMatrix):
    """The columns (x - mean) / scale of a design matrix, then a constant of one.

    Products are computed from products with the design itself, so nothing is copied and
    a sparse matrix remains sparse.

    Parameters
    ----------
    design : DesignMatrix
    units : Standardization

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import Standardization, StandardizedDesign, as_design
    >>> X = np.array([[10.0], [30.0]])
    >>> units = Standardization(np.array([20.0]), np.array([10.0]), True)
    >>> design = StandardizedDesign(as_design(X), units)
    >>> design.columns(slice(None)).T
    array([[-1.,  1.],
           [ 1.,  1.]])
    """

    def __init__(self, design, units):
        self._design, self._units = design, units
        self.shape = design.shape[0], units.size
        self.dtype, self.n_stored = design.dtype, design.n_stored

    def matvec(self, coef, shift=None):
        return self._design.matvec(*self._to_raw(coef, shift))

    def _to_raw(self, coef, shift=None):
        """Coefficients and shift of the design itself."""
        mean, scale, fit_intercept = self._units
        raw = np.empty((len(coef), len(mean)), coef.dtype, order="F")
        np.divide(coef[:, : len(mean)], scale, out=raw, casting="same_kind")
        if fit_intercept:
            offset = coef[:, -1] - raw @ mean.astype(raw.dtype, copy=False)
            shift = offset if shift is None else offset + shift
        return raw, shift

    def rmatvec(self, residual):
        raw = self._design.rmatvec(residual)
        return self._from_raw(raw, lambda: column_sums(residual))

    def class_sums(self, class_numbers, weight, n_classes):
        raw = self._design.class_sums(class_numbers, weight, n_classes)
        return self._from_raw(
            raw, lambda: np.bincount(class_numbers, weight, minlength=n_classes)
        )

    def _from_raw(self, raw, totals):
        """The product of a residual, from that with the design itself.

        ``totals()`` are the sums of the residual over the rows.
        """
        mean, scale, fit_intercept = self._units
        # In C order, as parameters are: sums of arrays in both orders take much longer.
        gradient = np.empty((len(raw), self.shape[1]))
        coef = gradient[:, : len(mean)]
        # Divide first, so that large features do not overflow.
        np.divide(raw, scale, out=coef)
        if fit_intercept:
            total = totals()
            coef -= total[:, None] * (mean / scale)
            gradient[:, -1] = total
        return gradient

    def power_sums(self, weights):
        if not isinstance(self._design, CSRDesign):
            return super().power_sums(weights)
        mean, scale, fit_intercept = self._units
        raw_first, raw_second = self._design.power_sums(weights)
        total = column_sums(weights)
        first, second = (np.empty((len(total), self.shape[1]), order="F") for _ in "12")
        features, center = slice(len(mean)), total[:, None] * mean
        first[:, features] = (raw_first - center) / scale
        # Digits cancel where the mean is large: rounding could make squares negative.
        squares = (raw_second - mean * (2 * raw_first - center)) / scale**2
        second[:, features] = np.maximum(squares, 0)
        if fit_intercept:
            first[:, -1] = second[:, -1] = total
        return first, second

    def gram(self, columns, factors, outputs):
        if not isinstance(self._design, CSRDesign):
            return None
        mean, scale, fit_intercept = self._units
        is_feature = columns < len(mean)
        features = columns[is_feature]
        Y = self._design.scaled_columns(features, factors, outputs[is_feature])
        scale, center = scale[features], mean[features]
        gram = (Y.T @ Y).toarray()
        gram /= scale[:, None]
        gram /= scale
        if not fit_intercept:
            return gram
        # The numbers v of centred columns and of the constant are u - shift * factor.
        shift, whole = np.full(len(columns), -1.0), np.zeros((len(columns),) * 2)
        shift[is_feature] = center / scale
        whole[np.ix_(is_feature, is_feature)] = gram
        along = np.zeros((len(columns), factors.shape[1]))
        along[is_feature] = (Y.T @ factors) / scale[:, None]
        of_factors = (factors.T @ factors).take(outputs, axis=0)
        along -= shift[:, None] / 2 * of_factors
        along = along.take(outputs, axis=1) * shift
        whole -= along
        whole -= along.T
        return whole

    @cached_property
    def single(self):
        if type(self._design) is not DenseDesign or self.dtype != np.float64:
            return None
        with np.errstate(over="ignore"):
            columns = self._units.transform(self._design.host_X.T, np.float32)
        return SingleDesign.of(columns)

    @cached_property
    def scaled_rows(self):
        """The rows x / scale of a CSR matrix, in single precision: `ScaledRows`."""
        return ScaledRows(self._design.divided(self._units.scale, self.shape[1]))

    @property
    def largest(self):
        return self._design.largest

    def in_single_precision(self):
        return StandardizedDesign(self._design.in_single_precision(), self._units)

    def take(self, rows):
        return type(self)(self._design.take(rows), self._units)

    def joined(self, others):
        whole = self._design.joined([other._design for other in others])
        return type(self)(whole, self._units)

    def sandwich_of(self, columns, n_columns, weights):
        return self._design.sandwich_of(columns, n_columns, weights)

    def columns(self, rows):
        return self._units.transform(self._design.columns(rows))
