"""Rows of a target, however it is kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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
    there = array.copy(order=layout if layout in "CF" else "C")
    if layout == "neither":
        there = np.repeat(array, 2, axis=1)[:, ::2]
    dense = target.to_dense(float)
    assert_allclose(target.inner(there), (dense * array).sum(axis=1), rtol=1e-14)
    assert_allclose(target.matmul(there), dense @ array, rtol=1e-14, atol=1e-15)
    target.add_to(there, -2.0)
    assert_allclose(there, array - 2 * dense, rtol=1e-14)


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
