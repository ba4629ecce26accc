"""Noises with a parameter for their shape: Student's t, and the generalised normal."""

from abc import abstractmethod
from dataclasses import dataclass, fields
from functools import lru_cache
from numbers import Real

import numpy as np
from scipy.special import beta, betaincc, gamma, gammainc, gammaincc, gammaln
from sklearn.utils import check_random_state

from ._noise import Noise

# Of a step along the coordinate of the shape, for differences of fourth order.
_STEP = 2e-3


class ShapedNoise(Noise):
    """A noise that is symmetric about zero, with one parameter for its shape.

    The parameter is the only field of the class. It is searched in a coordinate, a
    function of it in which the noise changes evenly.
    """

    #: Values of the parameter that are allowed.
    bounds: tuple

    @classmethod
    @abstractmethod
    def of_coordinate(cls, value):
        """The noise of a value of the coordinate, which is not checked."""

    @property
    @abstractmethod
    def coordinate(self):
        """The coordinate of the shape."""

    @property
    @abstractmethod
    def coordinate_slope(self):
        """The derivative of the coordinate in the parameter."""

    @abstractmethod
    def _scaled(self, x):
        """What may underflow as a logarithm, and what it is multiplied with.

        Returns
        -------
        log_unit : ndarray
        tail, density : ndarray
            P[noise < -abs(x)] and the density at x, both over exp(log_unit).
        """

    @classmethod
    def shape(cls):
        """The name of the parameter."""
        (field,) = fields(cls)
        return field.name

    @classmethod
    def coordinate_bounds(cls):
        """The least and the largest coordinate."""
        return sorted(cls(value).coordinate for value in cls.bounds)

    def within_bounds(self):
        """The nearest noise whose parameter is allowed."""
        low, high = self.bounds
        return type(self)(min(max(getattr(self, self.shape()), low), high))

    def check(self):
        """Raise where the parameter is not allowed."""
        name, (low, high) = self.shape(), self.bounds
        value = getattr(self, name)
        if not (isinstance(value, Real) and low <= value <= high):
            raise ValueError(
                f"{name} of {type(self).__name__} must be a number from {low:g} to "
                f"{high:g}; got {value!r}."
            )

    def cdf_and_pdf(self, x):
        log_unit, cdf, density = self._scaled(x)
        unit = np.exp(log_unit)
        cdf *= unit
        density *= unit
        # 1 - cdf where x is positive.
        np.subtract(x > 0, cdf, out=cdf)
        return np.abs(cdf, out=cdf), density

    def logcdf(self, x):
        log_unit, tail, _ = self._scaled(x)
        upper = np.log1p(-tail * np.exp(log_unit))
        return np.where(x < 0, log_unit + np.log(tail), upper)

    def logpdf(self, x):
        log_unit, _, density = self._scaled(x)
        return log_unit + np.log(density)

    def log_hazard(self, x, logcdf):
        # Below zero without the unit, which cancels.
        log_unit, tail, density = self._scaled(x)
        logs = np.log(density)
        return np.where(x < 0, logs - np.log(tail), log_unit + logs - logcdf)

    def shape_slopes(self, x):
        """Derivatives, in the coordinate, of logpdf and logcdf.

        Parameters
        ----------
        x : ndarray

        Returns
        -------
        of_logpdf, of_logcdf : ndarray
        """
        here = self.coordinate
        step = _STEP * max(abs(here), 0.1)
        total = np.zeros((2, *x.shape))
        with np.errstate(all="ignore"):
            for n_steps, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
                noise = self.of_coordinate(here + n_steps * step)
                total[0] += weight * noise.logpdf(x)
                total[1] += weight * noise.logcdf(x)
        total /= 12 * step
        return np.where(np.isfinite(total), total, 0)

    @abstractmethod
    def rvs(self, size=None, random_state=None):
        """Draw from the noise.

        Parameters
        ----------
        size : int, tuple of int or None, default=None
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        draws : float or ndarray of shape `size`
        """


def _polynomial(function, degree):
    """Coefficients of the interpolant on [0, 1], in powers of 2x - 1, highest first."""
    chebyshev = np.polynomial.Chebyshev.interpolate(function, degree, domain=[0, 1])
    chebyshev.domain = [-1, 1]
    return chebyshev.convert(kind=np.polynomial.Polynomial).coef[::-1]


def _horner(coefficients, x):
    """The polynomial at x in [0, 1]."""
    u = 2 * x
    u -= 1
    value = np.full_like(u, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= u
        value += coefficient
    return value


@dataclass(frozen=True)
class StudentT(ShapedNoise):
    r"""Student's t distribution as a noise: heavy tails, normal in the limit.

    Its density is in proportion to :math:`(1 + x^2/\nu)^{-(\nu + 1)/2}`.

    Parameters
    ----------
    df : float, default=5.0
        The degrees of freedom :math:`\nu`, from 0.5 to 1000. With 1 it is Cauchy noise;
        the larger, the closer to normal noise. With 1 or less it has no mean.

    See Also
    --------
    PerturbMax : The mapping.
    skprob.linear_model.PerturbMaxClassifier : ``learn_noise=True`` estimates df.

    Examples
    --------
    >>> from skprob.mappings import PerturbMax, StudentT
    >>> PerturbMax(StudentT(df=3.0))([[2.0, 1.0, -1.0]]).round(3)
    array([[0.691, 0.273, 0.036]])
    """

    df: float = 5.0

    bounds = (0.5, 1000.0)

    @classmethod
    def of_coordinate(cls, value):
        return cls(1 / value)

    @property
    def coordinate(self):
        """1 / df: zero for normal noise."""
        return 1 / self.df

    @property
    def coordinate_slope(self):
        return -1 / self.df**2

    @property
    def mean(self):
        return 0.0 if self.df > 1 else None

    @property
    def variance(self):
        return self.df / (self.df - 2) if self.df > 2 else None

    def _scaled(self, x):
        coefficients, k = _student_tail(self.df)
        root = np.sqrt(self.df)
        # Sine and cosine of arctan(|x| / root).
        y = np.minimum(np.abs(x), 1e300)
        hypotenuse = np.hypot(y, root)
        y /= hypotenuse
        cosine = np.divide(root, hypotenuse, out=hypotenuse)
        tail = _horner(coefficients, y * (1 + k) / (y + k))
        log_unit = self.df * np.log(cosine)
        cosine *= 1 / (root * beta(0.5, self.df / 2))
        return log_unit, tail, cosine

    def slope(self, x):
        x = np.clip(x, -1e150, 1e150)
        return -(self.df + 1) * x / (self.df + x * x)

    def rvs(self, size=None, random_state=None):
        return check_random_state(random_state).standard_t(self.df, size)


@lru_cache(maxsize=128)
def _student_tail(df):
    """Of the tail over cosine^df, in a variable that is 0 at 0 and 1 at infinity."""
    a, k = df / 2, 5 / np.sqrt(df)

    def function(v):
        sine = k * v / (1 + k - v)
        square = (1 - sine) * (1 + sine)
        with np.errstate(all="ignore"):
            near = betaincc(0.5, a, sine**2) / 2 * np.exp(-a * np.log(square))
        # Farther out the hypergeometric series, of positive terms.
        z = np.where(sine < 0.5, 0, square)
        term, total = np.ones_like(z), np.ones_like(z)
        for n in range(150):
            term *= (a + 0.5 + n) / (a + 1 + n) * z
            total += term
        far = sine / (2 * a * beta(a, 0.5)) * total
        return np.where(sine < 0.5, near, far)

    return _polynomial(function, 24), k


@dataclass(frozen=True)
class GeneralizedNormal(ShapedNoise):
    r"""The generalised normal distribution as a noise, from Laplace to nearly uniform.

    Its density is :math:`\beta / (2 \Gamma(1/\beta)) \exp(-|x|^\beta)`.

    Parameters
    ----------
    exponent : float, default=1.5
        The exponent :math:`\beta`, from 1 (Laplace noise) to 10; with 2 it is normal
        noise of variance 1/2.

    See Also
    --------
    PerturbMax : The mapping.
    skprob.linear_model.PerturbMaxClassifier : ``learn_noise=True`` estimates exponent.

    Examples
    --------
    >>> from skprob.mappings import GeneralizedNormal, PerturbMax
    >>> PerturbMax(GeneralizedNormal(exponent=1.2))([[2.0, 1.0, -1.0]]).round(3)
    array([[0.755, 0.231, 0.013]])
    """

    exponent: float = 1.5

    bounds = (1.0, 10.0)
    # So is the derivative in the exponent, even where the density is analytic.
    smoothness = "cusped"
    order = 14

    @classmethod
    def of_coordinate(cls, value):
        return cls(float(np.exp(value)))

    @property
    def coordinate(self):
        """The logarithm of the exponent."""
        return float(np.log(self.exponent))

    @property
    def coordinate_slope(self):
        return 1 / self.exponent

    @property
    def variance(self):
        return float(np.exp(gammaln(3 / self.exponent) - gammaln(1 / self.exponent)))

    def _scaled(self, x):
        body, tail = _generalized_tail(self.exponent)
        y = np.minimum(np.abs(x), 1e300)
        power = y**self.exponent
        # Up to _BODY from the centre, beyond from infinity.
        ratio = np.minimum(power, _BODY) / _BODY
        inner = 0.5 - y * _horner(body, ratio)
        with np.errstate(over="ignore"):
            inner *= np.exp(np.minimum(power, _BODY))
        far = np.maximum(power, _BODY)
        outer = _horner(tail, np.sqrt(_BODY / far))
        outer *= far ** (1 / self.exponent - 1)
        density = np.full_like(y, self.exponent / (2 * gamma(1 / self.exponent)))
        return -power, np.where(power < _BODY, inner, outer), density

    @property
    def slope(self):
        # Between it has a cusp at zero, which the nodes for probabilities miss.
        is_known = self.exponent == 1 or self.exponent >= 2
        return self._slope if is_known else None

    def _slope(self, x):
        return -np.sign(x) * self.exponent * np.abs(x) ** (self.exponent - 1)

    def log_hazard_slope(self, x, hazard):
        # Of the asymptotic series, what does not cancel.
        slope = self._slope(x)
        far = np.maximum(np.maximum(np.abs(x), 1) ** self.exponent, 1e4)
        rest = slope * (1 / self.exponent - 1) * (1 / far - 1 / far**2)
        return np.where((x < 0) & (far > 1e4), rest, slope - hazard)

    def rvs(self, size=None, random_state=None):
        rng = check_random_state(random_state)
        size_of_it = rng.gamma(1 / self.exponent, size=size) ** (1 / self.exponent)
        return size_of_it * (2 * rng.randint(2, size=size) - 1)


# The power of |x| at which two polynomials meet.
_BODY = 2.0


@lru_cache(maxsize=128)
def _generalized_tail(exponent):
    """Two polynomials: (1/2 - tail) / |x|, and the tail over its leading term."""
    a = 1 / exponent

    def body(ratio):
        power = np.maximum(_BODY * ratio, 1e-300)
        return gammainc(a, power) / power**a / 2

    def tail(root):
        power = _BODY / np.maximum(root, 1e-9) ** 2
        near = np.minimum(power, 100)
        direct = gammaincc(a, near) * gamma(a) * near ** (1 - a) * np.exp(near)
        # Far out the asymptotic series.
        term, total = np.ones_like(power), np.ones_like(power)
        for n in range(1, 13):
            term *= (a - n) / power
            total += term
        return np.where(power > 100, total, direct) / (2 * gamma(a))

    return _polynomial(body, 16), _polynomial(tail, 28)
