"""The noises without a shape parameter, in standard form."""

import numpy as np
from scipy.special import erfcx

from ._base import Noise

_SQRT2, _LOG_ROOT_2_PI = np.sqrt(2), np.log(2 * np.pi) / 2


class Gumbel(Noise):
    """Gumbel noise, of distribution function exp(-exp(-x)). It gives softmax."""

    mean = np.euler_gamma
    variance = np.pi**2 / 6

    def logcdf(self, x):
        return -np.exp(-x)

    def logpdf(self, x):
        return -x - np.exp(-x)


class Normal(Noise):
    """Standard normal noise."""

    variance = 1.0

    def logcdf(self, x):
        scaled_tail, half_square = erfcx(np.abs(x) / _SQRT2) / 2, x**2 / 2
        upper = np.log1p(-scaled_tail * np.exp(-half_square))
        return np.where(x < 0, np.log(scaled_tail) - half_square, upper)

    def logpdf(self, x):
        return x**2 / -2 - _LOG_ROOT_2_PI

    def slope(self, x):
        return -x

    def log_hazard(self, x, logcdf):
        # For x < 0 the squares in logpdf and logcdf cancel; this form has none.
        lower = -np.log(erfcx(np.abs(x) / _SQRT2) / 2) - _LOG_ROOT_2_PI
        return np.where(x < 0, lower, self.logpdf(x) - logcdf)

    def log_hazard_slope(self, x, hazard):
        # Below -1000, -x and the hazard cancel: Mills' series h = y + 1/y - 2/y³ + ...
        y = np.maximum(-x, 1e3)
        return np.where(x < -1e3, (2 / y**2 - 1) / y, -x - hazard)


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
        density = np.exp(-np.abs(x)) / 2
        return np.abs((x > 0) - density), density


class Exponential(Noise):
    """Standard exponential noise, of mean 1."""

    support = (0.0, np.inf)
    mean = variance = 1.0

    def logcdf(self, x):
        return np.log(-np.expm1(-np.maximum(x, 0)))

    def logpdf(self, x):
        return np.where(x < 0, -np.inf, -x)


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


class Cauchy(Noise):
    """Standard Cauchy noise, which has no mean."""

    mean = None

    def logcdf(self, x):
        return np.log(np.arctan2(1, -x) / np.pi)

    def logpdf(self, x):
        return -2 * np.log(np.hypot(x, 1)) - np.log(np.pi)

    def slope(self, x):
        return -2 * x / (1 + np.square(np.clip(x, -1e150, 1e150)))
