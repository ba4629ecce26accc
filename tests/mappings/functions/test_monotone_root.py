"""Roots of decreasing functions against formulas, in a bounded number of steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.mappings.functions._monotone_root import decreasing_root

LEVELS = np.array([0.01, 0.5, 3.0, 200.0])
#: Functions of x and a level, their derivatives and roots, and ends of a bracket.
CASES = {
    "convex": (
        lambda x, c: np.exp(-x) - c,
        lambda x, c: -np.exp(-x),
        -np.log(LEVELS),
        (-20.0, 20.0),
    ),
    "concave": (
        lambda x, c: c - np.exp(x),
        lambda x, c: -np.exp(x),
        np.log(LEVELS),
        (-20.0, 20.0),
    ),
    "flat at the root": (
        lambda x, c: (c - x) ** 3,
        lambda x, c: -3 * (c - x) ** 2,
        LEVELS,
        (-1000.0, 900.0),
    ),
    "a kink": (
        lambda x, c: np.where(x < c, 100 * (c - x), (c - x) / 100),
        lambda x, c: np.where(x < c, -100.0, -0.01),
        LEVELS,
        (-1000.0, 900.0),
    ),
}


@pytest.mark.parametrize(
    ("name", "has_derivative", "most_steps"),
    [
        ("convex", True, 36),
        ("convex", False, 24),
        ("concave", True, 18),
        ("concave", False, 24),
        ("flat at the root", True, 55),
        ("flat at the root", False, 60),
        ("a kink", True, 6),
        ("a kink", False, 100),
    ],
)
def test_roots(name, has_derivative, most_steps):
    function, derivative, roots, (low, high) = CASES[name]
    calls = []

    def values(x, rows):
        calls.append(rows)
        slope = derivative(x, LEVELS[rows]) if has_derivative else None
        return function(x, LEVELS[rows]), slope

    root, residual = decreasing_root(values, np.full(4, low), np.full(4, high))
    # Where the slope vanishes, or jumps, a small value is all that is known of a root.
    atol = {"flat at the root": 1e-4, "a kink": 1e-8}.get(name, 1e-12)
    assert_allclose(root, roots, rtol=0, atol=atol)
    assert_array_equal(residual, function(root, LEVELS))
    assert_allclose(residual, 0, atol=1e-10)
    assert len(calls) <= most_steps
