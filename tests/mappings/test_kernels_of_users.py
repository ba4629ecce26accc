"""Kernels of a user's mapping that return wrong results get an error that says so."""

import numpy as np
import pytest

from skprob import LinearClassifier
from skprob.mappings import Linearization, Mapping, Traits

SCORES = [[1.0, 0.0, -2.0], [0.0, 0.5, 3.0]]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.argmax(X[:, :3] + RNG.gumbel(size=(60, 3)), axis=1)


def softmax(scores):
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


def jacobian_product(scores):
    p = softmax(scores)
    return lambda d: p * (d - (p * d).sum(axis=1, keepdims=True))


class Good(Mapping):
    """Softmax with all kernels; tests replace one of them."""

    traits = Traits(has_potential=True)

    def probabilities(self, scores):
        return softmax(scores)

    def probabilities_and_potential(self, scores):
        return softmax(scores), np.log(np.exp(scores).sum(axis=1))

    def negative_entropy(self, probabilities):
        safe = np.where(probabilities > 0, probabilities, 1)
        return (probabilities * np.log(safe)).sum(axis=1)

    def linearize(self, scores):
        product = jacobian_product(scores)
        return Linearization(softmax(scores), product, product)


def with_kernel(name, kernel):
    return type("Changed", (Good,), {name: kernel})()


def test_good_kernels_are_accepted():
    expected = LinearClassifier("softmax", tol=1e-8).fit(X, Y)
    for loss in ("auto", "log"):
        model = LinearClassifier(Good(), loss=loss, tol=1e-8).fit(X, Y)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)


BAD_PROBABILITIES = {
    "None": (lambda z: None, "gave a NoneType"),
    "list": (lambda z: softmax(z).tolist(), "gave a list"),
    "text": (lambda z: softmax(z).astype(str), "of dtype <U32"),
    "complex": (lambda z: softmax(z) + 0j, "of dtype complex128"),
    "too few columns": (lambda z: softmax(z)[:, :2], r"gave \(\d+, 2\)"),
    "one column": (lambda z: softmax(z)[:, 0], r"gave \(\d+,\)"),
    "NaN": (lambda z: np.nan * softmax(z), "the least entry nan"),
    "negative": (lambda z: softmax(z) - 0.1, "sums that are off by 0.3"),
    "other sum": (lambda z: 2 * softmax(z), "sums that are off by 1"),
    "not standard": (lambda z: np.maximum(z, 0), "largest score of each row is zero"),
}


@pytest.mark.parametrize(
    ("kernel", "message"), BAD_PROBABILITIES.values(), ids=BAD_PROBABILITIES
)
def test_probabilities(kernel, message):
    mapping = with_kernel("probabilities", lambda self, scores: kernel(scores))
    for use in (
        lambda: mapping(SCORES),
        lambda: LinearClassifier(mapping, loss="log").fit(X, Y),
    ):
        with pytest.raises(ValueError, match=f"The mapping must give .*{message}"):
            use()


def test_probabilities_depend_on_one_row():
    mapping = with_kernel(
        "probabilities", lambda self, scores: softmax(scores - scores.mean(axis=0))
    )
    with pytest.raises(ValueError, match="do not depend on other rows; with Changed"):
        LinearClassifier(mapping, loss="log").fit(X, Y)


def linearization(probabilities=softmax, jvp=None, vjp=None):
    def linearize(self, scores):
        product = jacobian_product(scores)
        return Linearization(probabilities(scores), jvp or product, vjp or product)

    return linearize


BAD_LINEARIZATIONS = {
    "None": (lambda self, scores: None, "Linearization; it returned a NoneType", True),
    "tuple": (lambda self, z: (softmax(z),), "it returned a tuple", True),
    "narrow": (linearization(jvp=lambda d: d[:, :2]), r"gave \(\d+, 2\)", True),
    "NaN": (linearization(jvp=lambda d: np.nan * d), "product .* gave NaN", True),
    "zero": (linearization(jvp=lambda d: 0 * d), "jvp .* must agree with diff", False),
    "transpose": (linearization(vjp=lambda d: d), "vjp .* agree with its jvp", False),
    "other": (
        linearization(probabilities=lambda z: np.full(z.shape, 1 / 3)),
        "must have the probabilities of its method probabilities; they differ",
        False,
    ),
}


@pytest.mark.parametrize(
    ("kernel", "message", "in_a_call"),
    BAD_LINEARIZATIONS.values(),
    ids=BAD_LINEARIZATIONS,
)
def test_linearizations(kernel, message, in_a_call):
    mapping = with_kernel("linearize", kernel)
    for loss in ("auto", "log"):
        with pytest.raises(ValueError, match=message):
            LinearClassifier(mapping, loss=loss).fit(X, Y)
    if in_a_call:
        for use in (mapping.jacobian, lambda scores: mapping.jvp(scores, SCORES)):
            with pytest.raises(ValueError, match=message):
                use(SCORES)


def potential(change):
    return lambda self, z: change(softmax(z), np.log(np.exp(z).sum(axis=1)))


BAD_POTENTIALS = {
    "None": (potential(lambda p, value: None), "a pair: .* a NoneType", True),
    "alone": (potential(lambda p, value: value), "a pair: .* a ndarray", True),
    "matrix": (potential(lambda p, value: (p, p)), r"gave \(\d+, 3\)", True),
    "NaN": (potential(lambda p, value: (p, np.nan * value)), "gave NaN", True),
    "twice": (potential(lambda p, v: (p, 2 * v)), "must be its gradient", False),
    "shifted": (potential(lambda p, v: (p, v + 1)), "score plus the entropy", False),
}


@pytest.mark.parametrize(
    ("kernel", "message", "in_a_call"), BAD_POTENTIALS.values(), ids=BAD_POTENTIALS
)
def test_potentials(kernel, message, in_a_call):
    mapping = with_kernel("probabilities_and_potential", kernel)
    with pytest.raises(ValueError, match=message):
        LinearClassifier(mapping).fit(X, Y)
    if in_a_call:
        with pytest.raises(ValueError, match=message):
            mapping.potential(SCORES)


@pytest.mark.parametrize(
    ("entropy", "message"),
    [
        (lambda p: None, "an entropy .* gave a NoneType"),
        (lambda p: p, r"an entropy .* gave \(\d+, 3\)"),
        (lambda p: np.nan * p[:, 0], "an entropy .* gave NaN"),
    ],
)
def test_entropies(entropy, message):
    mapping = with_kernel("negative_entropy", lambda self, p: entropy(p))
    with pytest.raises(ValueError, match=message):
        LinearClassifier(mapping).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        mapping.entropy(softmax(np.array(SCORES)))


def test_traits():
    with pytest.raises(ValueError, match=r"polytope must be .*; got 'sphere'"):
        Traits(polytope="sphere")
    for traits in ({}, None, Traits):
        with pytest.raises(TypeError, match="traits of Changed must be an object"):
            with_kernel("traits", traits)


class Prior(Mapping):
    """Softmax with a prior of each class, so that it needs as many classes."""

    def __init__(self, prior):
        self.prior = prior

    def probabilities(self, scores):
        return softmax(scores + np.log(self.prior))


def test_a_mapping_with_a_parameter_for_each_class():
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(Prior(prior)(np.zeros((1, 4))), [prior])
    y = Y.copy()
    y[::4] = 3
    model = LinearClassifier(Prior(prior), tol=1e-8, fit_intercept=False)
    model.fit(X, y)
    offset = np.tile(np.log(prior), (60, 1))
    expected = LinearClassifier("softmax", tol=1e-8, fit_intercept=False)
    expected.fit(X, y, offset=offset)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)
