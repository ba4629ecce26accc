"""Second derivatives with generalised normal noise, beside differences of the first."""

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
