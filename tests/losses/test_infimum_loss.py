"""The infimum loss against minima and expectations that SciPy computes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import norm

from skprob.losses import FenchelYoungLoss, InfimumLoss
from skprob.mappings import (
    Entmax,
    NestedSoftmax,
    PerturbMax,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    Temperature,
)

MAPPINGS = [
    Softmax(),
    Sparsemax(),
    Entmax(0.5),
    Entmax(1.5),
    Temperature(Entmax(1.25), 0.4),
    NestedSoftmax([0, 0, 1, 1], scales=0.5),
]


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_it_is_the_least_loss_over_distributions_on_the_candidates(mapping):
    of_distribution, shares = FenchelYoungLoss(mapping), [[1 / 3, 0, 1 / 3, 1 / 3]]
    for scores in [[0.4, 0.6, -0.2, 0.3]], [[0.1, 0.9, 1.2, -2.0]]:

        def loss_of(weights, scores=scores):
            q = np.zeros((1, 4))
            q[0, [0, 2, 3]] = weights**2 / (weights**2).sum()
            return of_distribution.value(scores, q)[0]

        starts = np.ones(3), np.array([0.1, 1.1, 0.1])
        best = min(minimize(loss_of, start, tol=1e-12).fun for start in starts)
        value = InfimumLoss(mapping).value(scores, shares)
        assert value[0] > 0.05
        assert_allclose(value, best, atol=1e-8)


def test_with_softmax_it_is_the_probability_of_the_candidates():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=5, size=(50, 6))
    candidates = rng.random((50, 6)) < 0.5
    candidates[:, 0] = True
    shares = candidates / candidates.sum(axis=1, keepdims=True)
    expected = logsumexp(scores, axis=1)
    expected -= logsumexp(np.where(candidates, scores, -np.inf), axis=1)
    assert_allclose(InfimumLoss("softmax").value(scores, shares), expected, atol=1e-14)


def test_with_perturb_max_it_is_a_difference_of_expected_maxima():
    z = np.array([0.3, -0.5, 1.0, 0.2])

    def expected_max(scores):
        # ∫ x dP(max <= x), by parts.
        def above(x):
            return 1 - np.prod(norm.cdf(x - scores))

        def below(x):
            return np.prod(norm.cdf(x - scores))

        options = {"epsabs": 1e-12, "limit": 200}
        return quad(above, 0, 12, **options)[0] - quad(below, -12, 0, **options)[0]

    value = InfimumLoss(PerturbMax("normal")).value([z], [[0.5, 0.5, 0, 0]])
    assert_allclose(value, expected_max(z) - expected_max(z[:2]), rtol=1e-6)


@given(
    st.sampled_from([*MAPPINGS, SparseSoftmax(2)]),
    st.lists(st.floats(-50, 50), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4).filter(any),
)
def test_bounds(mapping, scores, candidates):
    """Between zero and the loss of any candidate; more candidates never cost more."""
    z, candidates = np.array([scores]), np.array(candidates)
    shares = candidates / candidates.sum()
    loss = InfimumLoss(mapping)
    value, gradient = loss.value_and_gradient(z, [shares])
    labels = np.eye(4)[candidates]
    of_labels = FenchelYoungLoss(mapping).value(z.repeat(len(labels), axis=0), labels)
    rounding = 1e-12 * (1 + np.abs(z).max())
    assert -rounding <= value[0] <= of_labels.min() + rounding
    if len(labels) == 1:
        assert_allclose(value, of_labels, atol=rounding)
    more = candidates | (np.arange(4) == 0)
    assert loss.value(z, [more / more.sum()])[0] <= value[0] + rounding
    assert (gradient[0, ~candidates] >= 0).all()
    assert (gradient[0, candidates] <= 1e-12).all() or isinstance(
        mapping, NestedSoftmax | SparseSoftmax
    )
    assert_array_equal(loss.value(z, [np.full(4, 0.25)]), 0)


def test_classes_that_are_not_available():
    z = np.array([[0.5, 0.2, -np.inf, 0.1], [0.5, 0.2, -np.inf, 0.1]])
    target = np.array([[0, 0.5, 0.5, 0], [0, 0, 1, 0]])
    value = InfimumLoss("sparsemax").value(z, target)
    expected = FenchelYoungLoss("sparsemax").value(z[:1], [[0, 1, 0, 0]])
    assert_allclose(value, [expected[0], np.inf])


def test_a_mapping_that_gets_its_scores_as_they_are():
    class Unshifted(Softmax):
        traits = Softmax.traits.but(is_shift_invariant=False)

    z, shares = [[0.5, 2.0, -1.0]], [[0.5, 0, 0.5]]
    expected = logsumexp(z) - np.logaddexp(0.5, -1.0)
    assert_allclose(InfimumLoss(Unshifted()).value(z, shares), expected, rtol=1e-14)


def test_mappings_for_which_it_is_not_defined():
    for mapping, message in [
        ("taylor_softmax", "needs a mapping with a potential"),
        ("entropy_invariant_softmax", "for all numbers of available classes"),
        ("sigmoid", "probabilities sum to one"),
    ]:
        with pytest.raises(ValueError, match=message):
            InfimumLoss(mapping).value([[1.0, 0.0]], [[1, 0]])
