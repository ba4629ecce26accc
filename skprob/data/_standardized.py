"""Centred and scaled columns, without a copy of the data."""

from typing import NamedTuple

import numpy as np

from .._utils.arrays import beside, concat, zeros
from ._array_api import ArrayDesign
from ._csr import CSRDesign
from ._design import CACHE_SIZE, DesignMatrix
from ._little import LittleDesign


class Standardization(NamedTuple):
    """Means and scales of the features, and whether a constant column comes last.

    Only this class centres and scales. A model W x + b is W' z + b' for z = (x - mean)
    / scale, with W' = W scale and b' = b + W mean.
    """

    mean: np.ndarray  #: Zero without an intercept.
    scale: np.ndarray
    fit_intercept: bool

    @classmethod
    def of(cls, mean, deviation, fit_intercept, ridge, dtype):
        """Scales in which the curvature of objective and penalty is about one.

        Mean and deviation are the features' weighted moments, `ridge` is the strength
        of the penalty relative to the curvature of the loss, and `dtype` that of X.
        """
        if not fit_intercept:
            # Without an intercept the curvature is the raw second moment.
            deviation, mean = np.hypot(deviation, mean), np.zeros_like(mean)
        spread = np.hypot(deviation, np.sqrt(ridge))
        # The deviation of a constant feature is a rounding error. With tiny deviations
        # coefficients overflow in the dtype of X, or their squares in float64.
        limits = np.finfo(dtype)
        tiny = max(limits.tiny / limits.eps, np.sqrt(np.finfo(np.float64).tiny))
        least = np.maximum(10 * limits.eps * np.abs(mean), tiny)
        scale = np.where(spread > least, spread, np.maximum(np.abs(mean), 1.0))
        return cls(mean, scale, fit_intercept)

    @property
    def size(self):
        """Number of parameters for each raw prediction."""
        return len(self.mean) + self.fit_intercept

    def restricted(self, features):
        """The standardisation of some features alone."""
        mean, scale = self.mean[features], self.scale[features]
        return Standardization(mean, scale, self.fit_intercept)

    def columns_of(self, features):
        """Numbers of the columns of some features, and of the constant."""
        constant = range(len(self.mean), self.size)
        return np.append(features, constant).astype(np.intp)

    def standardized(self, columns):
        """Standardised columns (size, n_rows) of raw ones (n_features, n_rows)."""
        mean, scale, fit_intercept = self
        if not isinstance(columns, np.ndarray):
            mean, scale = beside(mean, columns), beside(scale, columns)
            z = (columns - mean[:, None]) / scale[:, None]
            constant = zeros((int(fit_intercept), columns.shape[1]), columns) + 1.0
            return concat([z, constant])
        z = np.ones((self.size, columns.shape[1]))
        features = z[: len(mean)]
        np.subtract(columns, mean[:, None], out=features)
        features /= scale[:, None]
        return z

    def to_model(self, parameters):
        """Coefficients (..., n_features) and intercepts (...) of parameters."""
        coef = parameters[..., : len(self.mean)] / self.scale
        if not self.fit_intercept:
            return coef, np.zeros(parameters.shape[:-1])
        return coef, parameters[..., -1] - coef @ self.mean

    def from_model(self, coef, intercept):
        """Parameters (..., size) of coefficients and intercepts."""
        parameters = np.empty((*coef.shape[:-1], self.size))
        parameters[..., : len(self.mean)] = coef * self.scale
        if self.fit_intercept:
            parameters[..., -1] = intercept + coef @ self.mean
        return parameters


class StandardizedDesign(DesignMatrix):
    """The columns (x - mean) / scale of a design matrix, then a constant of one.

    Products are computed from products with the design itself, so nothing is copied and
    a sparse matrix remains sparse.

    Parameters
    ----------
    design : DesignMatrix
    standardization : Standardization

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

    def __init__(self, design, standardization):
        self._design, self._units = design, standardization
        self.shape = design.shape[0], standardization.size
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
        return self._from_raw(self._design.rmatvec(residual), residual)

    def parts(self, n_outputs):
        return self._design.parts(n_outputs)

    def product_by_parts(self, coef, function, parts):
        raw, shift = self._to_raw(coef)
        product, values = self._design.products_by_parts(raw, shift, function, parts)
        return self._from_raw(product, values)

    def _from_raw(self, raw, residual):
        """The product of a residual, from that with the design itself."""
        mean, scale, fit_intercept = self._units
        order = "C" if raw.flags.c_contiguous else "F"
        gradient = np.empty((len(raw), self.shape[1]), order=order)
        coef = gradient[:, : len(mean)]
        # Divide first, so that large features do not overflow.
        np.divide(raw, scale, out=coef)
        if fit_intercept:
            total = self._design.totals(residual)
            coef -= np.multiply(total[:, None], mean / scale, order=order)
            gradient[:, -1] = total
        return gradient

    def totals(self, residual):
        return self._design.totals(residual)

    def moments(self, weight):
        mean, scale, fit_intercept = self._units
        total, center, deviation = self._design.moments(weight)
        center, deviation = (center - mean) / scale, deviation / scale
        if fit_intercept:
            center, deviation = np.append(center, 1.0), np.append(deviation, 0.0)
        return total, center, deviation

    def moments_of(self, weights):
        if not isinstance(self._design, CSRDesign):
            return super().moments_of(weights)
        mean, scale, fit_intercept = self._units
        raw_first, raw_second = self._design.moments_of(weights)
        total = self._design.totals(weights)
        first, second = (np.empty((len(total), self.shape[1]), order="F") for _ in "12")
        features, center = slice(len(mean)), total[:, None] * mean
        first[:, features] = (raw_first - center) / scale
        # Where the mean is large, digits cancel: squares are not negative.
        squares = (raw_second - mean * (2 * raw_first - center)) / scale**2
        second[:, features] = np.maximum(squares, 0)
        if fit_intercept:
            first[:, -1] = second[:, -1] = total
        return first, second

    def gram(self, columns, weight):
        mean, scale, _ = self._units
        features = columns[columns < len(mean)]
        gram = self._design.gram(features, weight)
        if gram is None:
            return None
        product = self.rmatvec(weight[:, None])[0, columns]
        mean, scale, total = mean[features], scale[features], weight.sum()
        n_features, shift = len(features), mean / scale
        whole = np.empty((len(columns), len(columns)))
        # The products with the centred columns are short of their part of the mean.
        along = np.outer(product[:n_features], shift)
        whole[:n_features, :n_features] = (
            gram / scale[:, None] / scale
            - along
            - along.T
            - total * np.outer(shift, shift)
        )
        if n_features < len(columns):
            whole[-1], whole[:, -1] = product, product
        return whole

    def take(self, rows):
        return StandardizedDesign(self._design.take(rows), self._units)

    @property
    def sandwich_of(self):
        return self._design.sandwich_of

    def columns(self, rows):
        return self._units.standardized(self._design.columns(rows))


def standardized(design, standardization, n_rows):
    """A design of some of `n_rows` rows, in standardised columns.

    If all of them fit the cache, they are copied, which is faster.
    """
    is_large = n_rows * standardization.size > CACHE_SIZE
    if is_large or design.dtype != np.float64 or isinstance(design, ArrayDesign):
        return StandardizedDesign(design, standardization)
    return LittleDesign(standardization.standardized(design.columns(slice(None))).T)
