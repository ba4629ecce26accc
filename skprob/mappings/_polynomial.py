"""Interpolation by a polynomial on [0, 1]."""

import numpy as np


def polynomial(function, degree):
    """Coefficients of the interpolant on [0, 1], in powers of 2x - 1, highest first."""
    chebyshev = np.polynomial.Chebyshev.interpolate(function, degree, domain=[0, 1])
    chebyshev.domain = [-1, 1]
    return chebyshev.convert(kind=np.polynomial.Polynomial).coef[::-1]


def horner(coefficients, x):
    """The polynomial at x in [0, 1]."""
    u = 2 * x
    u -= 1
    value = np.full_like(u, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= u
        value += coefficient
    return value
