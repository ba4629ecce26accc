"""Variables in which integrals over a perturbed score are smooth.

The perturbed scores x, of which the largest score is 0, are a function of a variable t
that quadrature takes steps in. `centre` is the row's own, `scale` about the width of
what is integrated.
"""

import numpy as np
from scipy.special import wrightomega


class Line:
    """x itself."""

    #: Does a bounded t stand for all x above 0? Then there must be an edge at 0.
    is_bounded_above = False

    def at(self, x, centre, scale):
        """The variable t at x."""
        return x

    def x_and_slope(self, t, centre, scale):
        """x, and its derivative in t."""
        return t, np.ones_like(t)


class Sinh(Line):
    """Steps that grow with the distance from the centre, for tails of any kind."""

    def at(self, x, centre, scale):
        return np.arcsinh((x - centre) / scale)

    def x_and_slope(self, t, centre, scale):
        return centre + scale * np.sinh(t), scale * np.cosh(t)


class Exponential(Line):
    """t = 1 - exp(-x) above 0, where an exponential tail is a polynomial in t."""

    is_bounded_above = True

    def at(self, x, centre, scale):
        return np.minimum(x, 0) - np.expm1(-np.maximum(x, 0))

    def x_and_slope(self, t, centre, scale):
        rest = 1 - np.maximum(t, 0)
        return np.minimum(t, 0) - np.log(rest), 1 / rest


class Arctan(Line):
    """t = arctan(x) above 0, where Cauchy's tail is analytic in t, arcsinh(x) below."""

    is_bounded_above = True

    def at(self, x, centre, scale):
        return np.arcsinh(np.minimum(x, 0)) + np.arctan(np.maximum(x, 0))

    def x_and_slope(self, t, centre, scale):
        tan, below = np.tan(np.maximum(t, 0)), np.minimum(t, 0)
        return np.sinh(below) + tan, np.where(t < 0, np.cosh(below), 1 + tan**2)


class Stretched(Line):
    """x = centre + scale (t + exp(t)): large steps above, where noise alone is left.

    An integrand that is analytic on the line, and falls like an exponential function at
    least, vanishes in t at both ends, and soon: for the trapezoidal rule (Takahasi and
    Mori, "Double exponential formulas for numerical integration", 1974).
    """

    def at(self, x, centre, scale):
        y = (x - centre) / scale
        return y - wrightomega(y)

    def x_and_slope(self, t, centre, scale):
        e = np.exp(t)
        return centre + scale * (t + e), scale * (1 + e)


# In units of the scale: how fast steps grow beyond the scores, from where on, and how
# fast this growth grows itself, from where on. Trapezoidal rules take the fewest nodes
# with these, for Cauchy noise: with slower growth twice as many, with faster growth the
# singular points of its distribution function are too close in t.
_RATE, _MARGIN = 2.1, 2.0
_SECOND_RATE, _SECOND_MARGIN = 2.2, 4.1


class Graded(Line):
    """Even steps where the scores are, and beyond them ever longer ones.

    Far out x grows like the exponential function of another one, so that integrands
    with heavy tails vanish in t at both ends (Takahasi and Mori). `centre` is the
    lowest score that counts; the largest is 0.
    """

    def at(self, x, centre, scale):
        """A t beyond x, as seen from the scores: an end of an integral."""
        above, below = x / scale, (centre - x) / scale
        t = np.minimum(above, _end(above))
        return np.where(below > 0, centre / scale - np.minimum(below, _end(below)), t)

    def x_and_slope(self, t, centre, scale):
        above, slope_above = _rise(t)
        below, slope_below = _rise(centre / scale - t)
        slope = scale * (1 + slope_above + slope_below)
        return scale * (t + above - below), slope


def _rise(t):
    """What x is beyond t, and its derivative."""
    growth = np.exp(_SECOND_RATE * (t - _SECOND_MARGIN))
    rise = np.exp(_RATE * (t - _MARGIN) + growth)
    return rise, rise * (_RATE + _SECOND_RATE * growth)


def _end(x):
    """Where :func:`_rise` is x."""
    ratio = _RATE / _SECOND_RATE
    logs = np.log(np.maximum(x, 1)) - _RATE * (_SECOND_MARGIN - _MARGIN)
    y = logs / ratio - np.log(ratio)
    # Of growth + ratio log(growth) = logs.
    log_growth = y - wrightomega(y) + np.log(ratio)
    return _SECOND_MARGIN + log_growth / _SECOND_RATE
