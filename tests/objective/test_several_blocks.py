"""Moments and descriptions of several blocks are those of all their rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.data import LocalBlocks, as_design
from skprob.objective import Block
from skprob.objective._block import moments_of_block
from skprob.objective._description import description_of_block
from skprob.objective._several_blocks import joined_description, pooled_moments
from skprob.targets import LabelTarget


def block_of(X, weight, **given):
    target = LabelTarget(np.zeros(X.shape[0], int), 3)
    return Block(as_design(X), target, weight, **given)


@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e160])
def test_moments_are_those_of_all_rows(scale):
    """Means differ between the blocks; one block has a weight of zero."""
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 2)) * [1, 20] + [5, n] for n in (7, 1, 3, 12)]
    weights = [rng.uniform(size=len(X)) for X in parts]
    weights[2][:] = 0
    blocks = map(block_of, [scale * X for X in parts], weights)
    moments = LocalBlocks(blocks).merged(moments_of_block, pooled_moments)
    X, weight = np.vstack(parts), np.concatenate(weights)
    mean = np.average(X, axis=0, weights=weight)
    variance = np.average((X - mean) ** 2, axis=0, weights=weight)
    assert moments[0] == pytest.approx(weight.sum())
    assert_allclose(moments[1] / scale, mean, rtol=1e-13)
    assert_allclose(moments[2] / scale, np.sqrt(variance), rtol=1e-13)


def test_all_blocks_must_have_a_property():
    """Dense are the rows if all are, and they have scores if all do."""
    X, weight = np.ones((2, 4)), np.ones(2)
    plain = block_of(X, weight)
    offset = block_of(X, weight, offset=np.zeros((2, 3)))
    entries = block_of(sparse.csr_array(np.eye(2, 4)), weight)
    for blocks, is_dense, has_row_scores, n_stored in (
        ([plain, plain], True, False, 16),
        ([plain, entries], False, False, 10),
        ([offset, offset], True, True, 16),
    ):
        joined = LocalBlocks(blocks).merged(description_of_block, joined_description)
        assert joined.is_dense == is_dense
        assert joined.has_row_scores == has_row_scores
        assert (joined.n_rows, joined.n_stored, joined.shape) == (4, n_stored, (3, 4))
        assert joined.dtype == np.float64 and joined.is_on_host
        assert not joined.is_remote
