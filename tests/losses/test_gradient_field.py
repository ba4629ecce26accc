"""The loss of a function's gradient field where the function has kinks and jumps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.losses import FenchelYoungLoss, GradientFieldLoss
from skprob.mappings import Entmax, Sparsemax, softmax, sparse_softmax


@pytest.mark.parametrize("mapping", [Sparsemax(), Entmax(), Entmax(2.5)], ids=repr)
def test_kinks(mapping):
    """No rule may believe that it is exact because two estimates agree by chance."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 5, 20):
        n_samples = 2000 // n_classes
        spread = rng.choice([0.3, 1, 4, 20], size=(n_samples, 1))
        scores = spread * rng.standard_normal((n_samples, n_classes))
        target = np.eye(n_classes)[rng.integers(n_classes, size=n_samples)]
        exact = FenchelYoungLoss(mapping).value(scores, target)
        exact -= mapping.potential(np.zeros((1, n_classes)))
        values = GradientFieldLoss(lambda z: mapping(z)).value(scores, target)
        integral = values + (target * scores).sum(axis=1)
        # Each kink adds an error; the slope at the kink of a root is infinite.
        tolerance = 2e-7 if mapping.traits.is_lipschitz else 3e-7
        assert (np.abs(values - exact) <= tolerance * np.maximum(integral, 1)).all()


def test_the_case_that_was_wrong():
    loss = GradientFieldLoss(lambda z: Sparsemax()(z))
    assert_allclose(loss.value([[4.05, 0.0]], [[1, 0]]), -0.25, atol=1e-7)
    single = loss.value(np.float32([[4.05, 0.0]]), [[1, 0]])
    assert_allclose(single, -0.25, atol=1e-5)


def test_jumps():
    """The integral has a kink there."""

    def top_2(scores):
        return sparse_softmax(scores, k=2)

    scores = np.array([[4.05, 0.0, 1.0], [1.0, -1.0, 0.5]])
    kept = scores[:, [0, 2]]
    expected = np.log(np.exp(kept).sum(axis=1)) - np.log(2) - scores[:, 0]
    values = GradientFieldLoss(top_2).value(scores, [[1, 0, 0]] * 2)
    assert_allclose(values, expected, atol=1e-6)


def test_an_erratic_function_is_refused_at_once():
    calls = []

    def erratic(scores):
        calls.append(len(scores))
        return softmax(np.sin(1e6 * scores))

    for scores in ([[4.05, 0.0]], [[0.0] * 3, [1.0, 0.5, 3.0]]):
        loss = GradientFieldLoss(erratic)
        row = len(scores) - 1
        with pytest.raises(ValueError, match=rf"too irregular .* row {row} .*'log'"):
            loss.value(scores, np.eye(len(scores[0]))[: len(scores)])
    assert sum(calls) < 10_000
