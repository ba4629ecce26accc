"""Entmax below alpha = 1 at its extremes: gaps, many classes, alpha near 0 and 1."""

import numpy as np
import pytest
from mpmath import log, mp, mpf
from numpy.testing import assert_allclose

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax

from .. import references


@pytest.mark.parametrize("alpha", [1e-300, 1e-12, 0.25, 0.5, 0.75, 0.99, 1 - 1e-15])
def test_nothing_overflows(alpha):
    rng = np.random.default_rng(0)
    mapping = Entmax(alpha)
    for scores in (
        np.array([[0.0, -1e300, 1e300, -1e308], [-1e-320, 0, 1e-320, -np.inf]]),
        rng.standard_normal((2, 20_000)) * [[1e-6], [1e6]],
        np.where(rng.random((2, 70)) < 0.5, -np.inf, 5e4),
    ):
        for dtype in (np.float64, np.float32):
            if np.abs(scores[np.isfinite(scores)]).max() > 1e38 and dtype == np.float32:
                continue
            z = scores.astype(dtype)
            p, log_p = mapping(z), mapping.log_probabilities(z)
            assert p.dtype == log_p.dtype == dtype
            eps = np.finfo(dtype).eps
            assert np.abs(p.sum(axis=1, dtype=np.float64) - 1).max() <= 8 * eps
            assert ((log_p > -np.inf) == (z > -np.inf)).all()
            assert (p[z == -np.inf] == 0).all()
            assert np.isfinite(mapping.jvp(z, np.ones_like(z))).all()
            if alpha > 1e-300:
                assert np.isfinite(mapping.potential(z)).all()


@pytest.mark.parametrize("alpha", [1e-6, 0.3, 0.5, 0.75, 0.95])
def test_logarithms_of_probabilities_beyond_the_smallest_float(alpha):
    scores = np.array([[0.5, -1e3, -1e40, -1e200, 0.25], [1e300, 0, -1e300, 1e290, 1]])
    for row, log_p in zip(scores, Entmax(alpha).log_probabilities(scores), strict=True):
        with mp.workdps(400):
            exact = [
                float(log(p))
                for p in references._by_score(
                    dict.fromkeys(map(mpf, row), 1), mpf(alpha)
                ).values()
            ]
        assert_allclose(log_p, exact, rtol=1e-13, atol=1e-14)
    if alpha > 0.9:
        assert (Entmax(alpha)(scores) == 0).any()


def test_it_is_softmax_in_the_limit():
    scores = np.random.default_rng(0).normal(scale=3, size=(20, 6))
    for below in (1e-12, 1e-15):
        mapping, softmax = Entmax(1 - below), Softmax()
        assert_allclose(mapping(scores), softmax(scores), atol=1e-10)
        assert_allclose(mapping.potential(scores), softmax.potential(scores), 1e-10)
        logs = mapping.log_probabilities(scores)
        assert_allclose(logs, softmax.log_probabilities(scores), rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.8])
def test_tails_fall_like_a_power(alpha):
    """One class far below: p is (distance (1 - alpha))^(-1 / (1 - alpha))."""
    distance = np.array([1e6, 1e8])
    p = Entmax(alpha)(np.column_stack([np.zeros(2), -distance]))[:, 1]
    assert_allclose(p, (distance * (1 - alpha)) ** (-1 / (1 - alpha)), rtol=1e-2)
    slope = np.diff(np.log(p)) / np.diff(np.log(distance))
    assert_allclose(slope, -1 / (1 - alpha), rtol=1e-3)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75, 0.9])
def test_a_small_loss_is_as_accurate_as_a_large_one(alpha):
    for gap in (0.5, 30.0, 1e6, 1e12):
        scores = [0.0, -gap, -2 * gap]
        loss = FenchelYoungLoss(Entmax(alpha)).value([scores], [[1, 0, 0]])[0]
        with mp.workdps(60):
            exact = float(references.potential(scores, alpha))
        # Twice the rounding of a sum that exceeds one by little.
        assert loss == pytest.approx(exact, rel=1e-12, abs=1e-15 / alpha)


def test_the_loss_of_a_wrong_label_grows_like_the_score():
    """Its slope is bounded by one, as for every alpha."""
    loss = FenchelYoungLoss(Entmax(0.5))
    value, gradient = loss.value_and_gradient([[1e6, 0.0]], [[0, 1]])
    assert value[0] == pytest.approx(1e6, rel=1e-5)
    assert_allclose(gradient, [[1, -1]], atol=1e-8)
