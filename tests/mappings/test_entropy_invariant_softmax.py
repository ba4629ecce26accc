"""Entropy-invariant softmax against its definition in many digits."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.losses import FenchelYoungLoss
from skprob.mappings import (
    EntropyInvariantSoftmax,
    Temperature,
    entropy_invariant_softmax,
    softmax,
)

from .definitions import definition
from .precise_derivatives import assert_derivatives, floats, many_digits, row


@pytest.mark.parametrize("kappa", [0.1, 1.0, 7.0])
@many_digits
def test_probabilities(kappa):
    rng = np.random.default_rng(0)
    for n_classes in (1, 2, 5, 100):
        scores = rng.normal(size=(5, n_classes)) * np.geomspace(0.01, 1e3, 5)[:, None]
        # Exact in both types.
        scores = (scores + 100).astype(np.float32)
        exact = [
            floats(definition(EntropyInvariantSoftmax(kappa))(row(z))) for z in scores
        ]
        for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 5e-7)):
            p = entropy_invariant_softmax(scores.astype(dtype), kappa)
            assert p.dtype == dtype
            assert_allclose(p, exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kappa", [0.3, 1.0, 2.0])
def test_derivatives(kappa):
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=4), 3 * rng.normal(size=6), np.array([0.7])]
    assert_derivatives(
        EntropyInvariantSoftmax(kappa),
        definition(EntropyInvariantSoftmax(kappa)),
        scores,
    )


def test_unavailable_classes_are_not_counted():
    mapping = EntropyInvariantSoftmax(kappa=1.5)
    few = np.array([[1.0, 0.5, -2.0]])
    many = np.array([[1.0, -np.inf, 0.5, -np.inf, -2.0]])
    available = many[0] > -np.inf
    assert_array_equal(mapping(many)[:, available], mapping(few))
    assert_array_equal(mapping(many)[:, ~available], 0)
    assert_array_equal(mapping.potential(many), mapping.potential(few))
    direction = np.ones_like(many) * [[1, 2, 3, 4, 5]]
    assert_allclose(
        mapping.jvp(many, direction)[:, available],
        mapping.jvp(few, direction[:, available]),
        rtol=1e-15,
    )


def test_a_class_that_is_alone():
    mapping = EntropyInvariantSoftmax()
    scores = np.array([[3.0, -np.inf], [-np.inf, -5.0]])
    assert_array_equal(mapping(scores), np.eye(2))
    assert_array_equal(mapping.potential(scores), [3, -5])
    assert_array_equal(mapping([[7.0]]), [[1]])
    assert_array_equal(mapping.entropy([[1.0]]), [0])
    assert_array_equal(mapping.jvp(scores, np.ones((2, 2))), np.zeros((2, 2)))


@pytest.mark.parametrize("kappa", [0.5, 2.0])
@many_digits
def test_potential_and_entropy(kappa):
    scores = 3 * np.random.default_rng(0).normal(size=(10, 5)) + 50
    factor = kappa * mp.log(5)
    mapping = EntropyInvariantSoftmax(kappa)
    exact = [
        float(mp.log(mp.fsum(mp.exp(factor * x) for x in row(z))) / factor)
        for z in scores
    ]
    assert_allclose(mapping.potential(scores), exact, rtol=1e-15)
    p = mapping(scores)
    exact = [float(-mp.fsum(a * mp.log(a) for a in row(q)) / factor) for q in p]
    assert_allclose(mapping.entropy(p), exact, rtol=1e-14)


def test_fenchel_young_loss_counts_the_available_classes():
    """It is zero at q = p(z), whose Ω needs the number of classes of the row."""
    mapping = EntropyInvariantSoftmax()
    scores = np.array([[1.0, 0.0, -np.inf, 0.3], [1.0, 0.0, 2.0, 0.3]])
    for loss in (FenchelYoungLoss(mapping), FenchelYoungLoss(Temperature(mapping, 3))):
        p = loss.mapping(scores)
        assert_allclose(loss.value(scores, p), 0, atol=1e-15)
    q = np.array([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]])
    value = FenchelYoungLoss(mapping).value(scores, q)
    for n, z, actual in zip((3, 4), scores, value, strict=True):
        factor = np.log(n)
        expected = np.log(np.exp(factor * z).sum()) - np.log(2) - factor * z[:2].mean()
        assert actual == pytest.approx(expected / factor, rel=1e-14)


def test_entropy_hardly_depends_on_the_number_of_classes():
    """While that of softmax grows with its logarithm, for normal scores."""
    rng = np.random.default_rng(0)
    entropies = {softmax: [], entropy_invariant_softmax: []}
    for n_classes in (16, 256, 4096):
        scores = rng.normal(size=(200, n_classes))
        for mapping, values in entropies.items():
            p = mapping(scores)
            values.append(-(p * np.log(p)).sum(axis=1).mean())
    assert np.ptp(entropies[softmax]) > 5
    assert np.ptp(entropies[entropy_invariant_softmax]) < 0.5


def test_bad_kappa_is_refused():
    for kappa in (0, -1, np.nan, np.inf, "1", None):
        with pytest.raises(ValueError, match="'kappa' parameter of EntropyInvariant"):
            entropy_invariant_softmax([1.0, 2.0], kappa)
