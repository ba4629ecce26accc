"""What holds for every loss through every mapping."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.losses import LogLoss

from .cases import DIVERGENCES, FENCHEL_YOUNG, LOSSES, rows

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
every_divergence = pytest.mark.parametrize(
    "loss", DIVERGENCES.values(), ids=DIVERGENCES
)
every_fenchel_young_loss = pytest.mark.parametrize(
    "loss", FENCHEL_YOUNG.values(), ids=FENCHEL_YOUNG
)


def moderate_rows(n_classes, n_samples=24):
    """Scores without ties, where finite differences meet no kink."""
    _, target = rows(n_classes, n_samples)
    rng = np.random.default_rng(n_classes)
    scores = rng.normal(size=target.shape)
    return scores * np.geomspace(0.1, 2, n_samples)[:, None], target


def directions(shape):
    return np.random.default_rng(1).normal(size=shape)


def along(function, scores, direction, step=1e-5):
    up, down = function(scores + step * direction), function(scores - step * direction)
    return (up - down) / (2 * step)


@every_loss
@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_gradient_is_the_derivative_of_the_value(loss, n_classes):
    scores, target = moderate_rows(n_classes)
    direction = directions(scores.shape)
    _, gradient = loss.value_and_gradient(scores, target)
    slope = along(lambda z: loss.value(z, target), scores, direction)
    assert_allclose((gradient * direction).sum(axis=1), slope, rtol=1e-5, atol=2e-5)


@every_loss
@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_hessian_product_is_the_derivative_of_the_gradient(loss, n_classes):
    scores, target = moderate_rows(n_classes)
    direction = directions(scores.shape)
    product = loss.hessian_product(scores, target, direction)
    slope = along(
        lambda z: loss.value_and_gradient(z, target)[1], scores, direction, step=1e-6
    )
    assert_allclose(product, slope, rtol=1e-5, atol=1e-4)


@every_loss
def test_hessian_is_symmetric(loss):
    scores, target = moderate_rows(5)
    columns = [
        loss.hessian_product(scores, target, np.broadcast_to(e, scores.shape))
        for e in np.eye(5)
    ]
    hessian = np.stack(columns, axis=2)
    scale = np.abs(hessian).max(axis=(1, 2), keepdims=True) + 1
    assert_allclose(hessian / scale, hessian.transpose(0, 2, 1) / scale, atol=1e-12)


@every_fenchel_young_loss
def test_fenchel_young_is_what_its_mapping_says(loss):
    scores, target = rows(4)
    mapping = loss.mapping
    value, gradient = loss.value_and_gradient(scores, target)
    conjugate = mapping.potential(scores) - mapping.entropy(target)
    assert_allclose(value, conjugate - (scores * target).sum(axis=1), atol=1e-12)
    assert_allclose(gradient, mapping(scores) - target, atol=1e-15)
    direction = directions(scores.shape)
    jacobian = mapping.jacobian(scores)
    assert_allclose(
        loss.hessian_product(scores, target, direction),
        np.einsum("nij,nj->ni", jacobian, direction),
        rtol=1e-12,
        atol=1e-15,
    )


@every_fenchel_young_loss
def test_fenchel_young_is_zero_exactly_at_the_target(loss):
    scores, target = rows(4)
    p = loss.mapping(scores)
    at_target, gradient = loss.value_and_gradient(scores, p)
    depth = scores.max(axis=1) - scores.min(axis=1)
    assert (np.abs(at_target) <= 1e-14 * (1 + depth)).all()
    assert_allclose(gradient, 0, atol=1e-15)
    elsewhere = np.abs(p - target).max(axis=1) > 0.01
    assert elsewhere.sum() > 10
    assert loss.value(scores, target)[elsewhere].min() > 1e-6


@every_divergence
@settings(max_examples=30)
@given(data=st.data())
def test_value_is_never_negative(loss, data):
    finite = st.floats(-1e6, 1e6)
    n_classes = data.draw(st.integers(1, 5))
    scores = data.draw(arrays(float, (3, n_classes), elements=finite))
    weight = data.draw(arrays(float, (3, n_classes), elements=st.floats(0, 1)))
    weight[:, 0] += 0.1
    target = weight / weight.sum(axis=1, keepdims=True)
    depth = scores.max(axis=1) - scores.min(axis=1)
    assert (loss.value(scores, target) >= -1e-14 * (1 + depth)).all()


@every_loss
def test_layout_of_scores_and_target_does_not_matter(loss):
    scores, target = rows(4)
    direction = directions(scores.shape)
    value, gradient = loss.value_and_gradient(scores, target)
    product = loss.hessian_product(scores, target, direction)
    containers = (np.asfortranarray, np.ndarray.tolist, sparse.csr_array)
    for container in (*containers, sparse.coo_matrix, sparse.csc_array):
        z = scores if sparse.issparse(container(target)) else container(scores)
        q = container(target)
        assert_allclose(loss.value(z, q), value, rtol=1e-13, atol=1e-14)
        assert_allclose(loss.value_and_gradient(z, q)[1], gradient, atol=1e-13)
        assert_allclose(
            loss.hessian_product(z, q, direction), product, rtol=1e-12, atol=1e-13
        )


@every_loss
@pytest.mark.parametrize("container", [np.array, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inputs_are_left_alone_and_float32_stays(loss, container, dtype):
    scores, target = rows(4)
    scores = (scores + 5).astype(dtype)
    scores = np.asfortranarray(scores) if container is np.asfortranarray else scores
    target = container(target.astype(dtype))
    direction = directions(scores.shape).astype(dtype)
    dense = target.toarray() if sparse.issparse(target) else target.copy()
    copies = scores.copy(), direction.copy()
    results = [
        loss.value(scores, target),
        *loss.value_and_gradient(scores, target),
        loss.hessian_product(scores, target, direction),
    ]
    assert [result.dtype for result in results] == [dtype] * 4
    assert_array_equal(scores, copies[0])
    assert_array_equal(direction, copies[1])
    after = target.toarray() if sparse.issparse(target) else target
    assert_array_equal(after, dense)


def test_an_untidy_sparse_target_is_read_and_left_alone():
    loss = LOSSES["FenchelYoungLoss(mapping=Softmax())"]
    # Unsorted, with an explicit zero and with one entry in two parts.
    data, columns = np.array([0.5, 0.25, 0.0, 0.25, 1.0]), np.array([2, 0, 1, 0, 1])
    target = sparse.csr_array((data, columns, [0, 4, 5]), shape=(2, 3))
    dense = [[0.5, 0, 0.5], [0, 1, 0]]
    scores = [[1.0, 2.0, 3.0], [0.0, 1.0, 5.0]]
    assert_allclose(loss.value(scores, target), loss.value(scores, dense), rtol=1e-15)
    assert_array_equal(target.data, [0.5, 0.25, 0.0, 0.25, 1.0])
    assert_array_equal(target.indices, [2, 0, 1, 0, 1])


@every_loss
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_an_unavailable_class_counts_nothing(loss, container):
    scores, target = rows(4)
    wide = np.insert(scores, 2, -np.inf, axis=1)
    q = np.insert(target, 2, 0, axis=1)
    value, gradient = loss.value_and_gradient(wide, container(q))
    expected, expected_gradient = loss.value_and_gradient(scores, target)
    if isinstance(loss, LogLoss):
        # The smoothing counts all classes.
        epsilon = {"auto": 1e-6 if loss.mapping.has_zeros else 0}.get(
            loss.epsilon, loss.epsilon
        )
        expected = expected + np.log1p(5 * epsilon) - np.log1p(4 * epsilon)
    assert_allclose(value, expected, rtol=1e-12, atol=1e-14)
    assert_allclose(np.delete(gradient, 2, axis=1), expected_gradient, atol=1e-13)
    assert_array_equal(gradient[:, 2], 0)
    direction = directions(scores.shape)
    product = loss.hessian_product(
        wide, container(q), np.insert(direction, 2, 7, axis=1)
    )
    expected_product = loss.hessian_product(scores, target, direction)
    assert_allclose(np.delete(product, 2, axis=1), expected_product, atol=1e-12)
    assert_array_equal(product[:, 2], 0)


@every_divergence
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("q", [[0, 0, 1], [0.5, 0, 0.5]])
def test_a_target_on_an_unavailable_class_costs_infinity(loss, container, q):
    smoothed = isinstance(loss, LogLoss) and (
        loss.mapping.has_zeros or loss.epsilon == 0.01
    )
    value = loss.value([[1.0, 0.5, -np.inf]], container([q]))
    if smoothed:
        epsilon = 1e-6 if loss.epsilon == "auto" else 0.01
        p = loss.mapping([[1.0, 0.5]])[0]
        parts = np.log((np.append(p, 0) + epsilon) / (1 + 3 * epsilon))
        assert_allclose(value, -(np.array(q) * parts).sum(), rtol=1e-12)
    else:
        assert value == np.inf


@every_loss
def test_rows_do_not_see_each_other(loss):
    scores, target = rows(3, n_samples=8)
    value, gradient = loss.value_and_gradient(scores, target)
    for i in range(8):
        one = slice(i, i + 1)
        alone, alone_gradient = loss.value_and_gradient(scores[one], target[one])
        assert_allclose(alone, value[one], rtol=1e-13, atol=1e-15)
        assert_allclose(alone_gradient, gradient[one], rtol=1e-9, atol=1e-14)
    assert loss.value(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
