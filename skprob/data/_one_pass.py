"""Means and variances of columns from sums and sums of squares, in one pass.

Squares of deviations from the mean take a second pass, but lose no digits if the mean
is large.
"""

import numpy as np

from ._design import SMALLEST_SQUARE

# Most numbers that are summed at a time, so that they remain in the cache.
_AT_ONCE = 1 << 16
# Smallest ratio of variance to mean square at which the variance has lost few digits.
_LITTLE_LOST = 0.1


def mean_and_squares(X, share):
    """Means and mean squares of the columns, in one pass."""
    n_rows, n_columns = X.shape
    length = max(_AT_ONCE // n_columns, 1)
    mean, squares = np.zeros(n_columns), np.zeros(n_columns)
    z = np.empty((min(length, n_rows), n_columns))
    for start in range(0, n_rows, length):
        x, part = X[start : start + length], share[start : start + length]
        mean += part @ x
        squares += part @ np.square(x, out=z[: len(x)], dtype=np.float64)
    return mean, squares


def variance_of_sums(mean, squares, has_numbers):
    """Variances of columns, and numbers of those whose variance has lost digits.

    Parameters
    ----------
    mean, squares : ndarray of shape (n_columns,)
        Means and mean squares.
    has_numbers : callable
        ``has_numbers(mask)`` returns whether the columns of a mask have non-zeros: an
        array with an entry for each column, or one value for all.
    """
    variance = squares - mean**2
    has_lost = ~(np.isfinite(squares) & (variance >= _LITTLE_LOST * squares))
    tiny = squares < SMALLEST_SQUARE
    if tiny.any():
        has_lost[tiny] = has_numbers(tiny)
    return variance, np.flatnonzero(has_lost)
