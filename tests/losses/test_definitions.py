"""Values and gradients of the losses against their definitions, to 50 digits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss

from skprob.losses import (
    AccuracyLoss,
    FenchelYoungLoss,
    GradientFieldLoss,
    InfimumLoss,
    LogLoss,
)
from skprob.mappings import Entmax, Sparsemax
from skprob.targets import as_target

from .cases import LOSSES, MAPPINGS, rows
from .definitions import is_defined, reference

DEFINED = {name: mapping for name, mapping in MAPPINGS.items() if is_defined(mapping)}


def losses_of(mapping):
    return [loss for loss in LOSSES.values() if repr(loss.mapping) == repr(mapping)]


def assert_meets_definition(mapping, scores, target):
    """Check values and gradients; the tolerances are for errors of a few ulp."""
    losses = losses_of(mapping)
    results, p = reference(losses, scores, target)
    eps = np.finfo(scores.dtype).eps
    depth = scores.max(axis=1) - scores.min(axis=1)
    for loss, (values, gradients) in zip(losses, results, strict=True):
        value, gradient = loss.value_and_gradient(scores, target)
        assert value.dtype == gradient.dtype == scores.dtype
        if isinstance(loss, GradientFieldLoss):
            error, gradient_error = (1e-6 + 64 * eps) * (1 + depth), 64 * eps
        elif isinstance(loss, (FenchelYoungLoss, InfimumLoss)):
            error, gradient_error = 16 * eps * (1 + depth), 64 * eps
            assert value.min() >= -error.max()
        elif isinstance(loss, LogLoss):
            # An error in p is divided by p (by p + ε where p can vanish).
            smallest = np.where(target > 0, p, 1).min(axis=1)
            floor = 1e-6 if loss.epsilon == "auto" else 0.01
            if loss.epsilon == "auto" and not mapping.traits.has_zeros:
                # log p itself is computed.
                smallest = 1
            worse = 1 / np.maximum(smallest, floor)
            error, gradient_error = 64 * eps * (depth + worse), 256 * eps * worse
            gradient_error = np.reshape(gradient_error, (-1, 1))
        else:  # Bounded, as smooth accuracy.
            error, gradient_error = 64 * eps, 256 * eps
        linear = linearized(loss, scores, target)
        for shifted_values, slope in (
            (value, gradient),
            (linear.values, linear.residual()),
        ):
            assert (np.abs(shifted_values - values) <= error).all(), repr(loss)
            assert (np.abs(slope - gradients) <= gradient_error).all(), repr(loss)
    return p


def linearized(loss, scores, target):
    """The linearization with which second-order methods evaluate a loss."""
    target = as_target(target, scores.shape, scores.dtype, loss.mapping.traits.polytope)
    linear = loss.linearize(scores.copy(), target)
    return linear._replace(values=linear.values + loss.constant(target))


every_defined_mapping = pytest.mark.parametrize(
    "mapping", DEFINED.values(), ids=DEFINED
)


@every_defined_mapping
def test_definition(mapping):
    for n_classes, n_samples in ((1, 4), (2, 12), (3, 28)):
        p = assert_meets_definition(mapping, *rows(n_classes, n_samples))
        if isinstance(mapping, Entmax) and mapping.traits.has_zeros:
            assert set((p > 0).sum(axis=1)) == set(range(1, n_classes + 1))


@every_defined_mapping
def test_definition_far_from_zero_and_in_single_precision(mapping):
    scores, target = rows(3, n_samples=8)
    # Each offset with targets of all kinds.
    offset = np.repeat([[1.0], [-1.0]], 4, axis=0)
    assert_meets_definition(mapping, scores + 1e6 * offset, target)
    target = (target * 2**10).round().astype(np.float32)  # sums without rounding
    target /= target.sum(axis=1, keepdims=True)
    scores = scores + 1e3 * np.maximum(offset, 0)
    assert_meets_definition(mapping, scores.astype(np.float32), target)


@pytest.mark.parametrize(
    "loss",
    [v for v in LOSSES.values() if v.mapping.traits.is_shift_invariant],
    ids=repr,
)
def test_scores_whose_difference_overflows(loss):
    """The limit of a score far above all others, without a warning."""
    value = 0.0
    if isinstance(loss, AccuracyLoss):
        value = -1.0
    elif isinstance(loss, LogLoss) and loss.epsilon != "auto":
        value = np.log1p(3 * loss.epsilon) - np.log1p(loss.epsilon)
    z, q = [[1e308, -1e308, -np.inf]], [[1.0, 0.0, 0.0]]
    total, gradient = loss.value_and_gradient(z, q)
    assert_allclose(total, value, atol=3e-6)
    assert_allclose(gradient, 0, atol=1e-15)
    assert_allclose(loss.hessian_product(z, q, np.ones((1, 3))), 0, atol=1e-15)


def test_sparsemax_closed_form():
    """½ - z_t + ½ Σ_S (z² - τ²), with the support S and threshold τ by sorting."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 6)) * np.geomspace(0.01, 10, 200)[:, None]
    labels = rng.integers(6, size=200)
    expected, sizes = [], set()
    for z, t in zip(scores, labels, strict=True):
        ordered = np.sort(z)[::-1]
        k = np.arange(1, 7)
        size = np.max(k[1 + k * ordered > np.cumsum(ordered)])
        tau = (ordered[:size].sum() - 1) / size
        sizes.add(int(size))
        expected.append(0.5 - z[t] + 0.5 * np.sum(ordered[:size] ** 2 - tau**2))
    assert sizes == {1, 2, 3, 4, 5, 6}
    values = FenchelYoungLoss(Sparsemax()).value(scores, np.eye(6)[labels])
    assert_allclose(values, expected, rtol=0, atol=1e-13)


def test_sparsemax_with_two_classes_is_the_modified_huber_loss():
    margin = np.linspace(-4, 4, 401)
    huber = np.select([margin >= 1, margin >= -1], [0, (1 - margin) ** 2 / 4], -margin)
    scores = np.stack([margin, np.zeros_like(margin)], axis=1)
    values = FenchelYoungLoss(Sparsemax()).value(scores, np.eye(2)[[0] * 401])
    assert_allclose(values, huber, rtol=0, atol=1e-15)


def test_softmax_is_the_log_loss_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(50, 4)), rng.integers(4, size=50)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = [
        log_loss([t], row[None], labels=range(4))
        for t, row in zip(labels, p, strict=True)
    ]
    one_hot = np.eye(4)[labels]
    for loss in (FenchelYoungLoss("softmax"), LogLoss("softmax")):
        assert_allclose(loss.value(scores, one_hot), expected, rtol=1e-14)
