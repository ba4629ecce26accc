"""Hessians of some raw predictions of each row, by finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective.left_out._diagonal_blocks import (
    _inverse_forms,
    hessians_of_chosen,
)
from skprob.targets import DenseTarget


@pytest.mark.parametrize("mapping", [Softmax(), Entmax(1.5), Sparsemax(), Entmax(3.0)])
def test_coupling_of_some_classes(mapping, monkeypatch):
    """Matrices of all classes took 67 s of a fit to 2,000 rows with 1,000 classes."""
    rng, loss, step = np.random.default_rng(0), FenchelYoungLoss(mapping), 1e-6
    scores, target = 0.3 * rng.normal(size=(5, 6)), np.eye(6)[rng.integers(6, size=5)]
    scores[0] = [9, 0, 0, 0, 0, 0]

    def gradient(scores):
        return loss.value_and_gradient(scores, target)[1]

    columns = [
        (gradient(scores + step * e) - gradient(scores - step * e)) / (2 * step)
        for e in np.eye(6)
    ]
    hessian = np.stack(columns, axis=2)
    linear = loss.linearize(scores.copy(), DenseTarget(target))
    if linear.slopes() is not None:
        monkeypatch.setattr(type(linear.hessian), "matrices", pytest.fail)
    chosen = np.array([rng.permutation(6)[:3] for _ in range(5)])
    expected = [J[np.ix_(k, k)] for J, k in zip(hessian, chosen, strict=True)]
    assert_allclose(hessians_of_chosen(linear, chosen), expected, atol=1e-7)


@pytest.mark.parametrize(("unit", "rtol"), [(1.0, 1e-5), (1e-4, 1e-8)])
def test_forms_of_many_columns(unit, rtol):
    """Columns that are nearly the same need double precision."""
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(120, 300))
    mixed[1] = mixed[0] + unit * mixed[1]
    scale = 2.0 ** rng.uniform(-9, 9, size=(120, 1))
    hessian = scale * (mixed @ mixed.T) * scale.T
    factor = np.asfortranarray(np.linalg.cholesky(hessian))
    z = scale * mixed[:, :40]
    forms = _inverse_forms(z, np.array([factor]))
    expected = np.einsum("dn,dn->n", z, np.linalg.solve(hessian, z))
    assert_allclose(forms[:, 0], expected, rtol=rtol)
