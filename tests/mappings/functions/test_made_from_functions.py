"""Mappings made of a function of one score, and what is wrong with some functions."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.optimize import brentq
from sklearn.datasets import load_iris

from skprob import LinearClassifier
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import (
    Entmax,
    Mapping,
    NormalizedMapping,
    Softmax,
    Sparsemax,
    TaylorSoftmax,
    Temperature,
    ThresholdMapping,
    Traits,
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
        assert (
            mapping.traits.has_zeros == known.traits.has_zeros
            and mapping.traits.has_potential
        )
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


def test_numerical_slopes_of_large_arguments_and_at_the_edge_of_a_support():
    def heavy(x):
        return np.exp(2 * np.arcsinh(x))

    scores = np.array([[0.0, -1e6, -1e-3]])
    x = _arguments(heavy, scores[0])
    slopes = 2 * heavy(x) / np.hypot(1, x)
    exact = np.diag(slopes) - np.outer(slopes, slopes) / slopes.sum()
    jacobian = ThresholdMapping(heavy).jacobian(scores)[0]
    assert_allclose(jacobian, exact, rtol=1e-8)
    # One class alone has the argument 0 exactly.
    assert_array_equal(ThresholdMapping(heavy).jacobian([[3.0]]), [[[0.0]]])
    # The second class of sparsemax has a probability of 1e-7.
    jacobian = ThresholdMapping(positive).jacobian([[0.0, 2e-7 - 1]])[0]
    assert_allclose(jacobian, [[0.5, -0.5], [-0.5, 0.5]], atol=1e-9)


def test_a_function_that_only_repeats_at_some_scales_is_no_power():
    """Twice the scores give the same probabilities, and three times others."""

    def with_waves(x):
        x = np.maximum(np.abs(x), 1e-300)
        return x**2 * (1 + 0.3 * np.sin(2 * np.pi * np.log2(x)))

    mapping, scores = NormalizedMapping(with_waves), np.array([[1.0, 1.7]])
    assert_allclose(mapping(2 * scores), mapping(scores), rtol=1e-12)
    assert np.abs(mapping(3 * scores) - mapping(scores)).max() > 0.01
    assert not mapping.traits.is_scale_invariant
    assert NormalizedMapping(lambda x: x**2).traits.is_scale_invariant


def test_the_integral_of_tails():
    """Comparison with QUADPACK, which integrates over infinite ranges."""
    tails = {
        lambda x: np.exp(2 * np.arcsinh(x)): 1,
        lambda x: 1.0 / (1 + positive(-x)) ** 1.25 * (1 + positive(x)): 1,
    }
    for g in tails:
        mapping = ThresholdMapping(g)
        assert mapping.traits.has_potential
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
    assert not mapping.traits.has_potential and not mapping.traits.has_zeros
    with pytest.raises(TypeError, match="does not provide a potential"):
        mapping.potential([[1.0, 0.0]])
    given = ThresholdMapping(mapping.g, integral=lambda x: np.log(1 - np.minimum(x, 0)))
    assert not given.traits.has_potential
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
                result = getattr(mapping, product)(scores, direction)
                assert_allclose(result, expected, atol=1e-9)
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 3
    model = LinearClassifier(NormalizedMapping(taylor, derivative), tol=1e-8).fit(X, y)
    known = LinearClassifier("taylor_softmax", tol=1e-8).fit(X, y)
    assert isinstance(model.loss_, LogLoss)
    assert_allclose(model.coef_, known.coef_, atol=1e-6)


def test_both_train_in_a_classifier():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X @ np.eye(3)).argmax(axis=1)
    for name in ("softmax", "sparsemax"):
        by_function = LinearClassifier(ThresholdMapping(*KNOWN[name][1]), tol=1e-7).fit(
            X, y
        )
        known = LinearClassifier(name, tol=1e-7).fit(X, y)
        assert_allclose(by_function.coef_, known.coef_, atol=1e-6)
        assert by_function.objective_ == pytest.approx(known.objective_, abs=1e-9)


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


RNG = np.random.default_rng(0)


class Counted:
    """A function that counts its values."""

    def __init__(self, function):
        self.function, self.n_values = function, 0

    def __call__(self, x):
        self.n_values += x.size
        return self.function(x)


def algebraic(x):
    """Falls like 1 / (2 x²), and has rounding errors like those of 1."""
    return 1 + x / np.sqrt(1 + x * x)


SCORES = np.array([[1.0, 0.0, 0.5], [-1.0, -1.0, -3.0], [0.0, 2.0, -np.inf]])


def test_small_values_that_are_rounding_errors():
    mapping = ThresholdMapping(Counted(algebraic))
    assert mapping.traits.has_potential
    exact = ThresholdMapping(algebraic, integral=lambda x: x + np.sqrt(1 + x * x))
    assert_allclose(mapping.potential(SCORES), exact.potential(SCORES), atol=1e-7)
    expected = algebraic(_arguments(algebraic, SCORES[0]))
    assert_allclose(mapping(SCORES)[0], expected, atol=1e-12)
    assert mapping.g.n_values < 50_000
    X, y = load_iris(return_X_y=True)
    model = LinearClassifier(mapping).fit(X, y)
    assert isinstance(model.loss_, FenchelYoungLoss) and model.score(X, y) > 0.95


INFINITE = [
    (
        lambda x: 1 + 2 / np.pi * np.arctan(x),
        "like |x|^-1, and it must decrease faster",
    ),
    (lambda x: np.exp(np.arcsinh(x)), "like |x|^-1, and it must decrease faster"),
    (lambda x: (1 + positive(-x)) ** -0.5 + positive(x), "like |x|^-0.5, and it"),
    (lambda x: np.exp(x) + 0.25, "is 0.25, and g must tend to 0"),
    (
        lambda x: (1 + positive(x)) / (1 + positive(-x)) ** 1.1,
        "not converged at -1e+100: near -6.87e+10 g decreases like |x|^-1.1, and",
    ),
]


@pytest.mark.parametrize(("g", "why"), INFINITE)
def test_integrals_that_are_infinite(g, why):
    mapping = ThresholdMapping(Counted(g))
    assert not mapping.traits.has_potential
    expected = g(_arguments(g, SCORES[0]))
    assert_allclose(mapping(SCORES)[0], expected, atol=1e-12)
    why = re.escape(why)
    for use in (mapping.potential, lambda z: mapping.entropy(mapping(z))):
        with pytest.raises(TypeError, match=f"not provide a potential: the .*{why}"):
            use(SCORES)
    with pytest.raises(ValueError, match=f"(?s)none .the integral .*{why}.*loss='log'"):
        FenchelYoungLoss(mapping).value(SCORES, np.eye(3))
    assert mapping.g.n_values < 20_000
    X, y = load_iris(return_X_y=True)
    model = LinearClassifier(mapping, max_iter=50).fit(X, y)
    assert isinstance(model.loss_, LogLoss) and model.score(X, y) > 0.75


@pytest.mark.parametrize(
    ("g", "message"),
    [
        (lambda x: np.exp(np.float32(x)), "computed in float64, .* returned float32"),
        (
            lambda x: np.exp(np.float32(x)).astype(float),
            "The integral of g up to .* error of about .* with at most 1000000 values",
        ),
        (lambda x: np.round(np.exp(x), 6), "The integral of g up to"),
        (lambda x: np.exp(x) + 0.5, r"less than 0.333 .*; g\(-8.18e\+149\) is 0.5"),
        (lambda x: np.exp(x) - 1j, "real numbers, .* and dtype complex128"),
        (lambda x: None, "real numbers, .* it returned None"),
        (lambda x: [1.0, [2.0]], "real numbers, .* it returned a list"),
        (lambda x: x.astype(str), "real numbers, .* dtype <U"),
        (lambda x: np.exp(x[:-1]), "real numbers, in an array of the shape"),
        (lambda x: np.exp(x - x.max()), "each entry from the same entry"),
        (lambda x: RNG.random(x.shape), "at each call"),
    ],
)
def test_functions_that_cannot_be_fitted(g, message):
    """Each ends soon, with a bounded number of values, and says what was found."""
    X, y = load_iris(return_X_y=True)
    if isinstance(g, type(lambda: 0)):
        g = Counted(g)
    for use in (
        lambda: ThresholdMapping(g).potential(SCORES),
        lambda: LinearClassifier(ThresholdMapping(g)).fit(X, y),
    ):
        with pytest.raises(ValueError, match=f"(?s){message}"):
            use()
    assert getattr(g, "n_values", 0) < 2_010_000


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ({"derivative": np.zeros_like}, "derivative must be the derivative of g"),
        ({"derivative": lambda x: 2 * np.exp(x)}, "at 25 of 25 points"),
        ({"derivative": lambda x: -np.exp(x)}, "derivative must be the derivative of"),
        ({"derivative": lambda x: np.nan * x}, "derivative must be the derivative of"),
        ({"derivative": lambda x: None}, "derivative must .* it returned None"),
        ({"derivative": lambda x: np.exp(x)[..., :1]}, "derivative must return real"),
        ({"derivative": lambda x: np.exp(x) * 1j}, "derivative must .* complex128"),
        (
            {"derivative": lambda x: np.where(x < -2, np.nan, np.exp(x))},
            r"derivative must be finite .*; derivative\(-\d.* is nan",
        ),
        ({"integral": np.zeros_like}, "integral must be an antiderivative of g; from"),
        ({"integral": lambda x: 2 * np.exp(x)}, "integral must be an antiderivative"),
        ({"integral": lambda x: None}, "integral must .* it returned None"),
        ({"integral": lambda x: np.exp(x).ravel()[:1]}, "integral must return real"),
        ({"integral": lambda x: np.float32(np.exp(x))}, "integral must .* float32"),
        (
            {"integral": lambda x: np.where(x < -1e120, np.nan, np.exp(x))},
            "integral must not be NaN, .* nan at -1e.150",
        ),
        (
            {"integral": lambda x: np.where(abs(x + 5) < 0.5, np.nan, np.exp(x))},
            r"integral must be finite; integral\(-5.* is -?(inf|nan)",
        ),
    ],
)
def test_derivatives_and_integrals_of_another_function(functions, message):
    scores = [[0.0, -5.0], [0.5, 0.0]]
    mapping = ThresholdMapping(np.exp, **functions)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        FenchelYoungLoss(mapping).hessian_product(scores, np.eye(2), np.eye(2))
    X, y = load_iris(return_X_y=True)
    message = message.split(";")[0]
    with pytest.raises(ValueError, match=f"(?s){message}"):
        LinearClassifier(mapping).fit(50 * X, y)


class Power:
    """Its exponent can be changed, and it is equal to others: it has no hash."""

    def __init__(self, exponent):
        self.exponent = exponent

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __call__(self, x):
        np.maximum(x, 0, out=x)
        x **= self.exponent
        return x


def test_a_function_without_a_hash_that_changes():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Power(1))
    mapping = ThresholdMapping(Power(1))
    threshold, normalized = mapping, NormalizedMapping(mapping.g)
    scores = np.array([[0.5, 0.25, 0.125], [3.0, 0.0, 1.0]])
    for exponent in (1, 2, 0.5, 1):
        mapping.g.exponent = exponent
        # With x^(1 / (alpha - 1)), entmax of the scores over alpha - 1.
        alpha = 1 + 1 / exponent
        known = Entmax(alpha)
        assert_allclose(threshold(scores), known(scores * exponent), atol=1e-12)
        potential = known.potential(scores * exponent) / exponent
        assert_allclose(threshold.potential(scores), potential, atol=1e-9)
        assert_allclose(
            normalized(scores),
            scores**exponent / (scores**exponent).sum(axis=1, keepdims=True),
        )
    X, y = load_iris(return_X_y=True)
    model = LinearClassifier(ThresholdMapping(Power(1)), tol=1e-7).fit(X, y)
    known = LinearClassifier("sparsemax", tol=1e-7).fit(X, y)
    assert_allclose(model.coef_, known.coef_, atol=1e-6)


def test_a_function_may_return_the_same_array_each_time():
    kept = np.empty(100_000)

    def g(x):
        values = kept[: x.size].reshape(x.shape)
        return np.exp(x, out=values)

    scores, direction = rows(5)
    for mapping in (ThresholdMapping(g), ThresholdMapping(g, g, g)):
        assert_allclose(mapping(scores), Softmax()(scores), atol=1e-14)
        expected = Softmax().jvp(scores, direction)
        assert_allclose(mapping.jvp(scores, direction), expected, atol=1e-9)
        expected = Softmax().potential(scores)
        assert_allclose(mapping.potential(scores), expected, atol=1e-13)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ((np.exp, np.zeros_like), "derivative must be the derivative of f"),
        ((np.exp, lambda x: None), "derivative must return real .* None"),
        ((np.exp, lambda x: np.exp(x)[:1]), "derivative must return real numbers"),
        ((np.exp, lambda x: np.exp(x) / 0), "derivative must be finite"),
        ((lambda x: None,), "f must return real numbers, .* None"),
        ((lambda x: np.exp(x) * 1j,), "f must return real numbers, .* complex"),
        ((lambda x: np.exp(x).astype("f4"),), "f must be computed in float64"),
    ],
)
def test_what_cannot_be_divided_by_its_sum(functions, message):
    X, y = load_iris(return_X_y=True)
    mapping = NormalizedMapping(*functions)
    for use in (
        lambda: mapping.jvp([[1.0, 0.0, 0.5]], [[1.0, 0.0, 0.0]]),
        lambda: LinearClassifier(mapping).fit(X, y),
    ):
        with (
            pytest.raises(ValueError, match=f"(?s){message}"),
            np.errstate(all="ignore"),
        ):
            use()


def test_derivatives_are_compared_where_differences_are_finite():
    """The difference at the first score overflows."""
    scores, direction = [[709.779, 690.0, 680.0]], [[1.0, 0.0, 0.0]]
    with np.errstate(over="ignore"):
        product = NormalizedMapping(np.exp, np.exp).jvp(scores, direction)
        assert_allclose(product, Softmax().jvp(scores, direction), rtol=1e-6)
        mapping = NormalizedMapping(np.exp, lambda x: np.exp(x) / 2)
        with pytest.raises(ValueError, match="They differ at 2 of 2 points"):
            mapping.jvp(scores, direction)


def test_derivatives_at_kinks_are_taken_as_they_are():
    for derivative in (lambda x: np.where(x >= 0, 1.0, -1.0), np.sign):
        mapping = NormalizedMapping(lambda x: 1 + np.abs(x), derivative)
        assert mapping.jacobian(np.zeros((3, 2))).shape == (3, 2, 2)
    steps = ThresholdMapping(positive, lambda x: (x >= 0) * 1.0)
    assert_allclose(steps.jvp([[1.0, 0.0]], [[1.0, 0.0]]), [[0.0, 0.0]])


def test_where_all_scores_are_zero():
    for f, base, is_power in (
        (np.exp, 0, False),
        (lambda x: np.cosh(x) ** 4, 0, False),  # infinite at 300
        (np.square, 1, True),
        (lambda x: np.abs(x) ** 3, 1, True),
        (lambda x: positive(-x), -1, True),
        (lambda x: np.where(x > 0, x, 3 * x) ** 2, 1, True),
        (lambda x: x**2 + x**4, 1, False),
        (lambda x: x**2 * (2 + np.sin(np.log(x**2 + 1e-300))), 1, False),
    ):
        mapping = NormalizedMapping(f)
        assert (
            mapping.traits.base_score == base
            and mapping.traits.is_scale_invariant == is_power
        )
        at_half = Temperature(mapping, 0.5)
        assert at_half.traits.base_score == base / 2
        assert at_half.traits.is_scale_invariant == is_power
        p = at_half(np.full((1, 3), at_half.traits.base_score))
        assert_allclose(p, 1 / 3)


def test_a_kernel_that_is_not_shift_invariant_is_caught_at_first_use():
    class Squares(Mapping):
        def probabilities(self, scores):
            weight = 1 + scores**2
            return weight / weight.sum(axis=1, keepdims=True)

    scores = [[1.0, 2.0, 0.0]]
    message = r"Squares.* shift invariant.*Traits\(is_shift_invariant=False\)"
    for use in (
        lambda: Squares()(scores),
        lambda: Squares().jvp(scores, scores),
        lambda: LinearClassifier(Squares()).fit(np.eye(3), [0, 1, 2]),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    Squares.traits = Traits(is_shift_invariant=False)
    assert_allclose(Squares()(scores), [[0.25, 0.625, 0.125]])


def test_a_kernel_may_rely_on_a_largest_score_of_zero():
    class Strict(Mapping):
        def probabilities(self, scores):
            if (scores.max(axis=1) != 0).any():
                raise ValueError("the largest is to be zero")
            return Softmax().probabilities(scores)

    assert_allclose(Strict()([[5.0, 5.0]]), [[0.5, 0.5]])
