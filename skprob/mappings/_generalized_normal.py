"""The generalised normal distribution as a noise."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gamma, gammainc, gammaincc, gammaln
from sklearn.utils import check_random_state

from ._polynomial import horner, polynomial
from ._shaped_noise import SymmetricNoise


@dataclass(frozen=True)
class GeneralizedNormal(SymmetricNoise):
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
        inner = 0.5 - y * horner(body, ratio)
        with np.errstate(over="ignore"):
            inner *= np.exp(np.minimum(power, _BODY))
        far = np.maximum(power, _BODY)
        outer = horner(tail, np.sqrt(_BODY / far))
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

    return polynomial(body, 16), polynomial(tail, 28)
