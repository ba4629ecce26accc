"""Mappings made of a function of one score, and what is wrong with some functions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq

from skprob import LinearClassifier
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import (
    Entmax,
    Mapping,
    NormalizedMapping,
    Softmax,
    Sparsemax,
    TaylorSoftmax,
    ThresholdMapping,
)


def positive(x):
    return np.maximum(x, 0)


KNOWN = {
    "softmax": (Softmax(), (np.exp, np.exp, np.exp)),
    "sparsemax": (
        Sparsemax(),
        (positive, lambda x: (x > 0) * 1.0, lambda x: positive(x) ** 2 / 2 - 7),
    ),
    "entmax": (
        Entmax(),
        (
            lambda x: positive(x / 2) ** 2,
            lambda x: positive(x / 2),
            lambda x: positive(x / 2) ** 3 * (2 / 3),
        ),
    ),
}


def rows(n_classes, n_samples=60):
    rng = np.random.default_rng(n_classes)
    scores = rng.standard_normal((n_samples, n_classes))
    scores *= np.geomspace(0.05, 20, n_samples)[:, None]
    scores[::7, 0] = -np.inf
    return scores, rng.standard_normal(scores.shape)


@pytest.mark.parametrize("name", KNOWN)
def test_known_mappings_in_one_line(name):
    known, functions = KNOWN[name]
    for n_given in (1, 2, 3):
        mapping = ThresholdMapping(*functions[:n_given])
        assert mapping.has_zeros == known.has_zeros and mapping.has_potential
        for n_classes in (2, 5, 100):
            scores, direction = rows(n_classes)
            p = known(scores)
            assert_allclose(mapping(scores), p, rtol=0, atol=2e-15)
            potential = known.potential(scores)
            assert_allclose(mapping.potential(scores), potential, atol=1e-13)
            assert_allclose(mapping.entropy(p), known.entropy(p), atol=1e-13)
            off = 1e-9 if n_given == 1 else 1e-14
            product = known.jvp(scores, direction)
            assert_allclose(mapping.jvp(scores, direction), product, atol=off)
        q = np.eye(100)[np.arange(len(scores)) % 5 + 1]
        ours, theirs = (FenchelYoungLoss(m).value(scores, q) for m in (mapping, known))
        assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)


def test_the_integral_of_tails():
    """Against QUADPACK, which knows infinite ranges."""
    tails = {
        lambda x: np.exp(2 * np.arcsinh(x)): 1,
        lambda x: 1.0 / (1 + positive(-x)) ** 1.25 * (1 + positive(x)): 1,
    }
    for g in tails:
        mapping = ThresholdMapping(g)
        assert mapping.has_potential
        # F(z) - F(0), with two thresholds, is a difference of integrals.
        scores = np.array([[2.0, -3.0, 0.0], [0.0, 0.0, 0.0]])
        potential = mapping.potential(scores)
        x = [_arguments(g, row) for row in scores]
        difference = sum(
            quad(g, low, high, epsabs=1e-14, epsrel=1e-13)[0]
            for low, high in zip(x[1], x[0], strict=True)
        )
        difference += (scores[0] - x[0])[0] - (scores[1] - x[1])[0]
        assert np.diff(potential)[0] == pytest.approx(-difference, abs=1e-9)


def _arguments(g, row):
    lam = brentq(
        lambda t: g(row - t).sum() - 1, row.max() - 5, row.max() + 50, xtol=1e-14
    )
    return row - lam


def test_without_an_integral_there_is_no_potential():
    """The tails of this one fall like 1/x: what the others take has no end."""
    mapping = ThresholdMapping(lambda x: np.exp(np.arcsinh(x)))
    assert not mapping.has_potential and not mapping.has_zeros
    with pytest.raises(TypeError, match="does not provide a potential"):
        mapping.potential([[1.0, 0.0]])
    given = ThresholdMapping(mapping.g, integral=lambda x: np.log(1 - np.minimum(x, 0)))
    assert not given.has_potential
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]
    assert isinstance(LinearClassifier(mapping).fit(X, y).loss_, LogLoss)


def test_division_by_the_sum():
    taylor, derivative = (lambda x: 1 + x + x**2 / 2), (lambda x: 1 + x)
    for n_classes in (2, 5):
        scores, direction = rows(n_classes)
        known = TaylorSoftmax()
        for mapping in (
            NormalizedMapping(taylor, derivative),
            NormalizedMapping(taylor),
        ):
            assert_allclose(mapping(scores), known(scores), rtol=1e-13)
            for product in ("jvp", "vjp"):
                expected = getattr(known, product)(scores, direction)
                found = getattr(mapping, product)(scores, direction)
                assert_allclose(found, expected, atol=1e-9)
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 3
    model = LinearClassifier(NormalizedMapping(taylor, derivative), tol=1e-8).fit(X, y)
    known = LinearClassifier("taylor_softmax", tol=1e-8).fit(X, y)
    assert isinstance(model.loss_, LogLoss)
    assert_allclose(model.coef_, known.coef_, atol=1e-6)


def test_both_train_in_a_classifier():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X @ np.eye(3)).argmax(axis=1)
    for name in ("softmax", "sparsemax"):
        own = LinearClassifier(ThresholdMapping(*KNOWN[name][1]), tol=1e-7).fit(X, y)
        known = LinearClassifier(name, tol=1e-7).fit(X, y)
        assert_allclose(own.coef_, known.coef_, atol=1e-6)
        assert own.objective_ == pytest.approx(known.objective_, abs=1e-9)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (ThresholdMapping(lambda x: -x), "g must not be negative or NaN"),
        (ThresholdMapping(lambda x: np.exp(-x)), "g must become less than 1"),
        (ThresholdMapping(lambda x: 0.5 + 0 * x), "g must become 1 or more"),
        (ThresholdMapping(lambda x: np.exp(x) + 0.5), "g must become less than 0.333"),
        (ThresholdMapping(lambda x: np.exp(x) * (2 + np.sin(9 * x))), "increasing"),
        (ThresholdMapping(lambda x: (x > 0) * 1.0 + (x > 9)), "g must be continuous"),
        (ThresholdMapping(lambda x: x.ravel()), "array of the shape"),
        (ThresholdMapping("exp"), "'g' parameter of ThresholdMapping"),
        (NormalizedMapping(np.exp), r"f must be finite .* f\(1000\) is inf"),
        (NormalizedMapping(positive), "row 1 it is 0"),
        (NormalizedMapping(lambda x: x), "f must be finite and not negative"),
        (NormalizedMapping(lambda x: x[..., :1]), "array of the shape"),
    ],
)
def test_functions_that_make_no_mapping(mapping, message):
    with pytest.raises(ValueError, match=message):
        mapping([[1.0, 0.0, 0.5], [-1.0, -1.0, -3.0], [1000.0, 0.0, 0.0]])


def test_a_kernel_that_is_not_shift_invariant_is_caught_at_first_use():
    class Squares(Mapping):
        def probabilities(self, scores):
            weight = 1 + scores**2
            return weight / weight.sum(axis=1, keepdims=True)

    scores = [[1.0, 2.0, 0.0]]
    message = "Squares.* shift invariant.* is_shift_invariant = False"
    for use in (
        lambda: Squares()(scores),
        lambda: Squares().jvp(scores, scores),
        lambda: LinearClassifier(Squares()).fit(np.eye(3), [0, 1, 2]),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    Squares.is_shift_invariant = False
    assert_allclose(Squares()(scores), [[0.25, 0.625, 0.125]])


def test_a_kernel_may_rely_on_a_largest_score_of_zero():
    class Strict(Mapping):
        def probabilities(self, scores):
            if (scores.max(axis=1) != 0).any():
                raise ValueError("the largest is to be zero")
            return Softmax().probabilities(scores)

    assert_allclose(Strict()([[5.0, 5.0]]), [[0.5, 0.5]])
