"""The rules for single precision."""

import numpy as np
import pytest

from skprob._utils.single_precision import keeps_digits, smallest_pivot, squares_fit


def test_squares_overflow_in_single_precision_from_about_1e19_on():
    for largest in (0.0, 1e19, 1e20, np.inf):
        with np.errstate(over="ignore"):
            square = np.float32(largest) ** 2
        assert squares_fit(largest) == np.isfinite(square)
    assert not squares_fit(np.nan)


def test_digits_of_rounded_columns():
    """Few digits cancel for means near zero, in units that are not extreme."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=1000)
    for mean, scale, expected in (
        (0.0, 1.0, True),
        (50.0, 1.0, True),
        (5e3, 100.0, True),
        (1e3, 1.0, False),
        (0.0, 1e-10, False),
        (0.0, 1e10, False),
    ):
        means, scales = np.array([0.0, mean]), np.array([1.0, scale])
        assert keeps_digits(means, scales) is expected
        if expected:
            x = (mean + scale * z).astype(np.float32)
            error = np.abs((x - np.float32(mean)) / np.float32(scale) - z).max()
            assert error < 1e-5
    assert keeps_digits(np.zeros(0), np.zeros(0))


def test_the_smallest_pivot_is_what_other_columns_do_not_explain():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1, 10, 0.1, 1]
    X[:, 3] = X[:, 0] + 1e-2 * X[:, 3]
    matrix = X.T @ X
    roots = np.diagonal(np.linalg.cholesky(matrix))
    residual = X[:, 3] - X[:, :3] @ np.linalg.lstsq(X[:, :3], X[:, 3])[0]
    share = residual @ residual / (X[:, 3] @ X[:, 3])
    assert smallest_pivot(roots, np.diagonal(matrix)) == pytest.approx(share)
    assert smallest_pivot(np.zeros(0), np.zeros(0)) == 1
