"""Derivatives of probabilities in alpha and in the temperature."""

import mpmath as mp
import numpy as np
import pytest

from skprob.mappings import Entmax, Softmax, Sparsemax, Temperature


def entmax_by_bisection(scores, alpha):
    """Entmax from its definition, in the working precision of mpmath."""
    beta = alpha - 1
    z = [mp.mpf(float(s)) - mp.mpf(float(max(scores))) for s in scores]
    if beta == 0:
        total = mp.fsum(mp.exp(x) for x in z)
        return [mp.exp(x) / total for x in z]

    def weights(shift):
        x = [1 + beta * (v - shift) for v in z]
        return [v ** (1 / beta) if v > 0 else mp.mpf(0) for v in x]

    low, high = mp.mpf(0), mp.log(len(z)) + 1
    for _ in range(170):
        middle = (low + high) / 2
        if mp.fsum(weights(middle)) > 1:
            low = middle
        else:
            high = middle
    return weights(low)


@pytest.mark.parametrize(
    "alpha", [1, 1 + 1e-12, 1 + 1e-6, 1.001, 1.05, 1.25, 1.5, 1.75, 2, 2.5]
)
def test_alpha_derivative(alpha):
    rng = np.random.default_rng(3)
    for spread in (0.1, 0.5, 2.0):
        scores = spread * rng.standard_normal((1, 5))
        with mp.workdps(50):
            step = mp.mpf(10) ** -15
            low = mp.mpf(alpha) - (0 if alpha == 1 else step)
            ahead = entmax_by_bisection(scores[0], mp.mpf(alpha) + step)
            behind = entmax_by_bisection(scores[0], low)
            width = mp.mpf(alpha) + step - low
            expected = [
                float((a - b) / width) for a, b in zip(ahead, behind, strict=True)
            ]
        derivative = Entmax(alpha).alpha_derivative(scores)[0]
        size = max(np.abs(expected).max(), 1e-300)
        assert np.abs(derivative - expected).max() <= 1e-9 * size
        assert abs(derivative.sum()) <= 1e-14


def test_alpha_derivative_beside_classes_that_are_not_available():
    whole = Entmax(1.3).alpha_derivative([[0.3, -np.inf, 0.0]])
    assert whole[0, 1] == 0
    np.testing.assert_allclose(
        whole[0, [0, 2]], Entmax(1.3).alpha_derivative([[0.3, 0.0]])[0], rtol=1e-14
    )


@pytest.mark.parametrize("mapping", [Softmax(), Sparsemax(), Entmax(1.3)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_temperature_derivative(mapping, offset):
    z = np.array([[0.5, 0.25, -0.125, -3.0], [1.0, 1.0, 0.75, -np.inf]]) + offset
    tau, step = 1.7, 1e-6
    ahead, behind = (Temperature(mapping, tau + s * step)(z) for s in (1, -1))
    derivative = Temperature(mapping, tau).temperature_derivative(z)
    np.testing.assert_allclose(derivative, (ahead - behind) / (2 * step), atol=1e-8)
