"""Objectives without a fold of the rows, compared with objectives of the others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.data import LocalBlocks
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax
from skprob.objective import Fold, LinearObjective, split_rows
from skprob.targets import DenseTarget


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_folds_are_parts_of_the_rows(n_blocks):
    rng, loss = np.random.default_rng(0), FenchelYoungLoss(Entmax(1.5))
    X, target = rng.normal(size=(30, 4)), rng.dirichlet(np.ones(3), 30)
    weight, offset = rng.uniform(0.5, 2, 30), rng.normal(size=(30, 3))

    def blocks_of(some, total):
        return split_rows(
            X[some],
            DenseTarget(target[some]),
            weight[some],
            offset=offset[some],
            total=total,
        )

    parts = np.array_split(np.arange(30), n_blocks)
    blocks = LocalBlocks(blocks_of(part, weight.sum()).single for part in parts)
    objective = LinearObjective(blocks, loss, l2=0.1)
    parameters = rng.normal(size=objective.n_parameters)
    coef, intercept = objective.to_model(parameters)
    folds = [Fold(objective, number, 5) for number in range(5)]
    assert_array_equal(
        np.sort(np.concatenate([fold.rows for fold in folds])), np.arange(30)
    )
    for fold in folds:
        # A fold has the same share of each block.
        assert {np.isin(part, fold.rows).sum() for part in parts} == {6 // n_blocks}
        raw = X[fold.rows] @ coef.T + intercept
        means = raw.mean(axis=1, keepdims=True)
        left_out = fold.raw(parameters)
        left_out = left_out - left_out.mean(axis=1, keepdims=True)
        assert_allclose(left_out, raw - means, atol=1e-12)
        others = np.delete(np.arange(30), fold.rows)
        strength = 0.1 * weight.sum() / weight[others].sum()
        single = LinearObjective(blocks_of(others, None), loss, l2=strength)
        same = single.from_model(coef, intercept)
        value, _ = single.value_and_gradient(same)
        expected, _ = fold.others(0.1).value_and_gradient(
            objective.from_model(coef, intercept)
        )
        assert_allclose(value, expected, rtol=1e-12)
