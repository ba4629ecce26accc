"""The Taylor polynomials of exp of even order k, to full relative accuracy.

The terms of f_k(x) = sum of x^m / m! for m <= k cancel for negative x, and overflow for
large x. But f_k has no real zeros, and its complex zeros are pairs a ± bi, so

    k! f_k(x) = product of (x - a)^2 + b^2 over the k/2 pairs,

where all factors are positive. For large x, each factor is computed from x and the
zeros divided by one power of two above |x|. The exponents of the powers are added as
integers.
"""

from decimal import Decimal, localcontext
from functools import lru_cache
from math import factorial

import numpy as np

_DIGITS = 50
# Largest size of x without overflow, for all orders.
_TAME = 1e9


def scaled_polynomial(x, order):
    """Mantissas and exponents of order! f(x), the value being mantissa 2^exponent.

    Parameters
    ----------
    x : ndarray of float64
        Finite numbers.
    order : int
        An even number of at least 2.

    Returns
    -------
    mantissa : ndarray of float64
        At least 1/2 and less than 1.
    exponent : ndarray of int
    """
    factors, shift = _factors(x, order)
    product = np.ones_like(x)
    for _, factor in factors:
        product *= factor
    mantissa, exponent = np.frexp(product)
    exponent += order * shift
    return mantissa, exponent


def log_slope(x, order):
    """Derivative of log f(x), the ratio of the polynomials of order - 1 and order."""
    factors, shift = _factors(x, order)
    slope = np.zeros_like(x)
    for deviation, factor in factors:
        deviation /= factor
        slope += deviation
    return np.ldexp(slope, 1 - shift)


def log_curvature(x, order):
    """Second derivative of log f(x)."""
    factors, shift = _factors(x, order)
    curvature = np.zeros_like(x)
    for deviation, factor in factors:
        # 2 (b^2 - d^2) / (b^2 + d^2)^2, for the deviation d.
        deviation /= factor
        np.square(deviation, out=deviation)
        deviation *= -2
        deviation += 1 / factor
        curvature += deviation
    return np.ldexp(curvature, 1 - 2 * shift)


def _factors(x, order):
    """For each pair of zeros, (x - a) / u and ((x - a)^2 + b^2) / u^2, u = 2^shift.

    The arrays are scratch: the next pair overwrites them.
    """
    tame = max(x.max(initial=0), -x.min(initial=0)) < _TAME
    shift = 0 if tame else np.maximum(np.frexp(x)[1], 0)
    unit = np.ldexp(1.0, -shift)
    y = x if tame else x * unit
    deviation, factor = np.empty_like(x), np.empty_like(x)

    def factors():
        for a, b in zeros(order):
            np.subtract(y, a * unit, out=deviation)
            np.square(deviation, out=factor)
            np.add(factor, np.square(b * unit), out=factor)
            yield deviation, factor

    return factors(), shift


@lru_cache
def zeros(order):
    """Zeros a + bi of the polynomial with b > 0, as pairs (a, b), correctly rounded."""
    # In units of the order the zeros have size one and the coefficients do not
    # overflow.
    coefficients = [order**m / factorial(m) for m in range(order, -1, -1)]
    estimates = order * np.roots(coefficients)
    with localcontext(prec=_DIGITS):
        return [_polished(z, order) for z in estimates[estimates.imag > 0]]


def _polished(z, order):
    """Newton's method from the estimate z of a zero, in many digits."""
    re, im = Decimal(z.real), Decimal(z.imag)
    step = Decimal(1)
    # The number of correct digits doubles: the next step would be below 1e-30.
    while step > Decimal("1e-15"):
        term, total, previous = (Decimal(1), Decimal(0)), (Decimal(1), Decimal(0)), None
        for m in range(1, order + 1):
            term = (
                (term[0] * re - term[1] * im) / m,
                (term[0] * im + term[1] * re) / m,
            )
            previous, total = total, (total[0] + term[0], total[1] + term[1])
        # The sum without its last term is the derivative.
        norm = previous[0] ** 2 + previous[1] ** 2
        step_re = (total[0] * previous[0] + total[1] * previous[1]) / norm
        step_im = (total[1] * previous[0] - total[0] * previous[1]) / norm
        re, im = re - step_re, im - step_im
        step = abs(step_re) + abs(step_im)
    return float(re), float(im)
