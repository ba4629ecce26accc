"""The mixture without an array, compared with the array of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.targets import DenseTarget, SmoothedTarget, as_target

Q = np.array([[1, 0, 0, 0], [0.5, 0, 0.5, 0], [0.1, 0.2, 0.3, 0.4]])
MIXED = 0.7 * Q + 0.3 / 4
A = np.random.default_rng(0).normal(size=(3, 4))


@pytest.fixture(params=[np.array, sparse.csr_array], ids=["dense", "sparse"])
def target(request):
    return SmoothedTarget(as_target(request.param(Q), Q.shape, np.float64), 0.3)


def test_every_operation(target):
    assert target.shape == (3, 4)
    assert_allclose(target.to_dense(np.float64), MIXED)
    assert_allclose(target.packed(), MIXED)
    assert_allclose(target.inner(A), (MIXED * A).sum(axis=1))
    assert_allclose(target.class_totals(np.arange(3.0)), np.arange(3) @ MIXED)
    moved = A.copy()
    target.add_to(moved, -2)
    assert_allclose(moved, A - 2 * MIXED)
    assert_allclose(target.take(slice(1, 3)).to_dense(np.float64), MIXED[1:])


def test_types(target):
    assert target.to_dense(np.float32).dtype == np.float32
    # No class is without weight.
    assert target.to_dense(bool).all()
    # So an infinite loss of any class counts.
    A_infinite = np.where(np.arange(4) == 3, np.inf, A)
    assert_allclose(target.inner(A_infinite), np.inf)
    assert_allclose(DenseTarget(MIXED).inner(A_infinite), np.inf)
