"""The loss of sparse softmax against its definition in many digits."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.losses import (
    LOSSES,
    FenchelYoungLoss,
    SparseSoftmaxLoss,
    get_loss,
)
from skprob.mappings import Softmax, SparseSoftmax, Temperature, sparse_softmax
from skprob.targets import as_target

OUTSIDE = ["published", "add", "grow", "full", "skip"]
every_mapping = pytest.mark.parametrize(
    "mapping",
    [
        SparseSoftmax(k=1),
        Temperature(SparseSoftmax(k=2), 3.0),
        Temperature(Temperature(SparseSoftmax(p=0.5), 0.5), 0.75),
        SparseSoftmax(p=1),
    ],
    ids=repr,
)


def rows(n_classes=5, n_samples=200):
    rng = np.random.default_rng(0)
    scores = 2 * rng.normal(size=(n_samples, n_classes))
    target = np.eye(n_classes)[rng.integers(n_classes, size=n_samples)]
    target[::3] += np.eye(n_classes)[rng.integers(n_classes, size=n_samples)][::3]
    target[::7] = rng.dirichlet(np.ones(n_classes), size=n_samples)[::7]
    return scores, target / target.sum(axis=1, keepdims=True)


def temperature(mapping):
    if isinstance(mapping, Temperature):
        return mapping.temperature * temperature(mapping.mapping)
    return 1.0


@mp.workdps(50)
def definition(outside, kept, z, q, tau):
    """Value and gradient of a row, from its kept set: tau times those of z / tau."""
    labels = {i for i, x in enumerate(q) if x > 0}
    classes = {i for i, x in enumerate(kept) if x}
    if not labels & classes:
        if outside == "skip":
            return 0.0, np.zeros(len(z))
        if outside == "add":
            classes |= labels
        if outside == "grow":
            highest = max(z[i] for i in labels)
            classes |= {i for i, x in enumerate(z) if x >= highest}
        if outside == "full":
            classes = set(range(len(z)))
    z = [mp.mpf(x) / tau for x in z]
    weight = {i: mp.exp(z[i]) for i in classes}
    total = mp.fsum(weight.values())
    value = tau * (mp.log(total) - mp.fdot(map(mp.mpf, q), z))
    gradient = [weight.get(i, 0) / total - q[i] for i in range(len(z))]
    return float(value), np.array([float(x) for x in gradient])


@every_mapping
def test_value_and_gradient(mapping):
    scores, target = rows(n_samples=80)
    kept, tau = mapping(scores) > 0, temperature(mapping)
    as_floats = scores.shape, scores.dtype
    for outside in OUTSIDE:
        expected = [
            definition(outside, *parts, tau)
            for parts in zip(kept, scores.tolist(), target.tolist(), strict=True)
        ]
        loss = SparseSoftmaxLoss(mapping, outside)
        for given in (target, sparse.csr_array(target)):
            value, gradient = loss.value_and_gradient(scores, given)
            assert_allclose(value, [v for v, _ in expected], rtol=1e-13, atol=1e-14)
            assert_allclose(gradient, [g for _, g in expected], rtol=0, atol=1e-14)
            assert value.min() >= 0
            linear = loss.linearize(scores.copy(), as_target(given, *as_floats))
            assert_allclose(
                linear.values, [v for v, _ in expected], rtol=1e-13, atol=1e-14
            )
            assert_allclose(linear.residual(), gradient, rtol=0, atol=1e-15)
    is_outside = ~(kept & (target > 0)).any(axis=1)
    keeps_all = repr(mapping) == repr(SparseSoftmax(p=1))
    assert is_outside.any() == (not keeps_all)
    assert not is_outside.all()


@every_mapping
def test_derivatives_between_the_jumps(mapping):
    """At temperatures, too: the Hessian is that of the scores divided by them."""
    scores, target = rows(n_samples=50)
    direction = np.random.default_rng(1).normal(size=scores.shape)
    for outside in OUTSIDE:
        loss = SparseSoftmaxLoss(mapping, outside)
        h = 1e-6
        up, down = (
            loss.value_and_gradient(scores + s * h * direction, target) for s in (1, -1)
        )
        _, gradient = loss.value_and_gradient(scores, target)
        slope = (gradient * direction).sum(axis=1)
        assert_allclose((up[0] - down[0]) / (2 * h), slope, rtol=0, atol=1e-8)
        product = loss.hessian_product(scores, target, direction)
        assert_allclose((up[1] - down[1]) / (2 * h), product, rtol=0, atol=1e-8)


def test_published_for_labels_is_the_fenchel_young_loss():
    scores, _ = rows()
    target = np.eye(5)[np.arange(len(scores)) % 5]
    for mapping in (SparseSoftmax(k=1), Temperature(SparseSoftmax(k=4), 3.0)):
        published = SparseSoftmaxLoss(mapping).value_and_gradient(scores, target)
        matching = FenchelYoungLoss(mapping).value_and_gradient(scores, target)
        assert_allclose(published[0], matching[0], rtol=1e-14, atol=1e-15)
        assert_array_equal(published[1], matching[1])


@every_mapping
def test_published_is_never_negative_for_labels_that_are_not_kept(mapping):
    """Its largest score is kept, and no label's score is larger."""
    scores = np.random.default_rng(0).normal(size=(1000, 5)) * 10
    target = np.eye(5)[scores.argmin(axis=1)]
    least = np.ptp(scores, axis=1)
    if temperature(mapping) != 1:  # Division and multiplication round.
        least *= 1 - 4 * np.finfo(float).eps
    assert (SparseSoftmaxLoss(mapping).value(scores, target) >= least).all()


def test_published_top_k_is_convex_and_the_others_are_not():
    rng = np.random.default_rng(0)
    y, z = 2 * rng.normal(size=(2, 2000, 5))
    target = np.eye(5)[rng.integers(5, size=2000)]

    def excess(loss):
        middle = loss.value((y + z) / 2, target)
        return middle - (loss.value(y, target) + loss.value(z, target)) / 2

    top_k, top_p = SparseSoftmax(k=2), SparseSoftmax(p=0.5)
    published = SparseSoftmaxLoss(top_k)
    assert excess(published).max() <= 1e-14
    assert published.traits.has_kinks
    assert FenchelYoungLoss(top_k).traits.has_kinks
    assert not FenchelYoungLoss(Softmax()).traits.has_kinks
    others = [SparseSoftmaxLoss(top_k, outside) for outside in OUTSIDE[1:]]
    for loss in SparseSoftmaxLoss(top_p), *others:
        assert excess(loss).max() > 0.1
        assert not loss.traits.has_kinks  # which are those of a convex loss


def test_temperature():
    scores, target = rows()
    mapping = SparseSoftmax(k=2)
    warm = Temperature(Temperature(mapping, 2.0), 1.5)
    value, gradient = SparseSoftmaxLoss(warm, "add").value_and_gradient(scores, target)
    unit = SparseSoftmaxLoss(mapping, "add").value_and_gradient(scores / 3, target)
    assert_allclose(value, 3 * unit[0], rtol=1e-14, atol=1e-15)
    assert_allclose(gradient, unit[1], rtol=0, atol=1e-15)


def test_labels_that_are_not_available():
    for outside in OUTSIDE:
        loss = SparseSoftmaxLoss(SparseSoftmax(k=2), outside)
        value, gradient = loss.value_and_gradient([[0.0, 1.0, -np.inf]], [[0, 0, 1]])
        assert value == (0 if outside == "skip" else np.inf)
        assert np.isfinite(gradient).all()


def test_rows_at_a_tie():
    """Only the first of tied classes is kept, and only its labels are inside."""
    scores, target = np.zeros((2, 3)), np.eye(3)[[0, 2]]
    value = SparseSoftmaxLoss(SparseSoftmax(k=1), "full").value(scores, target)
    assert_allclose(value, [0, np.log(3)], rtol=1e-15)


def test_single_precision_stays():
    scores, target = rows()
    for outside in OUTSIDE:
        loss = SparseSoftmaxLoss(SparseSoftmax(k=2), outside)
        value, gradient = loss.value_and_gradient(
            scores.astype(np.float32), target.astype(np.float32)
        )
        assert value.dtype == gradient.dtype == np.float32


def test_stages():
    loss = SparseSoftmaxLoss(Temperature(SparseSoftmax(k=2), 3.0))
    first, second = loss.stages()
    scores, target = rows()
    softmax = FenchelYoungLoss(Temperature(Softmax(), 3.0))
    assert_array_equal(first.value(scores, target), softmax.value(scores, target))
    assert second is loss
    assert loss.set_params(pretrain=None).stages() == [loss]


def test_by_name():
    assert LOSSES["sparse_softmax"] is SparseSoftmaxLoss
    assert isinstance(get_loss("auto", SparseSoftmax(k=3)), FenchelYoungLoss)
    loss = get_loss("sparse_softmax", SparseSoftmax(k=3))
    assert_array_equal(
        loss.value_and_gradient([[3.0, 1.0]], [[1, 0]])[1],
        sparse_softmax([[3.0, 1.0]], k=3) - [[1, 0]],
    )


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"needs the mapping SparseSoftmax; got Softm"):
        get_loss("sparse_softmax", "softmax")
    with pytest.raises(ValueError, match="'outside' parameter of SparseSoftmaxLoss"):
        SparseSoftmaxLoss("sparse_softmax", "drop").value([[1.0, 0.0]], [[1, 0]])
    with pytest.raises(ValueError, match="'pretrain' parameter of SparseSoftmaxLoss"):
        SparseSoftmaxLoss("sparse_softmax", pretrain=1).value([[1.0, 0.0]], [[1, 0]])
    with pytest.raises(ValueError, match="Exactly one of k and p"):
        SparseSoftmaxLoss(SparseSoftmax(3, 0.5)).value([[1.0, 0.0]], [[1, 0]])
