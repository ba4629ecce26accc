"""Student's t distribution as a noise."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import beta, betaincc
from sklearn.utils import check_random_state

from ._shaped import SymmetricNoise


@dataclass(frozen=True)
class StudentT(SymmetricNoise):
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
    """Coefficients of tail / cosine^df, in a variable from 0 at 0 to 1 at infinity."""
    a, k = df / 2, 5 / np.sqrt(df)

    def function(v):
        sine = k * v / (1 + k - v)
        square = (1 - sine) * (1 + sine)
        with np.errstate(all="ignore"):
            near = betaincc(0.5, a, sine**2) / 2 * np.exp(-a * np.log(square))
        # Farther out, sum the hypergeometric series, whose terms are positive.
        z = np.where(sine < 0.5, 0, square)
        term, total = np.ones_like(z), np.ones_like(z)
        for n in range(150):
            term *= (a + 0.5 + n) / (a + 1 + n) * z
            total += term
        far = sine / (2 * a * beta(a, 0.5)) * total
        return np.where(sine < 0.5, near, far)

    return _polynomial(function, 24), k


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
