"""Rows of a target, however it is kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import entr

from skprob.targets import DenseTarget, LabelTarget, SmoothedTarget, SparseTarget

P = np.array([[1.0, 0, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 0, 1], [0.25, 0.25, 0.25, 0.25]])
LABELS = np.array([2, 0, 3, 1])
SETS = SparseTarget(
    np.array([0, 1, 3, 4, 8]),
    np.array([0, 0, 2, 3, 0, 1, 2, 3]),
    np.array([1, 0.5, 0.5, 1, 0.25, 0.25, 0.25, 0.25]),
    n_classes=4,
)
TARGETS = [
    DenseTarget(P),
    SETS,
    LabelTarget(LABELS, n_classes=4),
    SmoothedTarget(SETS, 0.1),
]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
@pytest.mark.parametrize("layout", ["C", "F", "neither"])
def test_sums_with_the_target_in_any_layout(target, layout):
    array = np.random.default_rng(0).normal(size=(4, 4))
    result = array.copy(order=layout if layout in "CF" else "C")
    if layout == "neither":
        result = np.repeat(array, 2, axis=1)[:, ::2]
    dense = target.to_dense(float)
    assert_allclose(target.inner(result), (dense * array).sum(axis=1), rtol=1e-14)
    assert_allclose(target.matmul(result), dense @ array, rtol=1e-14, atol=1e-15)
    target.add_to(result, -2.0)
    assert_allclose(result, array - 2 * dense, rtol=1e-14)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_an_infinite_entry_counts_where_the_target_is_positive(target):
    array = np.random.default_rng(0).normal(size=(4, 4))
    array[[0, 1, 3], [1, 0, 3]] = -np.inf
    expected = [
        sum(q * a for q, a in zip(*row, strict=True) if q > 0)
        for row in zip(target.to_dense(float), array, strict=True)
    ]
    assert_allclose(target.inner(array), expected, rtol=1e-14)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_rows_by_their_numbers(target):
    dense = target.to_dense(float)
    for rows in [3, 1], [0, 2], [1], [2, 2, 0], []:
        rows = np.array(rows, dtype=int)
        taken = target.take(rows)
        assert taken.shape == (len(rows), 4)
        assert_array_equal(taken.to_dense(float), dense[rows])
        assert_array_equal(taken.inner(dense[rows]), target.inner(dense)[rows])


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_joined_rows(target):
    parts = [target.take(np.array(rows, dtype=int)) for rows in ([3, 1], [], [0])]
    whole, dense = parts[0].joined(parts[1:]), target.to_dense(float)[[3, 1, 0]]
    assert whole.shape == (3, 4)
    assert_array_equal(whole.to_dense(float), dense)
    assert_array_equal(whole.take(np.array([1, 2])).to_dense(float), dense[1:])


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
@pytest.mark.parametrize("rows", [slice(4), slice(1, 3), slice(2, 2)])
def test_a_slice_of_the_rows(target, rows):
    part = target.take(rows)
    assert_array_equal(part.to_dense(float), target.to_dense(float)[rows])


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_weighted_sums_of_the_classes(target):
    weight = np.array([0.5, 0.0, 2.0, 3.0])
    expected = weight @ target.to_dense(float)
    assert_allclose(target.class_totals(weight), expected, rtol=1e-15)


@pytest.mark.parametrize(
    "target", TARGETS[:3], ids=lambda target: type(target).__name__
)
@pytest.mark.parametrize("classes", [slice(4), slice(1, 3), slice(3, 4)])
def test_a_slice_of_the_classes(target, classes):
    part = target.of_classes(classes)
    assert_array_equal(part.to_dense(float), target.to_dense(float)[:, classes])


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_packed_rows_have_the_same_entropies(target):
    expected = entr(target.to_dense(float)).sum(axis=1)
    assert_allclose(entr(target.packed()).sum(axis=1), expected, rtol=1e-15)


@pytest.mark.parametrize(
    "target",
    [
        LabelTarget(np.array([1, 0, 1]), n_classes=2),
        SparseTarget(np.array([0, 1, 3]), np.array([1, 0, 1]), np.full(3, 0.5), 2),
        DenseTarget(np.array([[0.25, 0.75], [1.0, 0.0]])),
    ],
    ids=lambda target: type(target).__name__,
)
def test_the_second_of_two_classes(target):
    assert_array_equal(target.second, target.to_dense(float)[:, 1])


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: type(target).__name__)
def test_inner_products_have_the_wider_precision(target):
    """Scores may be in single precision where the target is in double."""
    assert target.inner(np.ones((4, 4), np.float32)).dtype == np.float64
