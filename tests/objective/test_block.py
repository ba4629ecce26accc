"""Blocks: scores of raw predictions, and cuts of data in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.data import LocalBlocks, SingleBlock, as_design
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import Entmax, EntropyInvariantSoftmax, Sigmoid, Softmax, Sparsemax
from skprob.objective import Block, scores_of, split_rows
from skprob.objective._block import predictions_adjoint
from skprob.targets import LabelTarget, as_target

LOSSES = [
    *(FenchelYoungLoss(m) for m in (Softmax(), Entmax(1.5), Sparsemax())),
    # Its entropy depends on the number of available classes.
    FenchelYoungLoss(EntropyInvariantSoftmax()),
    LogLoss(Softmax()),
]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def rows(n_classes, n_rows=12):
    """Raw predictions, targets, offsets and available classes."""
    rng = np.random.default_rng(n_classes)
    raw = rng.normal(size=(n_rows, n_classes if n_classes > 2 else 1))
    available = rng.random((n_rows, n_classes)) < 0.6
    available[np.arange(n_rows), rng.integers(n_classes, size=n_rows)] = True
    Q = rng.random((n_rows, n_classes)) * available
    Q /= Q.sum(axis=1, keepdims=True)
    return raw, Q, rng.normal(size=(n_rows, n_classes)), available


def block_of(Q, polytope="simplex", **given):
    X = np.ones((len(Q), 1))
    target = as_target(Q, Q.shape, float, polytope)
    return Block(as_design(X), target, np.ones(len(Q)) / len(Q), **given)


def scores_by_hand(raw, offset, available):
    scores = raw if raw.shape[1] > 1 else np.hstack([-raw / 2, raw / 2])
    scores = scores if offset is None else scores + offset
    return scores if available is None else np.where(available, scores, -np.inf)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_offsets_are_added_and_classes_that_are_not_available_are_minus_infinity(
    n_classes,
):
    raw, Q, offset, available = rows(n_classes)
    for o in (None, offset):
        for a in (None, available):
            block = block_of(Q, offset=o, available=a)
            assert block.has_row_scores == (o is not None or a is not None)
            assert_allclose(block.scores(raw.copy()), scores_by_hand(raw, o, a))


@every_loss
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_loss_is_that_of_the_scores(loss, n_classes):
    """Its public methods take -inf for a class that is not available."""
    raw, Q, offset, available = rows(n_classes)
    for o, a in ((None, None), (offset, None), (None, available), (offset, available)):
        block, scores = block_of(Q, offset=o, available=a), scores_by_hand(raw, o, a)
        expected, gradient = loss.value_and_gradient(scores, Q)
        values, residual = block.evaluate(loss, raw.copy())
        assert_allclose(values + block.constant(loss), expected, atol=1e-13)
        if n_classes == 2:
            gradient = (gradient[:, 1:] - gradient[:, :1]) / 2
        assert_allclose(residual, gradient, atol=1e-13)
        linear = block.linearize(loss, raw.copy())
        assert_allclose(linear.values, values, atol=1e-13)
        assert_allclose(linear.residual(), residual, atol=1e-13)
        direction = np.random.default_rng(0).normal(size=raw.shape)
        along = scores_by_hand(direction, None, None)
        product = loss.hessian_product(scores, Q, along)
        if n_classes == 2:
            product = (product[:, 1:] - product[:, :1]) / 2
        assert_allclose(linear.hessian_product(direction.copy()), product, atol=1e-12)


def test_marginals_have_offsets_and_available_labels_as_well():
    raw, Q, offset, available = rows(4)
    Q = (Q > 0.2).astype(float)
    loss = FenchelYoungLoss(Sigmoid())
    block = block_of(Q, "cube", offset=offset, available=available)
    expected, gradient = loss.value_and_gradient(
        scores_by_hand(raw, offset, available), Q
    )
    values, residual = block.evaluate(loss, raw.copy())
    assert_allclose(values + block.constant(loss), expected, atol=1e-13)
    assert_allclose(residual, gradient, atol=1e-13)
    assert not residual[~available].any()


def test_the_adjoint_of_scores_is_their_transpose():
    rng = np.random.default_rng(0)
    for n_outputs, n_classes in ((1, 2), (3, 3)):
        raw, residual = rng.normal(size=(5, n_outputs)), rng.normal(size=(5, n_classes))
        one = np.sum(scores_of(raw) * residual)
        other = np.sum(raw * predictions_adjoint(residual, n_outputs))
        assert one == pytest.approx(other)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_are_cut_with_all_that_belongs_to_them(container, rows_of_a_block):
    rng = np.random.default_rng(0)
    X = rng.integers(9, size=(12, 3)).astype(float)
    _, _, offset, available = rows(4)
    labels = LabelTarget(available.argmax(axis=1), 4)
    weight = rng.uniform(1, 2, 12)
    arguments = {"offset": offset, "available": available}
    whole = split_rows(container(X), labels, weight, **arguments)
    assert isinstance(whole, SingleBlock)
    rows_of_a_block(5)
    blocks = split_rows(container(X), labels, weight, **arguments)
    assert type(blocks) is LocalBlocks
    for some, block in zip(
        (slice(0, 5), slice(5, 10), slice(10, 12)), blocks._blocks, strict=True
    ):
        assert_array_equal(block.design.matvec(np.eye(3)), X[some])
        assert_array_equal(block.target.to_dense(float), labels.to_dense(float)[some])
        assert_allclose(block.weight, weight[some] / weight.sum(), rtol=1e-15)
        assert_array_equal(block.offset, offset[some])
        assert_array_equal(block.available, available[some])
        taken = block.take(np.array([1, 0]))
        assert_array_equal(taken.design.matvec(np.eye(3)), X[some][[1, 0]])
        assert_array_equal(taken.offset, offset[some][[1, 0]])
        assert_array_equal(taken.available, available[some][[1, 0]])
        assert_array_equal(taken.weight, block.weight[[1, 0]])
    # The total of all rows, where these are only some of them.
    part = split_rows(container(X[:5]), labels.take(slice(0, 5)), weight[:5], total=2.0)
    assert_allclose(part._blocks[0].weight, weight[:5] / 2.0, rtol=1e-15)
    assert part._blocks[0].offset is part._blocks[0].available is None
