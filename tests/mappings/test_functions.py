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
def test_along_every_axis(function, mapping):
    cases = [((3, 70), np.float64), ((2, 3, 1, 4), np.float32), ((0, 3), np.float32)]
    for shape, dtype in cases:
        scores = np.random.default_rng(0).standard_normal(shape).astype(dtype)
        kept = scores.copy()
        for axis in range(-scores.ndim, scores.ndim):
            if shape[axis] == 0:
                continue
            p = function(scores, axis=axis)
            assert p.shape == shape and p.dtype == dtype
            lines, rows = (
                np.moveaxis(a, axis, -1).reshape(-1, shape[axis]) for a in (p, scores)
            )
            # Rows are iterated on together, until the last of them is done.
            one_by_one = [mapping(row[None])[0] for row in rows]
            np.testing.assert_allclose(
                lines, np.reshape(one_by_one, lines.shape), rtol=0,
                atol=8 * np.finfo(dtype).eps,
            )  # fmt: skip
        np.testing.assert_array_equal(scores, kept)
    # The last axis is the default.
    scores = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_array_equal(function(scores), mapping(scores))
    np.testing.assert_array_equal(function(scores.tolist()), mapping(scores))
    np.testing.assert_array_equal(function(scores[0]), function(scores)[0])
