"""The Taylor polynomial of exp, for arrays of any library."""

from ..._utils.arrays import namespace, widened
from ._polynomial import zeros


class ArrayPolynomial:
    """The logarithm of a Taylor polynomial of exp, and its derivatives.

    The logarithms of its factors are added: see `_polynomial.py`. Large scores
    are divided by their size, so that squares do not overflow.

    Parameters
    ----------
    x : array of shape (n_samples, n_classes)
        Standard scores; -inf where a class is not available.
    order : int
    """

    def __init__(self, x, order):
        xp = namespace(x)
        x = widened(x)
        self.available = x > -xp.inf
        x = xp.where(self.available, x, 0.0)
        self._unit = xp.clip(abs(x), 1.0)
        self._y, self._order = x / self._unit, order

    def _factors(self):
        for a, b in zeros(self._order):
            deviation = self._y - a / self._unit
            yield deviation, deviation**2 + (b / self._unit) ** 2

    def logarithm(self):
        """Up to a constant; -inf where the class is not available."""
        xp = namespace(self._y)
        total = self._order * xp.log(self._unit)
        for _, factor in self._factors():
            total = total + xp.log(factor)
        return xp.where(self.available, total, -xp.inf)

    def slope(self):
        """Derivative of the logarithm."""
        total = sum(deviation / factor for deviation, factor in self._factors())
        return self._of_available(2 * total / self._unit)

    def curvature(self):
        """Second derivative of the logarithm."""
        terms = ((1 - 2 * d**2 / factor) / factor for d, factor in self._factors())
        return self._of_available(2 * sum(terms) / self._unit**2)

    def _of_available(self, values):
        return namespace(values).where(self.available, values, 0.0)
