"""The skew-normal distribution as a noise.

In the variable t of Azzalini's standard form the density is f(t) = 2 φ(t) Φ(α t). Both
tails are f times the ratio R = P[noise beyond t] / f(t), which neither overflows nor
cancels. Let a = |α| and y = |t|. On the side with the smaller density,

    R(y) = ∫ exp(-λ (y u + u²/2)) erfcx(a (y + u) / √2) / erfcx(a y / √2) du

over u > 0, with λ = 1 + a². The tails of both sides add up to twice a normal tail,
which gives the other side without cancellation. R is tabulated once for each shape.
"""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy.special import erfcx
from sklearn.utils import check_random_state

from ...._utils.typing import Array, ArrayLike
from ._named import Normal
from ._octave_table import OctaveTable
from ._shaped import ShapedNoise

_SQRT2, _ROOT = np.sqrt(2), np.sqrt(2 / np.pi)
# Nodes of the Gauss-Legendre rule, and exponent at which the integral is truncated.
_N_NODES, _CUT = 28, 40
# Power of two at which the table ends. Beyond, the asymptotic series is exact.
_OCTAVES = 14
# Shape below which differences cancel: the Edgeworth series is used instead.
_SMALL = 1e-4
# Square of the distance from which slope and hazard cancel.
_FAR = 1e6
# Largest distance, and largest distance with a finite square.
_LARGEST, _MOST = 1e300, 1e150


@dataclass(frozen=True)
class SkewNormal(ShapedNoise):
    r"""The skew-normal distribution as a noise, of mean zero and variance one.

    In Azzalini's standard form its density is :math:`2 \varphi(t) \Phi(\alpha t)`, with
    the density and the distribution function of the standard normal distribution. Here
    its parameter is the skewness. Location and scale are such that mean and variance
    do not depend on it (the centred parametrisation). A change of the mean does not
    change the probabilities of perturb-max, and a change of the scale is equivalent to
    one of the coefficients. In :math:`\alpha` the first-order change at zero is one of
    the mean, and the second-order change one of the scale. So zero would be a
    stationary point of every likelihood. In the skewness it is not.

    Parameters
    ----------
    skewness : float, default=0.5
        The third standardised moment, from -0.95 to 0.95; where it is positive the tail
        above is the longer one. With 0 it is normal noise, with 0.95 :math:`\alpha` is
        9.4. (The limit is the half-normal distribution, of skewness 0.9953.)

    See Also
    --------
    PerturbMax : The mapping.
    skprob.linear_model.PerturbMaxClassifier : ``learn_noise=True`` estimates skewness.

    References
    ----------
    A. Azzalini, "A class of distributions which includes the normal ones",
    Scandinavian Journal of Statistics 12, 1985.

    R. B. Arellano-Valle and A. Azzalini, "The centred parametrization for the
    multivariate skew-normal distribution", Journal of Multivariate Analysis 99, 2008.

    Examples
    --------
    >>> from skprob.mappings import PerturbMax, SkewNormal
    >>> PerturbMax(SkewNormal(skewness=0.9))([[2.0, 1.0, -1.0]]).round(3)
    array([[0.762, 0.223, 0.015]])
    """

    skewness: float = 0.5

    bounds = (-0.95, 0.95)
    variance = 1.0

    @classmethod
    def of_coordinate(cls, value):
        return cls(value)

    @property
    def coordinate(self):
        """The skewness."""
        return float(self.skewness)

    @property
    def coordinate_slope(self):
        return 1.0

    def logcdf(self, x: ArrayLike) -> Array:
        form = _standard_form(self.skewness)
        t, log_density = self._at(x)
        log_tail = log_density + np.log(form.ratio(t))
        return np.where(t < 0, log_tail, np.log1p(-np.exp(log_tail)))

    def logpdf(self, x: ArrayLike) -> Array:
        return self._at(x)[1] + np.log(_standard_form(self.skewness).scale)

    def log_hazard(self, x, logcdf):
        # Below zero the density cancels and is left out.
        form = _standard_form(self.skewness)
        t, log_density = self._at(x)
        lower = -np.log(form.ratio(t))
        return np.where(t < 0, lower, log_density - logcdf) + np.log(form.scale)

    def slope(self, x):
        form = _standard_form(self.skewness)
        t = form.at(x)
        return form.scale * (form.slant * _normal_hazard(form.slant * t) - t)

    def log_hazard_slope(self, x, hazard):
        form = _standard_form(self.skewness)
        t = form.at(x)
        # Slope and hazard cancel for large negative t: use the asymptotic series.
        rate, change = form.falls(np.minimum(t, -1))
        part = change / rate**2
        far = -form.scale * change / rate * (1 - part) / (1 + part)
        is_far = (t < -1) & (rate * np.abs(t) > _FAR)
        return np.where(is_far, far, self.slope(x) - hazard)

    def shape_slopes(self, x):
        with np.errstate(all="ignore"):
            slopes = self._shape_slopes(np.clip(x, -_MOST, _MOST))
        # A class that is not available, or extremely far, has a slope of zero.
        return tuple(np.where(np.isfinite(slope), slope, 0) for slope in slopes)

    def _shape_slopes(self, x):
        form = _standard_form(self.skewness)
        c, scale = form.c, form.scale
        t = form.at(x)
        log_hazard = self.log_hazard(x, self.logcdf(x))
        if abs(c) < _SMALL:
            # First terms of the Edgeworth series.
            fourth = 16 * (np.pi - 3) / (3 * (4 - np.pi)) * c
            third = x**3 - 3 * x
            of_logpdf = third / 6 + fourth * ((x**2 - 6) * x**2 + 3) / 24
            of_cdf = (x**2 - 1) / -6 - fourth * third / 24
            return of_logpdf, np.exp(log_hazard) * of_cdf
        # Derivatives in c, which is proportional to the cube root of the skewness.
        turned = _normal_hazard(form.slant * t)
        of_slant = np.sqrt(1 + form.slant**2) / _ROOT
        shift = 1 - c * x
        of_logpdf = (form.slant * turned - t) * shift
        of_logpdf += t * turned * of_slant * (1 + form.slant**2)
        of_logpdf *= scale**3
        of_logpdf -= c * scale**2
        of_logcdf = np.exp(log_hazard) * scale**2 * (shift - turned * of_slant)
        slope = 1.5 * (4 - np.pi) * c**2
        return of_logpdf / slope, of_logcdf / slope

    def rvs(self, size=None, random_state=None):
        rng, form = check_random_state(random_state), _standard_form(self.skewness)
        delta = form.slant / np.sqrt(1 + form.slant**2)
        t = delta * np.abs(rng.standard_normal(size))
        t = t + np.sqrt(1 - delta**2) * rng.standard_normal(size)
        return (t - form.location) / form.scale

    def _at(self, x):
        """The variable of the standard form and the logarithm of its density."""
        form = _standard_form(self.skewness)
        t = form.at(x)
        return t, np.log(2) + _NORMAL.logpdf(t) + _NORMAL.logcdf(form.slant * t)


class _StandardForm:
    """Azzalini's standard form, and its relation to the noise.

    Attributes
    ----------
    slant : float
        The shape α.
    location, scale : float
        Mean and standard deviation of the standard form.
    c : float
        location / scale, in proportion to the cube root of the skewness.
    """

    def __init__(self, skewness):
        self.c = np.cbrt(2 * skewness / (4 - np.pi))
        self.scale = 1 / np.sqrt(1 + self.c**2)
        self.location = self.c * self.scale
        delta = self.location / _ROOT
        self.slant = delta / np.sqrt((1 - delta) * (1 + delta))
        self._offset = 2.0 ** -np.ceil(np.log2(1 + abs(self.slant)))
        low = int(np.log2(self._offset))
        self._table = OctaveTable(self._ratios, low, _OCTAVES)

    def at(self, x):
        """The variable t of the standard form."""
        # A class that is not available has infinite x, and zero times that is NaN.
        return self.location + self.scale * np.clip(x, -_LARGEST, _LARGEST)

    def ratio(self, t):
        """P[noise beyond t] / f(t)."""
        y = np.abs(t)
        ratio = self._table(y + self._offset, self.slant * t < 0)
        if y.max(initial=0) > 2.0 ** (_OCTAVES - 1):
            rate, change = self.falls(t)
            is_far = y > 2.0 ** (_OCTAVES - 1)
            ratio = np.where(is_far, 1 / (rate + change / rate), ratio)
        return ratio

    def falls(self, t):
        """Minus the derivative of log f in |t|, and the derivative of this."""
        w = self.slant * t
        hazard = _normal_hazard(w)
        far = np.minimum(w, -1e3)
        part = np.where(w < -1e3, 1 - 1 / far / far, hazard * (w + hazard))
        slant = self.slant * np.where(t < 0, -1, 1)
        return np.abs(t) - slant * hazard, 1 + self.slant**2 * part

    def _ratios(self, points):
        """The ratios on the side with the larger density, and on the other side."""
        y = (points - self._offset)[..., None]
        a = abs(self.slant)
        root = np.sqrt(1 + a**2)
        # u = w / root. Beyond the end the exponent is less than -_CUT.
        z = root * y
        end = 2 * _CUT / (z + np.sqrt(z**2 + 2 * _CUT))
        parts, weights = _exact_rule(_N_NODES)
        w = end * parts
        values = np.exp(-w * (z + w / 2)) * erfcx(a * (y + w / root) / _SQRT2)
        scaled_tail = erfcx(a * y / _SQRT2)
        light = (values @ weights)[..., None] * end / (root * scaled_tail)
        y, light, scaled_tail = y[..., 0], light[..., 0], scaled_tail[..., 0]
        lower = scaled_tail * np.exp(-((a * y) ** 2) / 2) / 2
        mills = erfcx(y / _SQRT2) / _ROOT
        return np.stack([(mills - light * lower) / (1 - lower), light])


@cache
def _exact_rule(order):
    """The Gauss-Legendre rule on [0, 1] to full precision; numpy's errs by 1e-14.

    Newton steps in extended precision reduce the error, so that the formulas of both
    sides agree at zero to the last digits.
    """
    nodes = np.polynomial.legendre.leggauss(order)[0].astype(np.longdouble)
    for _ in range(2):
        last, value = np.ones_like(nodes), nodes.copy()
        for n in range(2, order + 1):
            last, value = value, ((2 * n - 1) * nodes * value - (n - 1) * last) / n
        slope = order * (nodes * value - last) / (nodes**2 - 1)
        weights = 1 / ((1 - nodes**2) * slope**2)
        nodes -= value / slope
    return ((1 + nodes) / 2).astype(float), weights.astype(float)


_NORMAL = Normal()
_standard_form = lru_cache(maxsize=128)(_StandardForm)


def _normal_hazard(w):
    """φ / Φ."""
    return np.exp(_NORMAL.log_hazard(w, _NORMAL.logcdf(w)))
