"""Coordinates in which badly scaled features do no harm."""

import numpy as np


class OriginalCoordinates:
    """The objective's own parameters."""

    def to_original(self, parameters):
        """The same parameters."""
        return parameters

    gradient = to_original


class _Scaling:
    """The parameters of centred and scaled features, for the same objective.

    The model W x + b is W' (x - mean)/scale + b'/unit with W' = W scale and b' = unit
    (b + W mean). The data are not touched: parameters are carried from the new
    coordinates to the original ones before the objective sees them, and its gradient
    back, so that the penalty is the original one and X may be sparse.

    Parameters
    ----------
    objective : object
        With ``coef_shape``, ``l2``, ``dtype``, ``fit_intercept`` and ``unpack``.
    moments : tuple of ndarray of shape (n_features,)
        Mean and deviation of the features.
    curvature : float
        Of the loss in an output, summed over the rows.
    """

    _unit = 1.0

    def __init__(self, objective, moments, curvature):
        self._objective = objective
        mean, deviation = moments
        if not objective.fit_intercept:
            # Nothing absorbs a shift, and the raw second moment is the curvature.
            deviation = np.hypot(deviation, mean)
            mean = np.zeros_like(mean)
        # The Hessian's diagonal is about (curvature × variance + l2).
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
        original, coef, intercept = self._unscaled(parameters)
        intercept -= coef @ self.mean
        return original

    def gradient(self, gradient):
        """Gradient in the new coordinates, from the original gradient."""
        # Divided first, so that large features do not overflow.
        new, coef, intercept = self._unscaled(gradient)
        if self._objective.fit_intercept:
            coef -= intercept[:, None] * self._shift
        return new

    def _unscaled(self, parameters):
        """New parameters in other units, and their two parts, which are views."""
        new = np.empty_like(parameters)
        parts, new_parts = map(self._objective.unpack, (parameters, new))
        # In one pass: with many features and classes these are long.
        for part, new_part, unit in zip(parts, new_parts, (self.scale, 1), strict=True):
            np.divide(part, self._unit * unit, out=new_part)
        return new, *new_parts


class Standardization(_Scaling):
    """The parameters of features of mean zero and, but for the penalty, deviation one.

    Parameters
    ----------
    objective : object
        With ``feature_moments()``, ``coef_shape``, ``l2``, ``dtype``,
        ``fit_intercept`` and ``unpack``.
    """

    def __init__(self, objective):
        curvature = typical_curvature(objective)
        super().__init__(objective, objective.feature_moments(), curvature)


class CurvatureScaling(_Scaling):
    """Coordinates in which the Hessian's diagonal is about one.

    The same for all outputs of the model: rows count as much as they bend the loss,
    on average over the outputs.

    Parameters
    ----------
    objective : object
        As for :class:`Standardization`.
    moments : tuple of ndarray of shape (n_features,)
        Of the rows, weighted by their curvature.
    curvature : float
    """

    def __init__(self, objective, moments, curvature):
        super().__init__(objective, moments, curvature)
        self._unit = np.sqrt(curvature)


def typical_curvature(objective):
    """Curvature of a loss in an output: 1/4 for one output, 1/K for K of them."""
    return 1 / max(objective.coef_shape[0], 4)


def coordinates_of(objective):
    """Coordinates to minimise an objective in: standardised where it has moments."""
    if hasattr(objective, "feature_moments"):
        return Standardization(objective)
    return OriginalCoordinates()
