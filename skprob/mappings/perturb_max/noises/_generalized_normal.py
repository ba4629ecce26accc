"""The generalised normal distribution as a noise."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gamma, gammaincc, gammaln
from sklearn.utils import check_random_state

from ._octave_table import OctaveTable
from ._shaped import SymmetricNoise


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
    def smoothness(self):
        # From a power of 3 on, the rule for kinks is accurate. The derivative in the
        # exponent has a kink even if the density has none.
        return "cusped" if self.exponent < 3 else "piecewise"

    @property
    def variance(self):
        return float(np.exp(gammaln(3 / self.exponent) - gammaln(1 / self.exponent)))

    def _scaled(self, x):
        # The power of larger distances would overflow; their density is 0, too.
        y = np.minimum(np.abs(x), 1e300 ** (1 / self.exponent))
        table, density = _tail_ratio(self.exponent)
        power = y**self.exponent
        tail = table(y)
        if y.max(initial=0) > _END:
            far = y * _asymptotic(self.exponent, np.maximum(power, 1))
            tail = np.where(y > _END, far, tail)
        tail *= density
        return np.negative(power, out=power), tail, density

    @property
    def slope(self):
        # With exponents between 1 and 2 the slope has a cusp at zero, for which the
        # nodes of the probabilities are not accurate.
        is_known = self.exponent == 1 or self.exponent >= 2
        return self._slope if is_known else None

    def _slope(self, x):
        return -np.sign(x) * self.exponent * np.abs(x) ** (self.exponent - 1)

    def log_hazard_slope(self, x, hazard):
        # Slope and hazard cancel for large negative x: use the asymptotic series.
        slope = self._slope(x)
        far = np.maximum(np.maximum(np.abs(x), 1) ** self.exponent, 1e4)
        difference = slope * (1 / self.exponent - 1) * (1 / far - 1 / far**2)
        return np.where((x < 0) & (far > 1e4), difference, slope - hazard)

    def rvs(self, size=None, random_state=None):
        rng = check_random_state(random_state)
        distance = rng.gamma(1 / self.exponent, size=size) ** (1 / self.exponent)
        return distance * (2 * rng.randint(2, size=size) - 1)


# Ends of the table as powers of two. Below, the tail is one half up to rounding
# errors. Beyond, the asymptotic series is exact.
_LOW, _HIGH = -44, 12
_END = 2.0**_HIGH


@lru_cache(maxsize=128)
def _tail_ratio(exponent):
    """A table of the tail over the density, and the density at zero."""
    a = 1 / exponent

    def ratio(y):
        power = y**exponent
        near = np.minimum(power, 100)
        direct = a * gammaincc(a, near) * gamma(a) * np.exp(near)
        far = y * _asymptotic(exponent, np.maximum(power, 100))
        return np.where(power > 100, far, direct)[None]

    # Short cells have polynomials of a low degree, which are fast.
    table = OctaveTable(ratio, _LOW, _HIGH, n_cells=32, degree=6)
    return table, exponent / (2 * gamma(a))


def _asymptotic(exponent, power):
    """The tail over the density and |x|, for a large power |x|^exponent."""
    a = 1 / exponent
    term, total = a / power, a / power
    for n in range(1, 13):
        term = term * (a - n) / power
        total = total + term
    return total
