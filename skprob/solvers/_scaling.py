"""Coordinates in which badly scaled features do no harm."""

import numpy as np


class OriginalCoordinates:
    """The objective's own parameters."""

    def to_original(self, parameters):
        """The same parameters."""
        return parameters

    gradient = to_original


class Standardization:
    """The parameters of centred and scaled features, for the same objective.

    The model W x + b is W' (x - mean)/scale + b' with W' = W scale and b' = b + W
    mean. The data are not touched: parameters are carried from the new coordinates
    to the original ones before the objective sees them, and its gradient back, so
    that the penalty is the original one and X may be sparse.

    Parameters
    ----------
    objective : object
        With ``feature_moments()``, ``coef_shape``, ``l2``, ``dtype``,
        ``fit_intercept``, ``pack`` and ``unpack``.
    """

    def __init__(self, objective):
        self._objective = objective
        mean, deviation = objective.feature_moments()
        if not objective.fit_intercept:
            # Nothing absorbs a shift, and the raw second moment is the curvature.
            deviation = np.hypot(deviation, mean)
            mean = np.zeros_like(mean)
        # The Hessian's diagonal is about (curvature × variance + l2): curvature 1/4
        # for one output, 1/K for K of them.
        n_outputs = objective.coef_shape[0]
        curvature = 1 / max(n_outputs, 4)
        spread = np.hypot(deviation, np.sqrt(objective.l2 / curvature))
        # A constant feature has nothing but rounding for a spread; where the spread
        # is next to nothing, so large a coefficient cannot be squared.
        limits = np.finfo(objective.dtype)
        rounding = 10 * limits.eps * np.abs(mean)
        usable = spread > np.maximum(rounding, np.sqrt(limits.tiny))
        self.scale = np.where(usable, spread, np.maximum(np.abs(mean), 1.0))
        self.mean = mean
        self._shift = mean / self.scale

    def to_original(self, parameters):
        """Original parameters of parameters in the new coordinates."""
        coef, intercept = self._objective.unpack(parameters)
        coef = coef / self.scale
        return self._objective.pack(coef, intercept - coef @ self.mean)

    def gradient(self, gradient):
        """Gradient in the new coordinates, from the original gradient."""
        coef, intercept = self._objective.unpack(gradient)
        # Divided first, so that large features do not overflow.
        coef = coef / self.scale
        if self._objective.fit_intercept:
            coef -= intercept[:, None] * self._shift
        return self._objective.pack(coef, intercept)


def coordinates_of(objective):
    """Coordinates to minimise an objective in: standardised where it has moments."""
    if hasattr(objective, "feature_moments"):
        return Standardization(objective)
    return OriginalCoordinates()
