"""Base classes of the noises with a shape parameter."""

from abc import abstractmethod
from dataclasses import fields

import numpy as np

from ...._utils.checks import is_number
from ._base import Noise

# Relative step in the coordinate of the shape, for differences of fourth order.
_STEP = 2e-3


class ShapedNoise(Noise):
    """A noise with one parameter for its shape.

    The parameter is the only field of the class. A fit searches in a coordinate, a
    function of the parameter in which the noise changes evenly.
    """

    #: Least and largest value of the parameter.
    bounds: tuple

    @classmethod
    @abstractmethod
    def of_coordinate(cls, value):
        """The noise at a value of the coordinate, without a check."""

    @property
    @abstractmethod
    def coordinate(self):
        """The coordinate of the shape."""

    @property
    @abstractmethod
    def coordinate_slope(self):
        """The derivative of the coordinate in the parameter."""

    @classmethod
    def shape(cls):
        """The name of the parameter."""
        (field,) = fields(cls)
        return field.name

    @classmethod
    def coordinate_bounds(cls):
        """Lower and upper bound of the coordinate."""
        return sorted(cls(value).coordinate for value in cls.bounds)

    def within_bounds(self):
        """The nearest noise whose parameter is allowed."""
        low, high = self.bounds
        return type(self)(min(max(getattr(self, self.shape()), low), high))

    def check(self):
        """Raise if the parameter is not allowed."""
        name, (low, high) = self.shape(), self.bounds
        value = getattr(self, name)
        if not (is_number(value) and low <= value <= high):
            raise ValueError(
                f"{name} of {type(self).__name__} must be a number from {low:g} to "
                f"{high:g}; got {value!r}."
            )

    @abstractmethod
    def shape_slopes(self, x):
        """Derivatives, in the coordinate, of logpdf and logcdf.

        Parameters
        ----------
        x : ndarray

        Returns
        -------
        of_logpdf, of_logcdf : ndarray
        """

    @abstractmethod
    def rvs(self, size=None, random_state=None):
        """Draw from the noise.

        Parameters
        ----------
        size : int, tuple of int or None, default=None
        random_state : int, RandomState instance or None, default=None
            Seed or generator of the draws. None draws other numbers in each call.

        Returns
        -------
        draws : float or ndarray of shape `size`
        """


class SymmetricNoise(ShapedNoise):
    """A noise with a shape that is symmetric about zero."""

    @abstractmethod
    def _scaled(self, x):
        """The lower tail and the density, without a common factor that may underflow.

        Returns
        -------
        log_unit, tail : ndarray
        density : ndarray or float
            P[noise < -abs(x)] and the density at x, divided by exp(log_unit).
        """

    def cdf_and_pdf(self, x):
        log_unit, cdf, density = self._scaled(x)
        unit = np.exp(log_unit, out=log_unit)
        cdf *= unit
        density = density * unit
        # 1 - cdf where x is positive.
        np.subtract(x > 0, cdf, out=cdf)
        return np.abs(cdf, out=cdf), density

    def logcdf(self, x):
        return self._logs(x)[1]

    def logpdf(self, x):
        log_unit, _, density = self._scaled(x)
        return log_unit + np.log(density)

    def _logs(self, x):
        """Pair of logpdf and logcdf."""
        log_unit, tail, density = self._scaled(x)
        upper = np.log1p(-tail * np.exp(log_unit))
        logcdf = np.where(x < 0, log_unit + np.log(tail), upper)
        return log_unit + np.log(density), logcdf

    def log_hazard(self, x, logcdf):
        # Below zero the common factor cancels and is left out.
        log_unit, tail, density = self._scaled(x)
        logs = np.log(density)
        return np.where(x < 0, logs - np.log(tail), log_unit + logs - logcdf)

    def shape_slopes(self, x):
        centre = self.coordinate
        step = _STEP * max(abs(centre), 0.1)
        total = np.zeros((2, *np.shape(x)))
        with np.errstate(all="ignore"):
            for n_steps, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
                noise = self.of_coordinate(centre + n_steps * step)
                total += np.multiply(weight, noise._logs(x))
        total /= 12 * step
        return np.where(np.isfinite(total), total, 0)
