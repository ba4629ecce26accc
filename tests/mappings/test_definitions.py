"""Every mapping gives what its definition gives in fifty digits."""

import numpy as np
import pytest

from skprob.mappings import MAPPINGS, Entmax, PerturbMax, SkewNormal, StudentT

from . import definitions
from .all_mappings import MEMBERS, name_of
from .precise_derivatives import floats

# Above alpha = 2 the slope is infinite where a probability ends: see test_accuracy.
# The noises are all below.
MILD = [
    m
    for m in MEMBERS
    if not (isinstance(m, Entmax) and m.alpha > 2) and not isinstance(m, PerturbMax)
]
# In single precision, so that the definition is computed once for both types.
ROWS = np.array(
    [
        [0.5, -0.25, -3.0, 0.5],
        [1e3, 1e3 - 0.75, 999.0, -1e6],
        [-2.5, -np.inf, -2.0, -np.inf],
        [1e-9, 0.0, -1e-9, 1e-12],
    ],
    dtype=np.float32,
)


@pytest.mark.parametrize("mapping", MILD, ids=name_of)
def test_probabilities(mapping):
    exact = [floats(definitions.probabilities(mapping, row)) for row in ROWS]
    for dtype in (np.float64, np.float32):
        p = mapping(ROWS.astype(dtype))
        np.testing.assert_allclose(p, exact, rtol=0, atol=8 * np.finfo(dtype).eps)


# test_perturb_max.py compares the shapes that their names stand for.
SHAPED = [StudentT(0.7), "generalized_normal", SkewNormal(-0.9)]


@pytest.mark.parametrize("noise", [*definitions.NOISES, *SHAPED], ids=str)
def test_probabilities_under_noise(noise):
    rows = np.array([[0.5, -np.inf, -0.25, -3.0]], dtype=np.float32)
    mapping = PerturbMax(noise, scale=1.5)
    exact = [floats(definitions.probabilities(mapping, row)) for row in rows]
    np.testing.assert_allclose(mapping(rows.astype(float)), exact, rtol=0, atol=1e-12)
    tolerance = 8 * np.finfo(np.float32).eps
    np.testing.assert_allclose(mapping(rows), exact, rtol=0, atol=tolerance)


def test_every_registered_mapping_has_a_definition():
    for mapping in MAPPINGS.values():
        assert callable(definitions.definition(mapping()))
