"""Second derivatives with generalised normal noise, and slopes of its hazard."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.mappings import GeneralizedNormal, PerturbMax

SCORES = np.array([[0.3, 0.0, -1.2, 0.4], [0.0, -2.5, 0.1, -np.inf]])


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.5, 4.0])
def test_the_derivative_of_products_with_the_jacobian(exponent):
    rng = np.random.default_rng(0)
    cotangent, direction = rng.normal(size=(2, 2, 4))
    direction[np.isinf(SCORES)] = 0
    mapping = PerturbMax(GeneralizedNormal(exponent), tol=1e-12)
    derivative = mapping.linearize(SCORES).vjp_derivative(cotangent, direction)
    step = 1e-5
    ahead, behind = (
        mapping.linearize(SCORES + h * direction).vjp(cotangent) for h in (step, -step)
    )
    assert_allclose(derivative, (ahead - behind) / (2 * step), atol=1e-5)
    assert np.abs(derivative).max() > 0.01
    # A constant that is added to all scores changes nothing.
    assert_allclose(derivative.sum(axis=1), 0, atol=1e-7)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 4.0])
def test_the_slope_of_the_hazard_far_below_where_its_terms_cancel(exponent):
    """In many digits: the logarithm of the density falls about as the hazard."""
    noise = GeneralizedNormal(exponent)
    x = -(np.array([2.0, 50.0, 9e3, 1.1e4, 1e6, 1e10]) ** (1 / exponent))
    with mp.workdps(60):
        a, exact = 1 / mp.mpf(exponent), []
        for y in (mp.mpf(float(-each)) for each in x):
            power = y ** mp.mpf(exponent)
            hazard = exponent * mp.exp(-power) / mp.gammainc(a, power)
            exact.append(float(exponent * y ** mp.mpf(exponent - 1) - hazard))
    hazard = np.exp(noise.log_hazard(x, noise.logcdf(x)))
    # Differences of rounded terms up to 1e4, and two terms of a series beyond.
    assert_allclose(noise.log_hazard_slope(x, hazard)[:3], exact[:3], rtol=1e-8)
    assert_allclose(noise.log_hazard_slope(x, hazard)[3:], exact[3:], rtol=3e-8)
