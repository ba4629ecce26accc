"""Units of features in which one row is far out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Softmax
from skprob.objective import LinearObjective, split_rows
from skprob.targets import LabelTarget

ROW = 7


def units_of(X):
    """Units of an objective with labels in turn."""
    target = LabelTarget(np.arange(len(X)) % 3, n_classes=3)
    blocks = split_rows(X, target, np.ones(len(X)))
    return LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=1e-3).units


@pytest.mark.parametrize("n_rows", [50, 60_000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_outlier_does_not_count(n_rows, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n_rows, 20)) * 3 + 1).astype(dtype)
    expected = units_of(np.delete(X, ROW, axis=0))
    X[ROW, 2], X[ROW + 1, 5] = 1e9, -1e13
    units = units_of(X)
    far = [2, 5]
    others = np.delete(X, [ROW, ROW + 1], axis=0)[:, far].astype(np.float64)
    assert_allclose(units.mean[far], others.mean(axis=0), rtol=1e-4, atol=1e-6)
    assert_allclose(units.scale[far], others.std(axis=0), rtol=1e-2)
    rest = np.setdiff1d(np.arange(20), far)
    assert_allclose(units.mean[rest], expected.mean[rest], atol=0.2)


def test_other_features_have_the_units_of_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) + 2
    X[:, 1] = np.arange(50) == ROW  # An indicator of one row.
    X[ROW, 2] = 1e4  # Not far enough.
    X[:, 3] = 5.0
    X[ROW, 3] = 1e12  # All other rows are equal.
    units = units_of(X)
    assert_allclose(units.mean, X.mean(axis=0), rtol=1e-12)
    # The penalty is added, in units of the curvature of the loss.
    assert_allclose(units.scale**2, X.var(axis=0) + 4e-3, rtol=1e-9)


def test_column_means_are_those_of_the_standardised_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[ROW, 0] = 1e9
    target = LabelTarget(np.arange(50) % 3, n_classes=3)
    blocks = split_rows(X, target, np.ones(50))
    objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=1e-3)
    z = objective.blocks.single.design.matvec(np.eye(4))
    assert_allclose(objective.column_means, z.mean(axis=0), rtol=1e-9, atol=1e-12)
    assert objective.column_means[0] > 1e6
    assert_array_equal(objective.column_means[1:], [0, 0, 1])
