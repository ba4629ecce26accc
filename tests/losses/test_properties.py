"""Properties of every loss through every mapping."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.losses import (
    FenchelYoungLoss,
    LogLoss,
)
from skprob.losses._difference import linearize_difference
from skprob.mappings import Entmax, Sigmoid, Softmax, Sparsemax
from skprob.targets import DenseTarget, LabelTarget, SmoothedTarget, as_target

from .cases import (
    DIVERGENCES,
    FENCHEL_YOUNG,
    FINITE_OFF_THE_TARGET,
    LOSSES,
    rows,
)

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
every_divergence = pytest.mark.parametrize(
    "loss", DIVERGENCES.values(), ids=DIVERGENCES
)
every_fenchel_young_loss = pytest.mark.parametrize(
    "loss", FENCHEL_YOUNG.values(), ids=FENCHEL_YOUNG
)


def moderate_rows(n_classes, n_samples=24):
    """Scores without ties, where finite differences do not cross a kink."""
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
def test_derivatives_are_limits_of_differences(loss):
    for n_classes in (1, 2, 5):
        scores, target = moderate_rows(n_classes)
        direction = directions(scores.shape)
        _, gradient = loss.value_and_gradient(scores, target)
        slope = along(lambda z, q=target: loss.value(z, q), scores, direction)
        assert_allclose((gradient * direction).sum(axis=1), slope, rtol=1e-5, atol=2e-5)
        product = loss.hessian_product(scores, target, direction)
        bend = along(
            lambda z, q=target: loss.value_and_gradient(z, q)[1],
            scores,
            direction,
            step=1e-6,
        )
        assert_allclose(product, bend, rtol=1e-5, atol=1e-4)
    columns = [
        loss.hessian_product(scores, target, np.broadcast_to(e, scores.shape))
        for e in np.eye(5)
    ]
    hessian = np.stack(columns, axis=2)
    scale = np.abs(hessian).max(axis=(1, 2), keepdims=True) + 1
    assert_allclose(hessian / scale, hessian.transpose(0, 2, 1) / scale, atol=1e-12)


@every_fenchel_young_loss
def test_fenchel_young_is_what_its_mapping_says_and_zero_only_at_the_target(loss):
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
    p = mapping(scores)
    at_target, gradient = loss.value_and_gradient(scores, p)
    depth = scores.max(axis=1) - scores.min(axis=1)
    assert (np.abs(at_target) <= 1e-14 * (1 + depth)).all()
    assert_allclose(gradient, 0, atol=1e-15)
    elsewhere = np.abs(p - target).max(axis=1) > 0.01
    assert elsewhere.sum() > 10
    assert loss.value(scores, target)[elsewhere].min() > 1e-6


@every_divergence
def test_value_is_never_negative(loss):
    rng = np.random.default_rng(0)
    for n_classes in (1, 2, 5):
        # From nearly equal scores to a million, and targets near to the predictions.
        scores = rng.uniform(-1, 1, (40, n_classes))
        scores *= np.geomspace(1e-9, 1e6, 40)[:, None]
        weight = rng.uniform(0.1, 1, scores.shape)
        near = loss.mapping(scores) + 1e-9 * weight
        for target in (weight, near, loss.mapping(-scores)):
            if loss.mapping.traits.polytope == "simplex":
                target = target / target.sum(axis=1, keepdims=True)
            target = np.clip(target, 0, 1)
            depth = scores.max(axis=1) - scores.min(axis=1)
            assert (loss.value(scores, target) >= -1e-14 * (1 + depth)).all()


@every_loss
def test_rows_alone_and_in_any_layout_and_type(loss):
    scores, target = rows(4, n_samples=20)
    direction = directions(scores.shape)

    def assert_same(z, q, atol, values, gradient, product):
        values_too, gradient_too = loss.value_and_gradient(z, q)
        for same_values in (values_too, loss.value(z, q)):
            assert_allclose(same_values, values, rtol=1e-13, atol=1e-14)
        assert_allclose(gradient_too, gradient, rtol=1e-9, atol=atol)
        v = direction[: len(product)]
        product_too = loss.hessian_product(z, q, v)
        assert_allclose(product_too, product, rtol=1e-12, atol=1e-13)

    expected = (
        *loss.value_and_gradient(scores, target),
        loss.hessian_product(scores, target, direction),
    )
    containers = [np.asfortranarray, sparse.csc_array]
    if loss is LOSSES["FenchelYoungLoss(mapping=Softmax())"]:
        # All losses are given arrays in their place.
        containers += [np.ndarray.tolist, sparse.coo_matrix]
    for container in containers:
        z = scores if sparse.issparse(container(target)) else container(scores)
        assert_same(z, container(target), 1e-13, *expected)
    for n in (1, 7):
        assert_same(scores[:n], target[:n], 1e-14, *(part[:n] for part in expected))
    assert loss.value(scores[:0], target[:0]).shape == (0,)
    assert_inputs_are_left_alone_and_float32_stays(loss)


def assert_inputs_are_left_alone_and_float32_stays(loss):
    for container, dtype in (
        (np.array, np.float32),
        (np.asfortranarray, np.float64),
        (sparse.csr_array, np.float32),
    ):
        scores, target = (array.astype(dtype) for array in rows(4, n_samples=5))
        direction = directions(scores.shape).astype(dtype)
        z = np.asfortranarray(scores) if container is np.asfortranarray else scores
        q = container(target)
        kept = z.copy(), direction.copy(), q.copy()
        results = [
            loss.value(z, q),
            *loss.value_and_gradient(z, q),
            loss.hessian_product(z, q, direction),
        ]
        assert [result.dtype for result in results] == [dtype] * 4
        for array, copy in zip((z, direction, q), kept, strict=True):
            assert abs(array - copy).max() == 0


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
def test_an_unavailable_class_counts_nothing(loss):
    scores, target = rows(4, n_samples=20)
    wide = np.insert(scores, 2, -np.inf, axis=1)
    expected, expected_gradient = loss.value_and_gradient(scores, target)
    if isinstance(loss, LogLoss):
        # The smoothing counts all classes.
        epsilon = {"auto": 1e-6 if loss.mapping.traits.has_zeros else 0}.get(
            loss.epsilon, loss.epsilon
        )
        expected = expected + np.log1p(5 * epsilon) - np.log1p(4 * epsilon)
    direction = directions(scores.shape)
    expected_product = loss.hessian_product(scores, target, direction)
    for container in (np.asarray, sparse.csr_array):
        q = container(np.insert(target, 2, 0, axis=1))
        value, gradient = loss.value_and_gradient(wide, q)
        assert_allclose(value, expected, rtol=1e-12, atol=1e-14)
        assert_allclose(np.delete(gradient, 2, axis=1), expected_gradient, atol=1e-13)
        assert_array_equal(gradient[:, 2], 0)
        product = loss.hessian_product(wide, q, np.insert(direction, 2, 7, axis=1))
        assert_allclose(np.delete(product, 2, axis=1), expected_product, atol=1e-12)
        assert_array_equal(product[:, 2], 0)
    if not isinstance(loss, FINITE_OFF_THE_TARGET):
        assert_a_target_on_it_costs_infinity(loss)


def assert_a_target_on_it_costs_infinity(loss):
    smoothed = isinstance(loss, LogLoss) and (
        loss.mapping.traits.has_zeros or loss.epsilon == 0.01
    )
    q = np.array([[0, 0, 1], [0.5, 0, 0.5]])
    scores = np.array([[1.0, 0.5, -np.inf]] * 2)
    expected = np.inf
    if smoothed:
        epsilon = 1e-6 if loss.epsilon == "auto" else 0.01
        p = loss.mapping([[1.0, 0.5]])[0]
        parts = np.log((np.append(p, 0) + epsilon) / (1 + 3 * epsilon))
        expected = -(q * parts).sum(axis=1)
    for container in (np.asarray, sparse.csr_array):
        assert_allclose(loss.value(scores, container(q)), expected, rtol=1e-12)


def hessian_by_products(linear, shape):
    """Hessian of each row, by products with the unit vectors."""
    columns = []
    for e in np.eye(shape[1]):
        direction = np.broadcast_to(e, shape).copy()
        columns.append(linear.hessian_product(direction).copy())
    return np.stack(columns, axis=2)


@every_loss
def test_hessians_and_diagonals_of_rows_are_those_of_products(loss):
    """Also where scores are not available; without a Hessian of its own as well."""
    for n_classes in (1, 2, 5):
        scores, target = moderate_rows(n_classes)
        target = as_target(target, target.shape, float, loss.traits.polytope)
        missing = scores.copy()
        if n_classes == 5:
            missing[::2, 1] = -np.inf
            reduced = target.to_dense(float)
            reduced[:, 1] = 0
            reduced[reduced.sum(axis=1) == 0] = np.eye(5)[3]
            if loss.traits.polytope == "simplex":
                reduced /= reduced.sum(axis=1, keepdims=True)
            cases = (
                (scores, target),
                (
                    missing,
                    as_target(reduced, reduced.shape, float, loss.traits.polytope),
                ),
            )
        else:
            cases = ((scores, target),)
        for z, q in cases:
            linear = loss.linearize(z.copy(), q)
            expected = hessian_by_products(linear, z.shape)
            largest = np.abs(expected).max()
            close = {"rtol": 1e-9, "atol": 1e-12 * max(largest, 1e-3)}
            for each in linear, linear._replace(hessian=None):
                matrices = each.hessian_matrices()
                assert matrices.shape == (*z.shape, n_classes)
                assert_allclose(matrices, expected, **close)
                diagonal = np.einsum("nkk->nk", expected)
                assert_allclose(each.hessian_diagonal(), diagonal, **close)
            s = linear.slopes()
            if s is not None:
                total = s.sum(axis=1)[:, None, None]
                matrices = s[:, :, None] * (np.eye(n_classes) - s[:, None, :] / total)
                assert_allclose(matrices, expected, **close)


@pytest.mark.parametrize(
    ("mapping", "scores_of"),
    [
        (Softmax(), np.log),
        (Entmax(1.5), lambda p: 2 * np.sqrt(p)),
        (Entmax(1.75), lambda p: p**0.75 / 0.75),
    ],
    ids=["softmax", "1.5-entmax", "1.75-entmax"],
)
def test_hessians_towards_targets_are_those_of_a_mixture(mapping, scores_of):
    """At the scores that have the mixture as their probabilities."""
    loss = FenchelYoungLoss(mapping)
    scores, target = moderate_rows(5)
    scores /= 10  # All probabilities are positive.
    target = as_target(target, target.shape, float, "simplex")
    linear = loss.linearize(scores.copy(), target)
    nearer = linear.towards_target(0.3)
    assert_allclose(nearer.values, linear.values, rtol=0)
    assert_allclose(nearer.gradient, linear.gradient, rtol=0)
    mixture = 0.7 * mapping(scores) + 0.3 * target.to_dense(float)
    assert mixture.min() > 0
    expected = loss.linearize(scores_of(mixture), target).hessian_matrices()
    assert_allclose(nearer.hessian_matrices(), expected, rtol=1e-9, atol=1e-12)
    products = hessian_by_products(nearer, scores.shape)
    assert_allclose(products, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "score_of"),
    [
        (1.0, lambda p: np.log(p / (1 - p))),
        (1.5, lambda p: 2 * (np.sqrt(p) - np.sqrt(1 - p))),
    ],
)
def test_marginals_towards_targets_have_the_derivatives_of_a_mixture(alpha, score_of):
    """Each row by its own share of the target; none in the first."""
    loss = FenchelYoungLoss(Sigmoid(alpha))
    scores = np.random.default_rng(0).normal(size=(20, 3)) / 2
    marginals = np.random.default_rng(1).integers(2, size=(20, 3)).astype(float)
    target, share = DenseTarget(marginals), np.linspace(0, 0.5, 20)[:, None]
    nearer = loss.linearize(scores.copy(), target).towards_target(share)
    mixture = (1 - share) * Sigmoid(alpha)(scores) + share * marginals
    expected = loss.linearize(score_of(mixture), target).hessian_diagonal()
    assert_allclose(nearer.hessian_diagonal(), expected, rtol=1e-9)
    ones = np.ones_like(scores)
    assert_allclose(nearer.hessian_product(ones), expected, rtol=1e-9)


@every_loss
def test_hessians_towards_targets_have_a_formula_or_do_not_change(loss):
    scores, target = moderate_rows(5)
    target = as_target(target, target.shape, float, loss.traits.polytope)
    linear = loss.linearize(scores.copy(), target)
    nearer = linear.towards_target(0.0)
    matrices = linear.hessian_matrices()
    assert_allclose(nearer.hessian_matrices(), matrices, rtol=1e-9, atol=1e-12)
    if nearer is not linear and loss.traits.polytope == "simplex":
        # The gradient is probabilities less target, and these sum to one.
        assert_allclose(linear.gradient.sum(axis=1), 0, atol=1e-12)


@every_loss
def test_the_hessian_in_a_difference_of_two_scores_is_that_of_a_product(loss):
    scores, target = moderate_rows(2)
    target = as_target(target, target.shape, float, loss.traits.polytope)
    difference = scores[:, 1:] - scores[:, :1]
    linear = linearize_difference(loss, difference.copy(), target)
    expected = linear.hessian_product(np.ones_like(difference)).copy()
    pair = np.hstack([-difference / 2, difference / 2])
    both = hessian_by_products(loss.linearize(pair, target), pair.shape)
    half = np.array([-0.5, 0.5])
    close = {"rtol": 1e-8, "atol": 1e-11 * max(np.abs(expected).max(), 1e-3)}
    assert_allclose(expected[:, 0], half @ both @ half, **close)
    assert_allclose(linear.hessian_diagonal(), expected, **close)
    assert_allclose(linear.hessian_matrices()[:, :, 0], expected, **close)


def test_the_proximal_residual_is_the_gradient_at_the_proximal_point():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20, 5), scale=3)
    target = LabelTarget(rng.integers(5, size=20), 5)
    loss = FenchelYoungLoss(Sparsemax())
    for strength in 0.01, 1.0, 30.0:
        for q in target, SmoothedTarget(target, 0.2):
            residual = loss.proximal_residual(scores, q, strength)
            nearest = scores - residual / strength
            _, gradient = loss.evaluate(nearest, q)
            assert_allclose(residual, gradient, atol=1e-9)
