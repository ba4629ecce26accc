"""Numbers of every type as parameters."""

from fractions import Fraction

import numpy as np
import pytest

from skprob import EntmaxClassifier, SigmoidClassifier, SoftmaxClassifier
from skprob._utils.checks import RealInterval
from skprob.losses import LogLoss, MarginLoss
from skprob.mappings import gumbel_softmax
from skprob.metrics import kullback_leibler_divergence

X = np.array([[0.0], [1.0], [2.0], [3.0]])
y = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    "half", [0.5, np.float32(0.5), np.float16(0.5), np.longdouble(0.5), Fraction(1, 2)]
)
def test_numbers_of_any_type_are_allowed(half):
    """Comparing a small float type with the largest double overflowed."""
    assert RealInterval(0, 1, closed="neither").is_satisfied_by(half)
    assert not RealInterval(0.5, None, closed="neither").is_satisfied_by(half)
    model = EntmaxClassifier(alpha=half, C=half).fit(X, y)
    expected = EntmaxClassifier(alpha=0.5, C=0.5).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)


@pytest.mark.parametrize(
    "value", [np.nan, -np.inf, 10**400, Fraction(10**400), np.float32(np.nan), 0, "1"]
)
def test_numbers_that_no_double_can_represent_are_refused(value):
    assert not RealInterval(0, None, closed="right").is_satisfied_by(value)


def test_infinity_is_allowed_where_the_interval_contains_it():
    for infinity in (np.inf, np.float32(np.inf), np.longdouble(np.inf)):
        assert RealInterval(0, None, closed="right").is_satisfied_by(infinity)
        assert not RealInterval(0, None, closed="left").is_satisfied_by(infinity)


@pytest.mark.skipif(
    np.finfo(np.longdouble).max == np.finfo(np.float64).max,
    reason="a long double is a double",
)
def test_a_long_double_larger_than_all_doubles_is_refused():
    value = np.longdouble("1e400")
    assert not RealInterval(0, None, closed="right").is_satisfied_by(value)


def test_fractions_are_computed_with_as_floats():
    half = Fraction(1, 2)
    for name in ("margin", "label_smoothing", "temperature", "l1_ratio"):
        model, expected = (
            SoftmaxClassifier(**{name: value}).fit(X, y) for value in (half, 0.5)
        )
        np.testing.assert_array_equal(model.coef_, expected.coef_)
    smoothed = [LogLoss("sparsemax", epsilon=value) for value in (half, 0.5)]
    margins = [MarginLoss(LogLoss("softmax"), value) for value in (half, 0.5)]
    for loss_of_half, expected in (smoothed, margins):
        values = [
            loss.value([[1.0, 0.0]], [[0, 1]]) for loss in (loss_of_half, expected)
        ]
        np.testing.assert_array_equal(*values)
    p = np.array([[0.0, 1.0], [0.5, 0.5]])
    divergences = [
        kullback_leibler_divergence(p, p[::-1], epsilon=value) for value in (half, 0.5)
    ]
    assert divergences[0] == divergences[1]
    draws = [gumbel_softmax(p, value, random_state=0) for value in (half, 0.5)]
    np.testing.assert_array_equal(*draws)


def test_an_automatic_C_that_overflows_is_refused_without_a_warning():
    for alpha in (1e3, 1e300):
        with pytest.raises(ValueError, match="C must be a number for FenchelYoungLoss"):
            SigmoidClassifier(alpha=alpha).fit(X, [0, 1, 2, 2])
