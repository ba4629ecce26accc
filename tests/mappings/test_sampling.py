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
    for row, drawn in zip(np.asarray(p), classes, strict=True):
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


class Extreme(np.random.RandomState):
    """Always the least or the largest number of [0, 1)."""

    def __init__(self, is_least):
        super().__init__(0)
        self.number = 0.0 if is_least else np.nextafter(1, 0)

    def random_sample(self, size=None):
        return np.full(size, self.number)


@pytest.mark.parametrize("n_rows", [2, 200])
def test_a_class_of_probability_zero_is_never_drawn(n_rows):
    scores = np.random.default_rng(0).normal(scale=0.3, size=(n_rows, 6))
    scores[:, [0, 5]] = -9
    p = Sparsemax()(scores)
    # Sums of rows are less than one, one, and more than one.
    assert n_rows == 2 or len(np.unique(np.sign(p.sum(axis=1) - 1))) == 3
    first, last = (p > 0).argmax(axis=1), 5 - (p > 0)[:, ::-1].argmax(axis=1)
    for is_least, expected in ((True, first), (False, last)):
        drawn = Sparsemax().sample(scores, size=3, random_state=Extreme(is_least))
        assert_array_equal(drawn, np.repeat(expected[:, None], 3, axis=1))


def test_draws_of_different_rows_are_independent():
    """Two equal rows: each pair of classes has the product of their probabilities."""
    z = np.tile([[0.5, 0.0, -0.5]], (2, 1))
    p = Softmax()(z)[0]
    given = {"size": N_DRAWS, "random_state": 0}
    for classes in (
        Softmax().sample(z, **given),
        Softmax().relaxed_sample(z, 0.5, **given).argmax(axis=2),
        gumbel_max(z, **given),
        gumbel_softmax(z, 0.5, **given).argmax(axis=2),
    ):
        pairs = 3 * classes[0] + classes[1]
        assert_drawn_from([np.outer(p, p).ravel()], [pairs])
    drawn = Sigmoid().sample([[0.0], [0.0]], **given)[:, :, 0]
    relaxed = Sigmoid().relaxed_sample([[0.0], [0.0]], 0.5, **given)[:, :, 0] > 0.5
    for first, second in (drawn, relaxed):
        assert_drawn_from([[0.25] * 4], [2 * first + second])


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
def test_malformed_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
