"""Defaults and errors of a mapping that defines only some of the kernels."""

import numpy as np
import pytest

from skprob.losses import LogLoss, MarginLoss, get_loss
from skprob.mappings import (
    MAPPINGS,
    Mapping,
    NormalizedMapping,
    Softmax,
    Temperature,
    Traits,
    get_mapping,
)


class Shares(Mapping):
    """Probabilities in proportion to positive scores, and nothing more."""

    traits = Traits(is_shift_invariant=False)

    def probabilities(self, scores):
        return scores / scores.sum(axis=1, keepdims=True)


def test_probabilities_are_enough_for_a_call():
    np.testing.assert_array_equal(Shares()([[1, 3]]), [[0.25, 0.75]])


def test_derivatives_are_numerical_unless_provided():
    # The derivative of z_i / S in z_j is (1 if i is j else 0) / S - z_i / S^2.
    expected = [[[3 / 16, -1 / 16], [-3 / 16, 1 / 16]]]
    np.testing.assert_allclose(Shares().jacobian([[1, 3]]), expected, rtol=1e-7)


def test_second_derivatives_are_numerical_too():
    """The Hessian of log p_t for softmax is p pᵀ - diag(p), for every t."""

    class OnlyValues(Mapping):
        def probabilities(self, scores):
            return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)

    rng = np.random.default_rng(0)
    scores, direction = rng.normal(size=(2, 5, 3))
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = p * direction - p * (p * direction).sum(axis=1, keepdims=True)
    labels = np.eye(3)[[0, 1, 2, 0, 1]]
    product = LogLoss(OnlyValues()).hessian_product(scores, labels, direction)
    np.testing.assert_allclose(product, expected, atol=1e-4)


def test_numerical_derivatives_with_a_class_that_is_not_available():
    class OnlyValues(Mapping):
        def probabilities(self, scores):
            return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)

    # The first column has only available classes, the others one that is not.
    scores = np.array([[1.0, -np.inf, 0.5], [0.0, 1.0, -np.inf]])
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = np.einsum("ni,ij->nij", p, np.eye(3)) - p[:, :, None] * p[:, None]
    np.testing.assert_allclose(OnlyValues().jacobian(scores), expected, atol=1e-9)


def test_numerical_derivatives_of_a_kernel_that_relies_on_a_largest_score_of_zero():
    class Strict(Mapping):
        def probabilities(self, scores):
            # Elsewhere not those of softmax.
            p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
            return p ** (1 + scores.max(axis=1, keepdims=True))

    p = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    exact = np.einsum("ni,ij->nij", p, np.eye(3)) - p[:, :, None] * p[:, None]
    np.testing.assert_allclose(Strict().jacobian(np.log(p)), exact, atol=1e-8)


@pytest.mark.parametrize(
    ("method", "kernel"),
    [
        ("potential", "probabilities_and_potential"),
        ("entropy", "negative_entropy"),
    ],
)
def test_what_is_missing_is_named(method, kernel):
    p = np.array([[0.25, 0.75]])
    with pytest.raises(TypeError, match=f"Shares does not provide .* define {kernel}"):
        getattr(Shares(), method)(p)


def test_a_mapping_without_probabilities():
    with pytest.raises(TypeError, match=r"Mapping .* method '?probabilities"):
        Mapping()


def test_names():
    for name, mapping in MAPPINGS.items():
        assert type(get_mapping(name)) is mapping
    softmax = Softmax()
    assert get_mapping(softmax) is softmax


def test_a_trait_beside_the_traits_is_an_error():
    with pytest.raises(TypeError, match=r"has_zeros is .* `traits = Traits\(has_zeros"):

        class Wrong(Shares):
            has_zeros = True


def test_a_wrapper_has_the_traits_of_what_it_wraps():
    """The exception are the traits that it changes."""
    for name in MAPPINGS:
        inner = get_mapping(name)
        assert Temperature(inner, 2.0).traits == inner.traits
        loss = get_loss("auto", inner)
        changed = loss.traits.but(has_proximal_step=False)
        assert MarginLoss(loss, 0.5).traits == changed
    powers = NormalizedMapping(lambda scores: np.maximum(scores, 0.0) ** 2)
    changed = powers.traits.but(base_score=2.0)
    assert Temperature(powers, 2.0).traits == changed
