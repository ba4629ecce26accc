"""Mappings made of any function end, after a bounded number of its values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from skprob import LinearClassifier
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import NormalizedMapping, ThresholdMapping

# For the integral, and for all else: searches of thresholds, checks, differences.
MOST_OF_THE_INTEGRAL, MOST_OF_OTHERS, MOST_CALLS = 1_000_000, 60_000, 4000
SCORES = np.array([[0.3, 0.0, -1.2], [2.0, -3.0, -np.inf], [0.0, 0.0, 0.0]])
TARGET = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


def positive(x):
    return np.maximum(x, 0)


def by_logarithm(x):
    return np.where(x < 0, 1 / np.log(np.e - np.minimum(x, 0)), 1 + x)


#: Increasing functions of all kinds of tails, most of which become 1 about 0.
SMOOTH = {
    "exp": np.exp,
    "tanh": lambda x: 1 + np.tanh(x),
    "arctan": lambda x: 1 + 2 / np.pi * np.arctan(x),
    "algebraic": lambda x: 1 + x / np.sqrt(1 + x * x),
    "softplus": lambda x: np.logaddexp(0, x),
    "logarithm": by_logarithm,
    "identity": positive,
    "linear": lambda x: x,
    "bump": lambda x: np.exp(-x * x),
    "zero": np.zeros_like,
    "one": np.ones_like,
    "cube": lambda x: x**3,
    "double exponential": lambda x: np.exp(-np.exp(-x)) * (1 + positive(x)),
}
for power in (0.3, 1.0, 1.1, 2.5):
    SMOOTH[f"power {power}"] = lambda x, power=power: (
        (1 + positive(-x)) ** -power + positive(x)
    )
    SMOOTH[f"support {power}"] = lambda x, power=power: positive(x) ** power

#: Changes of the values of a function.
ROUGH = {
    "as they are": lambda x, values: values,
    "in single precision": lambda x, values: np.float32(values),
    "rounded as in single precision": lambda x, values: np.float32(values).astype(
        float
    ),
    "rounded to digits": lambda x, values: np.round(values, 7),
    "in steps": lambda x, values: np.floor(50 * values) / 50,
    "with a wave": lambda x, values: values * (1 + 1e-7 * np.sin(1e5 * x)),
    "with many kinks": lambda x, values: values + 1e-6 * np.abs(np.sin(300 * x)),
    "raised": lambda x, values: values + 0.3,
    "cut": lambda x, values: np.where(values < 0.2, 0, values),
    "infinite above": lambda x, values: np.where(values > 2, np.inf, values),
    "NaN far below": lambda x, values: np.where(x < -1e9, np.nan, values),
    "complex": lambda x, values: values + 0j,
}


class Counted:
    """A function, scaled and moved, that counts its values and its calls."""

    def __init__(self, smooth, rough, scale, shift):
        self.smooth, self.rough = SMOOTH[smooth], ROUGH[rough]
        self.scale, self.shift = scale, shift
        self.reset()

    def reset(self):
        self.n_values = self.n_calls = 0

    def __call__(self, x):
        self.n_values += x.size
        self.n_calls += 1
        with np.errstate(all="ignore"):
            x = (x - self.shift) / self.scale
            return self.rough(x, self.smooth(x))


functions = st.builds(
    Counted,
    st.sampled_from(sorted(SMOOTH)),
    st.sampled_from(sorted(ROUGH)),
    st.sampled_from([1e-4, 0.3, 1.0, 20.0, 1e5]),
    st.sampled_from([-300.0, 0.0, 0.5, 1e4]),
)


def assert_bounded(g, most):
    assert g.n_values <= most and g.n_calls <= MOST_CALLS
    g.reset()


@settings(max_examples=settings().max_examples // 2)
@given(g=functions)
def test_a_threshold_is_found_or_an_error_says_why_not(g):
    mapping = ThresholdMapping(g)
    try:
        p = mapping(SCORES)
    except ValueError as error:
        assert "g must" in str(error)
        p = None
    assert_bounded(g, MOST_OF_OTHERS)
    for use in (mapping.potential, lambda z: mapping.entropy(TARGET)):
        try:
            assert np.isfinite(use(SCORES)).all()
        except (TypeError, ValueError) as error:
            assert " g " in f" {error}"
        assert_bounded(g, MOST_OF_THE_INTEGRAL + MOST_OF_OTHERS)
    for loss in (FenchelYoungLoss(mapping), LogLoss(mapping)):
        try:
            value, gradient = loss.value_and_gradient(SCORES, TARGET)
            assert np.isfinite(gradient).all() and not np.isnan(value).any()
        except ValueError as error:
            assert " g " in f" {error}"
        assert_bounded(g, MOST_OF_THE_INTEGRAL + MOST_OF_OTHERS)
    if p is not None:
        assert_allclose(p.sum(axis=1), 1)
        assert_allclose(p[0], by_bisection(g, SCORES[0]), atol=1e-5)


def by_bisection(g, z):
    """Probabilities of a row: an independent search of the threshold."""

    def excess(threshold):
        with np.errstate(all="ignore"):
            return min(g(z - threshold).sum(), 1e6) - 1

    low, high = z.max() - 1.0, z.max() + 1.0
    while excess(low) < 0:
        low -= 2 * (z.max() + 1 - low)
    while excess(high) > 0:
        high += 2 * (high - z.max() + 1)
    return g(z - brentq(excess, low, high, xtol=1e-15, rtol=1e-15))


@settings(max_examples=settings().max_examples // 2)
@given(f=functions)
def test_a_sum_is_computed_or_an_error_says_why_not(f):
    mapping = NormalizedMapping(f)
    for use in (
        lambda: mapping(SCORES).sum(axis=1),
        lambda: LogLoss(mapping).value_and_gradient(SCORES, TARGET)[1],
        lambda: mapping.traits.base_score,
    ):
        try:
            assert np.isfinite(use()).all()
        except ValueError as error:
            assert "f must" in str(error) or "sum of f" in str(error)
        assert_bounded(f, 1000)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", [ThresholdMapping, NormalizedMapping])
@pytest.mark.parametrize("rough", ROUGH)
def test_fits_end(make, rough):
    rng = np.random.default_rng(0)
    smooth = ("exp", "arctan", "algebraic", "power 1.1")[list(ROUGH).index(rough) % 4]
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    g = Counted(smooth, rough, 1.0, 0.0)
    model = LinearClassifier(make(g), max_iter=20)
    try:
        model.fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
    except ValueError as error:
        assert "must" in str(error) or "sum of f" in str(error)
    # Each evaluation of the loss takes at most some thousand values for each score.
    assert g.n_values <= 2 * MOST_OF_THE_INTEGRAL + 20 * MOST_OF_OTHERS
