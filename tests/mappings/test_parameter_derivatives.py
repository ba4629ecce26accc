"""Derivatives of probabilities in alpha and in the temperature."""

import mpmath as mp
import numpy as np
import pytest

from skprob.mappings import Entmax, PerturbMax, Temperature

from . import definitions, references
from .all_mappings import each


@pytest.mark.parametrize(
    "alpha", [0.1, 0.5, 0.9, 1 - 1e-8, 1, 1 + 1e-12, 1 + 1e-8, 1.001, 1.25, 1.5, 2, 2.5]
)
def test_alpha_derivative(alpha):
    rng = np.random.default_rng(3)
    for spread in (0.1, 0.5, 2.0):
        scores = spread * rng.standard_normal((1, 5))
        with mp.workdps(50):
            step = mp.mpf(10) ** -15
            low = mp.mpf(alpha) - (0 if alpha == 1 else step)
            ahead = references.probabilities(scores[0], mp.mpf(alpha) + step)
            behind = references.probabilities(scores[0], low)
            width = mp.mpf(alpha) + step - low
            expected = [
                float((a - b) / width) for a, b in zip(ahead, behind, strict=True)
            ]
        derivative = Entmax(alpha).alpha_derivative(scores)[0]
        # Digits are lost only where a derivative is about to change its sign.
        size = np.abs(expected).max()
        np.testing.assert_allclose(derivative, expected, rtol=1e-9, atol=1e-13 * size)
        assert abs(derivative.sum()) <= 1e-14


def bisected(scores, alpha):
    """Entmax of a few scores for alpha > 2, by bisection in mpf."""
    u = [(alpha - 1) * mp.mpf(float(z)) for z in scores]
    low, high = max(u) - 1, max(u)
    for _ in range(550):
        tau = (low + high) / 2
        p = [max(x - tau, 0) ** (1 / (alpha - 1)) for x in u]
        low, high = (tau, high) if mp.fsum(p) > 1 else (low, tau)
    return p


@pytest.mark.parametrize("alpha", [3, 20, 50])
def test_alpha_derivative_of_sharp_mappings(alpha):
    """There the weight of a small probability is beyond the largest float."""
    spreads = np.array([1e-3, 0.2, 0.9])[:, None] / (alpha - 1)
    scores = spreads * np.array([0.0, -0.7, -0.99])
    for row, derivative in zip(
        scores, Entmax(alpha).alpha_derivative(scores), strict=True
    ):
        with mp.workdps(160):
            step = mp.mpf(10) ** -20
            ahead, behind = (bisected(row, alpha + s * step) for s in (1, -1))
            pairs = zip(ahead, behind, strict=True)
            expected = [float((a - b) / (2 * step)) for a, b in pairs]
        np.testing.assert_allclose(derivative, expected, rtol=0, atol=1e-10)
        assert abs(derivative.sum()) <= 1e-15
        single = Entmax(alpha).alpha_derivative(np.float32(row[None]))[0]
        assert single.dtype == np.float32
        assert abs(single.sum()) <= 1e-6
    d = Entmax(300).alpha_derivative([[1.0, 0.999999, 0.0]])
    assert np.isfinite(d).all() and abs(d.sum()) <= 1e-15


def test_alpha_derivative_beside_classes_that_are_not_available():
    whole = Entmax(1.3).alpha_derivative([[0.3, -np.inf, 0.0]])
    assert whole[0, 1] == 0
    np.testing.assert_allclose(
        whole[0, [0, 2]], Entmax(1.3).alpha_derivative([[0.3, 0.0]])[0], rtol=1e-14
    )


@each(lambda mapping: not isinstance(mapping, (Temperature, PerturbMax)))
def test_temperature_derivative(mapping):
    scores = np.array([[0.5, 0.25, -0.125, -3.0], [1.0, 1.0, 0.75, -np.inf]])
    # A shift far from zero changes it only for mappings that are not shift invariant.
    for z in scores, scores[:1] + 1e6:
        assert_temperature_derivative(mapping, z)


def test_temperature_derivative_under_noise():
    assert_temperature_derivative(PerturbMax(), np.array([[0.5, -np.inf, -0.125]]))


def assert_temperature_derivative(mapping, scores):
    tau, step = mp.mpf(1.75), mp.mpf(10) ** -20
    derivative = Temperature(mapping, float(tau)).temperature_derivative(scores)
    for row, row_derivative in zip(scores, derivative, strict=True):
        with mp.workdps(60):
            z = [mp.mpf(float(x)) for x in row]
            ahead, behind = (
                definitions.at_temperature(mapping, tau + sign * step)(z)
                for sign in (1, -1)
            )
            exact = [
                float((a - b) / (2 * step)) for a, b in zip(ahead, behind, strict=True)
            ]
        # Steep mappings move fast, also with rounded scores; others are integrals.
        size = 1 + np.abs(mapping.jacobian(row[None])).max()
        tolerance = max(1e-13, 10 * getattr(mapping, "tol", 0))
        if not mapping.traits.is_shift_invariant:
            # The direction, minus the scores, is rounded.
            tolerance = max(tolerance, 1e-16 * row.max())
        np.testing.assert_allclose(row_derivative, exact, rtol=0, atol=tolerance * size)


def test_the_scale_with_a_class_far_below_all_floats_in_units_of_the_scale():
    """The difference of two Cauchy noises is Cauchy noise of twice the scale."""
    scale, x = 1e-3, 1 / (2 * 1e-3)
    exact = x / (np.pi * scale * (1 + x**2))
    scores = [[0.0, -1.0, -1.7e308]]
    derivative = PerturbMax("cauchy", scale).scale_derivative(scores)
    np.testing.assert_allclose(derivative, [[-exact, exact, 0]], atol=1e-8)
