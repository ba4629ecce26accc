"""Means and scales of the features, and designs with standardised columns."""

from typing import NamedTuple

import numpy as np

from ..._utils.single_precision import keeps_digits
from ..._utils.tuning import Tuning
from .._array_api import ArrayDesign
from ._little_design import LittleDesign
from ._standardized_array import StandardizedArray
from ._standardized_design import StandardizedDesign


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
        """The standardisation of features with these weighted moments.

        In its units the second derivative of the objective in each coefficient is about
        the curvature of the loss: the scale is the root of the variance plus `ridge`,
        the strength of the penalty relative to this curvature. `dtype` is that of X.
        """
        if not fit_intercept:
            # Without an intercept the curvature is the raw second moment.
            deviation, mean = np.hypot(deviation, mean), np.zeros_like(mean)
        spread = np.hypot(deviation, np.sqrt(ridge))
        least = np.maximum(rounding_error(mean, dtype), least_spread(dtype))
        scale = np.where(spread > least, spread, np.maximum(np.abs(mean), 1.0))
        return cls(mean, scale, fit_intercept)

    @staticmethod
    def tiny(mean, deviation, fit_intercept, dtype):
        """Numbers of features that are not constant but vary too little.

        The arguments are those of :meth:`of`.
        """
        if not fit_intercept:
            deviation, mean = np.hypot(deviation, mean), np.zeros_like(mean)
        is_constant = deviation <= rounding_error(mean, dtype)
        return np.flatnonzero(~is_constant & (deviation <= least_spread(dtype)))

    @property
    def size(self):
        """Number of parameters for each raw prediction."""
        return len(self.mean) + self.fit_intercept

    def may_be_copied(self, n_rows, tuning):
        """Whether this number of standardised rows is little data, to be copied."""
        return n_rows * self.size <= tuning.most_standardised

    @property
    def suits_single_precision(self):
        """Whether rows may be rounded before they are centred and scaled."""
        return keeps_digits(self.mean, self.scale)

    def restricted(self, features):
        """The standardisation of some features alone."""
        mean, scale = self.mean[features], self.scale[features]
        return Standardization(mean, scale, self.fit_intercept)

    def columns_of(self, features):
        """Numbers of the columns of some features, and of the constant."""
        constant = range(len(self.mean), self.size)
        return np.append(features, constant).astype(np.intp)

    def transform(self, columns, dtype=np.float64):
        """Standardised columns (size, n_rows) of raw ones (n_features, n_rows)."""
        z = np.ones((self.size, columns.shape[1]), dtype)
        features = z[: len(self.mean)]
        np.subtract(columns, self.mean[:, None], out=features, casting="same_kind")
        features /= self.scale[:, None]
        return z

    def standardized_moments(self, mean, deviation):
        """Mean and deviation of standardised columns, from those of the features."""
        mean, deviation = (mean - self.mean) / self.scale, deviation / self.scale
        if self.fit_intercept:
            mean, deviation = np.append(mean, 1.0), np.append(deviation, 0.0)
        return mean, deviation

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


def least_spread(dtype):
    """Smallest deviation by which a feature is divided.

    Division by a smaller one would overflow the coefficients in the dtype of X, or
    their squares in float64.
    """
    limits = np.finfo(dtype)
    return max(limits.tiny / limits.eps, np.sqrt(np.finfo(np.float64).tiny))


def rounding_error(mean, dtype):
    """Largest deviation of constant features with these means."""
    return 10 * np.finfo(dtype).eps * np.abs(mean)


def standardized(design, units, n_rows, tuning=Tuning()):
    """The design of a block with its columns standardised.

    All blocks together have `n_rows` rows. If these are little data, they are copied.
    """
    if isinstance(design, ArrayDesign):
        return StandardizedArray(design, units)
    if not units.may_be_copied(n_rows, tuning) or design.dtype != np.float64:
        return StandardizedDesign(design, units)
    return LittleDesign(units.transform(design.columns(slice(None))), tuning)
