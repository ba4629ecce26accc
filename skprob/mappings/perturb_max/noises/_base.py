"""The interface of a noise, and a noise made from a distribution object."""

from abc import ABC, abstractmethod

import numpy as np

from ._reach import quantiles

# Probabilities at whose quantiles a distribution object is checked.
_CHECKED = 1e-6, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 1 - 1e-6


class Noise(ABC):
    """A continuous distribution on the real line.

    A noise defines :meth:`logpdf` and :meth:`logcdf`. It may define a faster version of
    :meth:`cdf_and_pdf`. If its density has neither a jump nor a cusp it defines
    :meth:`slope`, which exact second derivatives need. All take and return arrays.
    """

    #: Lower and upper end of the support.
    support = (-np.inf, np.inf)
    #: Expected value; None if it is not finite.
    mean = 0.0
    #: Variance; None if it is not finite.
    variance = None
    #: Smoothness of the density: "analytic" on the support; "piecewise" analytic with
    #: a kink at the median; "cusped", with a power of the distance to the median from
    #: 1 to 3; or "unknown".
    smoothness = "analytic"
    #: Derivative of the log-density, a method; None if that has a jump or a cusp.
    slope = None

    @property
    def has_kink(self):
        """Whether the density has a kink or a cusp at the median."""
        return self.smoothness in ("piecewise", "cusped")

    @abstractmethod
    def logpdf(self, x):
        """Logarithm of the density."""

    @abstractmethod
    def logcdf(self, x):
        """Logarithm of the distribution function Φ."""

    def cdf_and_pdf(self, x):
        """Distribution function and density."""
        return np.exp(self.logcdf(x)), np.exp(self.logpdf(x))

    def log_hazard(self, x, logcdf):
        """Logarithm of the hazard, density / Φ, from the logarithm of Φ."""
        logs = self.logpdf(x)
        np.subtract(logs, logcdf, out=logs, where=logcdf > -np.inf)
        np.copyto(logs, 0, where=logcdf == -np.inf)
        return logs

    def log_hazard_slope(self, x, hazard):
        """Derivative of the logarithm of the hazard, for a noise with a slope."""
        return self.slope(x) - hazard


class Distribution(Noise):
    """A noise from an object with methods ``logpdf`` and ``logcdf``."""

    smoothness = "unknown"

    def __init__(self, distribution):
        for method in ("logpdf", "logcdf"):
            _check_method(distribution, method)
        self._distribution = distribution
        if hasattr(distribution, "support"):
            low, high = distribution.support()
            self.support = float(low), float(high)
        mean = distribution.mean() if hasattr(distribution, "mean") else np.nan
        self.mean = _finite_number(mean)
        variance = distribution.var() if hasattr(distribution, "var") else np.nan
        self.variance = _finite_number(variance)
        self._check_agreement()

    def _check_agreement(self):
        """Raise if the methods are not those of one continuous distribution."""
        noise = self._distribution
        x = quantiles(self, np.array(_CHECKED))
        step = 1e-3 * np.minimum(x[1:-1] - x[:-2], x[2:] - x[1:-1])
        with np.errstate(all="ignore"):
            cdf, density = np.exp(self.logcdf(x)), np.exp(noise.logpdf(x))
            ahead, behind = (self.logcdf(x[1:-1] + s * step) for s in (1, -1))
            slope = (np.exp(ahead) - np.exp(behind)) / (2 * step)
        # Quantiles close to a pole at zero are less accurate.
        is_exact = np.abs(cdf - _CHECKED) <= 1e-3
        if np.count_nonzero(is_exact) < 3:
            raise ValueError(
                "noise must have a distribution function that rises from 0 to 1; "
                f"exp(logcdf) of {noise!r} does not: it is {cdf[0]:.6g} at {x[0]:.6g} "
                f"and {cdf[-1]:.6g} at {x[-1]:.6g}."
            )
        if np.isnan(density).any():
            raise ValueError(
                f"noise must have a density without NaN; logpdf of {noise!r} is NaN at "
                f"{x[np.isnan(density)][0]:.6g}."
            )
        x, density = x[1:-1], density[1:-1]
        wrong = ~(np.abs(slope - density) <= 0.02 * density) & is_exact[1:-1]
        # At a kink the slope may differ.
        if np.count_nonzero(wrong) > np.count_nonzero(is_exact[1:-1]) / 2:
            at = np.argmax(wrong)
            raise ValueError(
                "noise must have a density that is the derivative of its distribution "
                f"function; at {x[at]:.6g} exp(logpdf) of {noise!r} is "
                f"{density[at]:.6g}, and the slope of exp(logcdf) is {slope[at]:.6g}."
            )

    def logpdf(self, x):
        # x is infinite for a class that is not available. A pole of the density has
        # probability zero.
        logpdf = self._distribution.logpdf(x)
        return np.where((x < np.inf) & (logpdf < np.inf), logpdf, -np.inf)

    def logcdf(self, x):
        return np.where(x == np.inf, 0.0, self._distribution.logcdf(x))


def _check_method(noise, method):
    """Raise if a method does not return an array of numbers of its argument's shape."""
    for x in (np.array([-0.5, 0.25, 1.0]), np.array([0.25])):
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(getattr(noise, method)(x), dtype=float)
        except Exception as error:
            value = f"{type(error).__name__}: {error}"
        if isinstance(value, str) or value.shape != x.shape or np.isnan(value).any():
            raise ValueError(
                f"noise must be a single distribution, whose {method} returns numbers "
                f"in an array of the shape of its argument; for {x} that of {noise!r} "
                f"returned {value}."
            )


def _finite_number(value):
    value = float(value)
    return value if np.isfinite(value) else None
