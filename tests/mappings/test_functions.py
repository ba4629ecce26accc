"""The functions of arrays of any dimension."""

import numpy as np
import pytest

from skprob.mappings import (
    Entmax,
    PerturbMax,
    Softmax,
    Sparsemax,
    entmax,
    perturb_max,
    softmax,
    sparsemax,
)

PAIRS = [
    (softmax, Softmax()),
    (sparsemax, Sparsemax()),
    (entmax, Entmax()),
    (lambda scores, axis=-1: entmax(scores, 2.5, axis), Entmax(2.5)),
    (perturb_max, PerturbMax()),
]


@pytest.mark.parametrize(("function", "mapping"), PAIRS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7,), (3, 70), (2, 5, 3), (2, 3, 1, 4), (0, 3)])
def test_along_every_axis(function, mapping, shape, dtype):
    scores = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    kept = scores.copy()
    for axis in range(-scores.ndim, scores.ndim):
        if shape[axis] == 0:
            continue
        p = function(scores, axis=axis)
        assert p.shape == shape and p.dtype == dtype
        places = list(np.ndindex(*np.delete(shape, axis)))
        for place in places:
            line = list(place)
            line.insert(axis % scores.ndim, slice(None))
            one = mapping(scores[tuple(line)][None])[0]
            # Rows are iterated on together, until the last of them is done.
            np.testing.assert_allclose(
                p[tuple(line)], one, rtol=0, atol=8 * np.finfo(dtype).eps
            )
    np.testing.assert_array_equal(scores, kept)


@pytest.mark.parametrize(("function", "mapping"), PAIRS)
def test_the_last_axis_is_the_default(function, mapping):
    scores = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_array_equal(function(scores), mapping(scores))
    np.testing.assert_array_equal(function(scores.tolist()), mapping(scores))
