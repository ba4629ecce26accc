"""Hessians of some parameters against sums over the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.data import DenseDesign
from skprob.objective._piece_hessian import RowHessians
from skprob.solvers import Tuning


@pytest.mark.parametrize("part", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_hessian_of_some_parameters_of_many_outputs(dtype, part):
    """Few, most or all parameters are included; the rows are in several parts."""
    rng = np.random.default_rng(0)
    n_rows, n_outputs, size = 7000, 14, 5
    Z = rng.normal(size=(n_rows, size)) + 1
    diagonal = rng.uniform(size=(n_rows, n_outputs))
    diagonal[::3] = 0
    vector = np.where(diagonal > 0, rng.normal(size=(n_rows, n_outputs)) / 4, 0)
    included = rng.uniform(size=(n_outputs, size)) < part
    rows = RowHessians(diagonal, vector).astype(dtype)
    tuning = Tuning(outputs_of_pairs=8)
    hessian = rows.of_piece(DenseDesign(Z), included, tuning)
    outputs, columns = np.nonzero(included)
    scaled = vector[:, outputs] * Z[:, columns]
    expected = -scaled.T @ scaled
    for k in range(n_outputs):
        some = np.flatnonzero(outputs == k)
        weighted = Z[:, columns[some]] * diagonal[:, [k]]
        expected[np.ix_(some, some)] += weighted.T @ Z[:, columns[some]]
    assert hessian.dtype == dtype
    error = {np.float64: 1e-13, np.float32: 1e-5}[dtype] * np.abs(expected).max()
    assert_allclose(hessian, expected, rtol=0, atol=error)
