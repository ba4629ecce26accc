"""Weighted moments of columns: when they are computed in units of the entries."""

import numpy as np

# Mean squares of columns that are not smaller have all digits.
_SMALLEST_SQUARE = np.finfo(np.float64).tiny / np.finfo(np.float64).eps


def need_units(squares, has_numbers):
    """Whether mean squares of columns overflowed, or underflowed.

    Parameters
    ----------
    squares : ndarray of shape (n_columns,)
    has_numbers : callable
        ``has_numbers(mask)`` returns whether the columns of a mask have non-zeros.
    """
    # Others are inaccurate because of underflow, or a column is zero.
    tiny = squares < _SMALLEST_SQUARE
    return bool(not np.isfinite(squares).all() or (tiny.any() and has_numbers(tiny)))
