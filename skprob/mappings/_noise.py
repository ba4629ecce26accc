"""Noises: the distributions that perturb-max adds to the scores."""

from functools import cache, lru_cache

import numpy as np
from scipy.special import erfcx, ndtr

from ._variables import Arctan
from ._variables import Exponential as ExponentialVariable

_SQRT2 = np.sqrt(2)
# A density divided by it is finite.
_TINY = 1e-300


class Noise:
    """A continuous distribution on the real line.

    A noise writes :meth:`logpdf` and :meth:`logcdf`; where there is a faster way it
    also writes :meth:`cdf_and_pdf` or :meth:`at`, and where its density has no jump
    :meth:`slope`, which second derivatives need. All take and return arrays.
    """

    #: Ends of the support.
    support = (-np.inf, np.inf)
    #: Expected value; None where there is none.
    mean = 0.0
    #: None where it is not finite.
    variance = None
    #: Of the density: "analytic" on the support, "piecewise" so with a kink at most
    #: at the median, "cusped" with any power of the distance from it, from 1 to 3, or
    #: "unknown".
    smoothness = "analytic"
    #: Derivative of the log-density, a method; None where the density jumps.
    slope = None
    #: Scale of the variable ``Stretched``, in interquartile ranges of the largest
    #: perturbed score; None where the density is not analytic on the whole line, or its
    #: tails are heavy.
    stretch = None
    #: Whether integrals over the line take the variable ``Graded``: for a density that
    #: is analytic there, with heavy tails.
    is_graded = False
    #: In which integrals are smooth above the largest score; None for any other.
    variable = None
    #: Of the Gauss-Legendre rule on the first panels.
    order = 28

    def cdf_and_pdf(self, x):
        """Distribution function and density."""
        return np.exp(self.logcdf(x)), np.exp(self.logpdf(x))

    def at(self, x, relative=False):
        """The distribution at nodes x, as a function of the scores.

        Parameters
        ----------
        x : ndarray
        relative : bool
            Whether digits of small numbers count. If not, an error of 1e-14 will do.

        Returns
        -------
        cdf_and_hazard : callable
            From scores z, which broadcast with x and may be -inf, to the distribution
            function at x - z and the density over it. Where the distribution function
            is zero, that may be any finite number.
        """

        def cdf_and_hazard(z):
            cdf, hazard = self.cdf_and_pdf(x - z)
            hazard /= np.maximum(cdf, _TINY)
            return cdf, hazard

        return cdf_and_hazard

    def log_hazard(self, x, logcdf):
        """Logarithm of the hazard, from that of the distribution function."""
        logs = self.logpdf(x)
        np.subtract(logs, logcdf, out=logs, where=logcdf > -np.inf)
        np.copyto(logs, 0, where=logcdf == -np.inf)
        return logs

    def log_hazard_slope(self, x, hazard):
        """Derivative of the logarithm of the hazard, where there is a slope."""
        return self.slope(x) - hazard


class Gumbel(Noise):
    """Gumbel noise, of distribution function exp(-exp(-x)): softmax's own."""

    mean = np.euler_gamma
    variance = np.pi**2 / 6

    def logcdf(self, x):
        return -np.exp(-x)

    def logpdf(self, x):
        return -x - np.exp(-x)


@lru_cache
def _mills_coefficients():
    # exp(y²/2) P[N > y], divided by t = 5 / (5 + y), is a polynomial in 2t - 1 to
    # 3e-14 of its value for all y >= 0.
    def function(u):
        t = np.maximum((u + 1) / 2, 1e-12)
        return erfcx(5 * (1 - t) / t / _SQRT2) / (2 * t)

    chebyshev = np.polynomial.Chebyshev.interpolate(function, 18)
    return chebyshev.convert(kind=np.polynomial.Polynomial).coef[::-1]


# Of the normal distribution function and density: points 1/512 apart. Beyond the end
# the density is zero in double precision.
_TABLE_START, _TABLE_END, _PER_UNIT = -8, 39, 512


@cache
def _normal_table():
    x = np.arange(_TABLE_START * _PER_UNIT, _TABLE_END * _PER_UNIT + 1) / _PER_UNIT
    return ndtr(x), np.exp(x**2 / -2) / np.sqrt(2 * np.pi)


def _tabulated_normal(d):
    """Distribution function and density for d >= -8, by Taylor's series.

    About the next point of the table, of distance s <= 2^-10 and with e = s times the
    point, terms of order e^5 are left out: below 1e-12 of the value up to d = 8, and
    1e-9 of a density that is nearly zero beyond. Half the time of
    :func:`scipy.special.ndtr` and an exponential.
    """
    d = np.minimum(d, _TABLE_END)
    point = d * _PER_UNIT
    np.rint(point, out=point)
    index = point.astype(np.intp)
    index -= _TABLE_START * _PER_UNIT
    point *= 1 / _PER_UNIT
    s = np.subtract(d, point, out=d)
    e = np.multiply(point, s, out=point)
    square = s * s
    cdf, pdf = (table.take(index, mode="clip") for table in _normal_table())
    # The integral of exp(-e - s²/2):
    # s (1 - e/2 + (e² - s²)/6 - (e³ - 3 e s²)/24 + e⁴/120).
    step = e * (1 / 120)
    step -= 1 / 24
    step *= e
    step += 1 / 6
    step *= e
    step -= 1 / 2
    step *= e
    step += 1
    rest = e * (1 / 8)
    rest -= 1 / 6
    rest *= square
    step += rest
    step *= s
    step *= pdf
    cdf += step
    # exp(-f), f = e + s²/2.
    square *= 0.5
    f = np.add(e, square, out=e)
    bell = f * (1 / 24)
    bell -= 1 / 6
    bell *= f
    bell += 1 / 2
    bell *= f
    bell -= 1
    bell *= f
    bell += 1
    pdf *= bell
    return cdf, pdf


class Normal(Noise):
    """Standard normal noise.

    Its distribution function is made of numpy's exp and log, which are several
    times faster than that of :mod:`scipy.special`.
    """

    variance = 1.0
    stretch = 2.0

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

    def log_hazard(self, x, logcdf):
        # Below zero without the squares, which cancel.
        lower = -np.log(np.sqrt(2 * np.pi) * self._mills(np.abs(x)))
        return np.where(x < 0, lower, self.logpdf(x) - logcdf)

    def log_hazard_slope(self, x, hazard):
        # Of Mills' asymptotic series, what does not cancel: h = y + 1/y - 2/y³ + ...
        y = np.maximum(-x, 1e3)
        return np.where(x < -1e3, (2 / y**2 - 1) / y, -x - hazard)

    def at(self, x, relative=False):
        # x - z is not less, for scores z of at most 0.
        if relative or x.min(initial=np.inf) < _TABLE_START:
            return super().at(x)

        def cdf_and_hazard(z):
            cdf, hazard = _tabulated_normal(x - z)
            hazard /= cdf
            return cdf, hazard

        return cdf_and_hazard

    def cdf_and_pdf(self, x):
        bell = x * x
        bell *= -0.5
        np.exp(bell, out=bell)
        cdf = self._mills(np.abs(x))
        cdf *= bell
        # 1 - cdf where x is positive: faster than a choice.
        np.subtract(x > 0, cdf, out=cdf)
        np.abs(cdf, out=cdf)
        bell *= 1 / np.sqrt(2 * np.pi)
        return cdf, bell


class Logistic(Noise):
    """Standard logistic noise."""

    variance = np.pi**2 / 3
    stretch = 1.0

    def logcdf(self, x):
        return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))

    def logpdf(self, x):
        y = np.abs(x)
        return -y - 2 * np.log1p(np.exp(-y))

    def slope(self, x):
        return -np.tanh(x / 2)

    def at(self, x, relative=False):
        # Few exponentials: their product is that of the difference.
        factor = np.exp(-x)

        def cdf_and_hazard(z):
            odds = np.exp(z) * factor
            cdf = 1 + odds
            np.reciprocal(cdf, out=cdf)
            odds *= cdf
            return cdf, odds

        return cdf_and_hazard


class Laplace(Noise):
    """Standard Laplace noise, of density exp(-|x|)/2."""

    variance = 2.0
    smoothness = "piecewise"
    order = 7
    variable = ExponentialVariable()

    def logcdf(self, x):
        y = np.abs(x)
        return np.where(x < 0, -y - np.log(2), np.log1p(np.exp(-y) / -2))

    def logpdf(self, x):
        return -np.abs(x) - np.log(2)

    def slope(self, x):
        return -np.sign(x)

    def at(self, x, relative=False):
        factor = np.exp(-x)

        def cdf_and_hazard(z):
            odds = np.exp(z) * factor
            cdf = np.maximum(odds, 1)
            np.minimum(odds, 1, out=odds)
            rest = 2 - odds
            odds /= rest
            rest *= 0.5
            return np.divide(rest, cdf, out=cdf), odds

        return cdf_and_hazard


class Exponential(Noise):
    """Standard exponential noise, of mean 1."""

    support = (0.0, np.inf)
    mean = variance = 1.0
    order = 16
    variable = ExponentialVariable()

    def logcdf(self, x):
        return np.log(-np.expm1(-np.maximum(x, 0)))

    def logpdf(self, x):
        return np.where(x < 0, -np.inf, -x)

    def at(self, x, relative=False):
        factor = np.exp(-x)

        def cdf_and_hazard(z):
            rest = np.exp(z) * factor
            np.minimum(rest, 1, out=rest)
            cdf = 1 - rest
            rest /= np.maximum(cdf, _TINY)
            return cdf, rest

        return cdf_and_hazard


class Uniform(Noise):
    """Noise that is uniform on [0, 1]."""

    support = (0.0, 1.0)
    mean = 0.5
    variance = 1 / 12
    smoothness = "piecewise"
    order = 7

    def logcdf(self, x):
        return np.log(np.clip(x, 0, 1))

    def logpdf(self, x):
        return np.where((x < 0) | (x > 1), -np.inf, 0.0)

    def cdf_and_pdf(self, x):
        return np.clip(x, 0, 1), ((x >= 0) & (x <= 1)).astype(x.dtype)

    def at(self, x, relative=False):
        def cdf_and_hazard(z):
            # Below the largest score there is nothing to integrate: d >= 0.
            d = x - z
            hazard = np.less_equal(d, 1, out=np.empty_like(d))
            cdf = np.minimum(d, 1, out=d)
            hazard /= np.maximum(cdf, _TINY)
            return cdf, hazard

        return cdf_and_hazard


class Cauchy(Noise):
    """Standard Cauchy noise, which has no mean."""

    mean = None
    order = 20
    variable = Arctan()
    is_graded = True

    def logcdf(self, x):
        return np.log(np.arctan2(1, -x) / np.pi)

    def logpdf(self, x):
        return -2 * np.log(np.hypot(x, 1)) - np.log(np.pi)

    def slope(self, x):
        return -2 * x / (1 + np.square(np.clip(x, -1e150, 1e150)))

    def at(self, x, relative=False):
        # π / 2 + arctan(d) has an error of 1e-16 / d: where that is too large, a sum
        # that is slower. The function arctan2 would take twice as long.
        cancels = x.min(initial=np.inf) < -1e3

        def cdf_and_hazard(z):
            d = x - z
            if cancels:
                with np.errstate(divide="ignore"):
                    inverse = np.reciprocal(d)
                angle = np.copysign(np.pi / 2, d)
                angle += np.pi / 2
                angle -= np.arctan(inverse, out=inverse)
            else:
                angle = np.arctan(d)
                angle += np.pi / 2
            hazard = np.square(d, out=d)
            hazard += 1
            hazard *= angle
            angle *= 1 / np.pi
            return angle, np.reciprocal(hazard, out=hazard)

        return cdf_and_hazard


class Distribution(Noise):
    """A noise from an object with ``logpdf`` and ``logcdf``."""

    smoothness = "unknown"
    order = 20

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
                f"noise must be a single distribution, whose {method} returns numbers "
                f"in an array of the shape of its argument; for {x} that of {noise!r} "
                f"returned {value}."
            )


def _finite_number(value):
    value = float(value)
    return value if np.isfinite(value) else None
