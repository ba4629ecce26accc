"""Noises: the distributions that perturb-max adds to the scores."""

from functools import lru_cache

import numpy as np
from scipy.special import erfcx

_SQRT2 = np.sqrt(2)


class Noise:
    """A continuous distribution on the real line.

    A noise writes :meth:`logpdf` and :meth:`logcdf`; where the two share work it
    also writes :meth:`cdf_and_pdf`, and where its density has no jump
    :meth:`slope`, which second derivatives need. All take and return arrays.
    """

    #: Ends of the support.
    support = (-np.inf, np.inf)
    #: Expected value; None where there is none.
    mean = 0.0
    #: None where it is not finite.
    variance = None
    #: Of the density: "analytic" on the support, "piecewise" so with a kink at most
    #: at the median, or "unknown".
    smoothness = "analytic"
    #: Derivative of the log-density, a method; None where the density jumps.
    slope = None

    def cdf_and_pdf(self, x):
        """Distribution function and density."""
        return np.exp(self.logcdf(x)), np.exp(self.logpdf(x))


class Gumbel(Noise):
    """Gumbel noise, of distribution function exp(-exp(-x)): softmax's own."""

    mean = np.euler_gamma
    variance = np.pi**2 / 6

    def logcdf(self, x):
        return -np.exp(-x)

    def logpdf(self, x):
        return -x - np.exp(-x)

    def slope(self, x):
        return np.expm1(-x)

    def cdf_and_pdf(self, x):
        e = np.exp(-x)
        cdf = np.exp(-e)
        return cdf, e * cdf


@lru_cache
def _mills_coefficients():
    # exp(y²/2) P[N > y], divided by t = 5 / (5 + y), is a polynomial in 2t - 1 to
    # 3e-14 of its value for all y >= 0.
    def function(u):
        t = np.maximum((u + 1) / 2, 1e-12)
        return erfcx(5 * (1 - t) / t / _SQRT2) / (2 * t)

    chebyshev = np.polynomial.Chebyshev.interpolate(function, 18)
    return chebyshev.convert(kind=np.polynomial.Polynomial).coef[::-1]


class Normal(Noise):
    """Standard normal noise.

    Its distribution function is made of numpy's exp and log, which are several
    times faster than that of :mod:`scipy.special`.
    """

    variance = 1.0

    def _mills(self, y):
        first, *others = _mills_coefficients()
        t = 5 / (5 + y)
        u = 2 * t - 1
        value = first * u
        for coefficient in others[:-1]:
            value += coefficient
            value *= u
        value += others[-1]
        value *= t
        return value

    def logcdf(self, x):
        mills, half_square = self._mills(np.abs(x)), x**2 / 2
        upper = np.log1p(-mills * np.exp(-half_square))
        return np.where(x < 0, np.log(mills) - half_square, upper)

    def logpdf(self, x):
        return x**2 / -2 - np.log(2 * np.pi) / 2

    def slope(self, x):
        return -x

    def cdf_and_pdf(self, x):
        bell = np.exp(x**2 / -2)
        tail = self._mills(np.abs(x))
        tail *= bell
        bell /= np.sqrt(2 * np.pi)
        return np.where(x < 0, tail, 1 - tail), bell


class Logistic(Noise):
    """Standard logistic noise."""

    variance = np.pi**2 / 3

    def logcdf(self, x):
        return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))

    def logpdf(self, x):
        y = np.abs(x)
        return -y - 2 * np.log1p(np.exp(-y))

    def slope(self, x):
        return -np.tanh(x / 2)

    def cdf_and_pdf(self, x):
        e = np.exp(-np.abs(x))
        upper = 1 / (1 + e)
        lower = e * upper
        return np.where(x < 0, lower, upper), lower * upper


class Laplace(Noise):
    """Standard Laplace noise, of density exp(-|x|)/2."""

    variance = 2.0
    smoothness = "piecewise"

    def logcdf(self, x):
        y = np.abs(x)
        return np.where(x < 0, -y - np.log(2), np.log1p(np.exp(-y) / -2))

    def logpdf(self, x):
        return -np.abs(x) - np.log(2)

    def slope(self, x):
        return -np.sign(x)

    def cdf_and_pdf(self, x):
        e = np.exp(-np.abs(x)) / 2
        return np.where(x < 0, e, 1 - e), e


class Exponential(Noise):
    """Standard exponential noise, of mean 1."""

    support = (0.0, np.inf)
    mean = variance = 1.0

    def logcdf(self, x):
        return np.log(-np.expm1(-np.maximum(x, 0)))

    def logpdf(self, x):
        return np.where(x < 0, -np.inf, -x)

    def cdf_and_pdf(self, x):
        minus = -np.maximum(x, 0)
        return -np.expm1(minus), np.where(x < 0, 0, np.exp(minus))


class Uniform(Noise):
    """Noise that is uniform on [0, 1]."""

    support = (0.0, 1.0)
    mean = 0.5
    variance = 1 / 12
    smoothness = "piecewise"

    def logcdf(self, x):
        return np.log(np.clip(x, 0, 1))

    def logpdf(self, x):
        return np.where((x < 0) | (x > 1), -np.inf, 0.0)

    def cdf_and_pdf(self, x):
        return np.clip(x, 0, 1), ((x >= 0) & (x <= 1)).astype(x.dtype)


class Cauchy(Noise):
    """Standard Cauchy noise, which has no mean."""

    mean = None

    def logcdf(self, x):
        return np.log(np.arctan2(1, -x) / np.pi)

    def logpdf(self, x):
        return -np.log1p(x**2) - np.log(np.pi)

    def slope(self, x):
        return -2 * x / (1 + x**2)

    def cdf_and_pdf(self, x):
        return np.arctan2(1, -x) / np.pi, 1 / (np.pi * (1 + x**2))


class _Distribution(Noise):
    """A noise from an object with ``logpdf`` and ``logcdf``."""

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

    def logpdf(self, x):
        # A class that is not available is infinitely far below; and a pole of the
        # density has no weight.
        logpdf = self._distribution.logpdf(x)
        return np.where((x < np.inf) & (logpdf < np.inf), logpdf, -np.inf)

    def logcdf(self, x):
        return np.where(x == np.inf, 0.0, self._distribution.logcdf(x))


def _check_method(noise, method):
    """Raise where a method does not make numbers of an array of its shape."""
    for x in (np.array([-0.5, 0.25, 1.0]), np.array([0.25])):
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(getattr(noise, method)(x), dtype=float)
        except Exception as error:
            value = f"{type(error).__name__}: {error}"
        if isinstance(value, str) or value.shape != x.shape or np.isnan(value).any():
            raise ValueError(
                f"noise must be one distribution, whose {method} takes an array of "
                f"numbers to one of the same shape; that of {noise!r} takes {x} to "
                f"{value}."
            )


def _finite_number(value):
    value = float(value)
    return value if np.isfinite(value) else None


#: The noises that a name stands for. A new member is one line here.
NOISES = {
    "gumbel": Gumbel(),
    "normal": Normal(),
    "logistic": Logistic(),
    "laplace": Laplace(),
    "exponential": Exponential(),
    "uniform": Uniform(),
    "cauchy": Cauchy(),
}


def get_noise(noise):
    """The noise that a name or a distribution stands for.

    Parameters
    ----------
    noise : str or object with methods ``logpdf`` and ``logcdf``

    Returns
    -------
    noise : Noise

    Raises
    ------
    ValueError
        If the name is not known, or the object lacks one of the methods or is not one
        distribution of one number.
    """
    if isinstance(noise, str) and noise in NOISES:
        return NOISES[noise]
    if isinstance(noise, str):
        raise ValueError(
            f"noise must be one of the names {sorted(NOISES)} or a distribution "
            f"with methods logpdf and logcdf; got {noise!r}."
        )
    for method in ("logpdf", "logcdf"):
        if not callable(getattr(noise, method, None)):
            raise ValueError(
                "noise must be a name or a distribution with methods logpdf and "
                f"logcdf, such as scipy.stats.t(5); {noise!r} has no {method}."
            )
    try:
        return _as_noise(noise)
    except TypeError:  # not hashable
        return _Distribution(noise)


# What is found out about a noise is kept with it, so it is made once.
_as_noise = lru_cache(maxsize=64)(_Distribution)
