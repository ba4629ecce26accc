"""Draws have the probabilities that a mapping gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from skprob.mappings import Sigmoid, Softmax, Sparsemax, gumbel_max, gumbel_softmax

from .all_mappings import each

SCORES = np.array([[1.0, 0.5, -np.inf, 0.25, -0.5], [0.0, -9.0, 0.25, 0.0, 0.0]])
N_DRAWS = 20_000


def assert_drawn_from(p, classes):
    """By a chi-squared test, of which one in a million would fail by chance."""
    for row, drawn in zip(p, classes, strict=True):
        counts = np.bincount(drawn, minlength=len(row))
        possible = row > 0
        assert counts[~possible].sum() == 0
        expected = row[possible] * len(drawn)
        # Classes that are hardly ever drawn make one.
        rare = expected < 20
        counts, expected = (
            np.append(a[~rare], a[rare].sum()) for a in (counts[possible], expected)
        )
        terms = (counts - expected) ** 2 / np.maximum(expected, 1)
        assert terms.sum() <= chi2.isf(1e-6, max(len(terms) - 1, 1))


@each()
def test_every_mapping(mapping):
    p = mapping(SCORES)
    drawn = mapping.sample(SCORES, size=N_DRAWS, random_state=0)
    relaxed = mapping.relaxed_sample(SCORES, 0.5, size=N_DRAWS // 4, random_state=1)
    assert relaxed.shape == (2, N_DRAWS // 4, 5)
    if mapping.traits.polytope == "cube":
        assert drawn.shape == (2, N_DRAWS, 5)
        for draws in (drawn, (relaxed > 0.5) * 1):
            error = 5.5 * np.sqrt(p * (1 - p) / draws.shape[1])
            assert (np.abs(draws.mean(axis=1) - p) <= error).all()
        return
    assert_drawn_from(p, drawn)
    assert_drawn_from(p, relaxed.argmax(axis=2))
    assert_allclose(relaxed.sum(axis=2), 1, rtol=1e-14)
    assert (relaxed[np.broadcast_to((p == 0)[:, None], relaxed.shape)] == 0).all()
    # Row by row and draw by draw, in one way or the other.
    many = np.repeat(SCORES, 3000, axis=0)
    drawn = mapping.sample(many, size=2, random_state=2).reshape(2, -1)
    assert_drawn_from(p, drawn)
    assert mapping.sample(many, random_state=3).shape == (6000,)


def test_gumbel():
    p = Softmax()(SCORES)
    assert_drawn_from(p, gumbel_max(SCORES, size=N_DRAWS, random_state=0))
    for temperature in (1e-300, 0.3, 5.0):
        given = {"size": 50, "random_state": 4}
        rows = gumbel_softmax(SCORES, temperature, **given)
        assert_array_equal(rows.argmax(axis=2), gumbel_max(SCORES, **given))
        assert_allclose(rows.sum(axis=2), 1, rtol=1e-14)
        assert (rows[0, :, 2] == 0).all()
    assert_array_equal(np.sort(gumbel_softmax(SCORES, 1e-300), axis=1)[:, -1], 1)
    rows = gumbel_softmax(SCORES.astype(np.float32), random_state=5)
    assert rows.shape == SCORES.shape and rows.dtype == np.float32
    assert gumbel_max(SCORES, random_state=5).shape == (2,)


def test_density_of_the_relaxed_sample_of_two_classes():
    """Its log-odds are (z + logistic) / tau (Maddison and others, equation 6)."""
    rows = gumbel_softmax([[0.75, 0.0]], 0.5, size=N_DRAWS, random_state=0)[0]
    logistic = 0.5 * np.log(rows[:, 0] / rows[:, 1]) - 0.75
    shares = np.histogram(1 / (1 + np.exp(-logistic)), bins=20, range=(0, 1))[0]
    expected = N_DRAWS / 20
    assert np.sum((shares - expected) ** 2 / expected) <= chi2.isf(1e-6, 19)


def test_the_random_state():
    scores = np.zeros((3, 4))
    first, again, other = (
        Sparsemax().sample(scores, size=50, random_state=s) for s in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Softmax().sample([[1.0, np.nan]]), "row 0 holds NaN"),
        (lambda: Softmax().sample(SCORES, size=0), "'size' parameter of sample"),
        (lambda: Softmax().sample(SCORES, size=1.5), "'size' parameter of sample"),
        (lambda: Softmax().sample(SCORES, random_state="a"), "'random_state' param"),
        (lambda: Sigmoid().relaxed_sample(SCORES, 0), "'temperature' parameter"),
        (lambda: gumbel_max([[-np.inf]]), "row 0 holds nothing but -inf"),
        (lambda: gumbel_softmax(SCORES, -1.0), "'temperature' parameter of gumbel_s"),
        (lambda: gumbel_softmax([1.0]), "scores must have shape"),
    ],
)
def test_malformed_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
