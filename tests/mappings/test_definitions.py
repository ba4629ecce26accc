"""Every mapping gives what its definition gives in fifty digits."""

import numpy as np
import pytest

from skprob.mappings import MAPPINGS, Entmax, PerturbMax

from . import definitions
from .members import MEMBERS
from .precise import floats

# Above alpha = 2 the slope is infinite where a probability ends: see test_accuracy.
MILD = [m for m in MEMBERS if not (isinstance(m, Entmax) and m.alpha > 2)]
ROWS = [
    [0.5, -0.25, -3.0, 0.5],
    [1e3, 1e3 - 0.75, 999.0, -1e6],
    [-2.5, -np.inf, -2.0, -np.inf],
    [1e-9, 0.0, -1e-9, 1e-12],
]


@pytest.mark.parametrize("mapping", MILD, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_probabilities(mapping, dtype):
    scores = np.array(ROWS, dtype=dtype)
    exact = [floats(definitions.probabilities(mapping, row)) for row in scores]
    tolerance = max(8 * np.finfo(dtype).eps, getattr(mapping, "tol", 0))
    np.testing.assert_allclose(mapping(scores), exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("noise", definitions.NOISES)
def test_probabilities_under_noise(noise):
    scores = np.array([[0.5, -0.25, -3.0], [-2.0, -np.inf, -2.25]])
    mapping = PerturbMax(noise, scale=1.5)
    exact = [floats(definitions.probabilities(mapping, row)) for row in scores]
    np.testing.assert_allclose(mapping(scores), exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", MAPPINGS)
def test_every_registered_mapping_has_a_definition(name):
    assert callable(definitions.definition(MAPPINGS[name]()))
