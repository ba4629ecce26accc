"""Inverse forms of many columns, whose Hessian is hard to invert."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob.objective.left_out._separate_hessians import _inverse_forms


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
