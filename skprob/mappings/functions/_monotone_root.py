"""Roots of decreasing functions, one for each entry of an array."""

import numpy as np

_EPS = np.finfo(np.float64).eps
# Most steps. After a step that does not halve the residual the bracket is halved.
_MAX_STEPS = 400


def decreasing_root(function, low, high):
    """Root of a decreasing function, up to rounding errors.

    The method is Newton's, or secants if there is no derivative, in a bracket. The
    bracket is halved if the steps do not make it smaller.

    Parameters
    ----------
    function : callable
        ``function(x, rows)`` returns values and derivatives at `x` for the entries with
        the indices `rows`; None if there are no derivatives.
    low, high : ndarray of shape (n,)
        The function is not negative at `low` and not positive at `high`.

    Returns
    -------
    root : ndarray of shape (n,)
    residual : ndarray of shape (n,)
        Value of the function at the root.
    """
    low, high = low.copy(), high.copy()
    root, residual = low.copy(), np.zeros_like(low)
    rows, rounding = np.arange(len(low)), _EPS * np.maximum(np.abs(low), np.abs(high))
    (f_low, slope), (f_high, _) = (function(end, rows) for end in (low, high))
    # From the left, Newton's steps do not pass the root of a convex function.
    x, last_value = low, np.full_like(low, np.inf)
    if slope is None:
        x = low + (high - low) / 2
    for _ in range(_MAX_STEPS):
        value, slope = function(x, rows)
        root[rows], residual[rows] = x, value
        is_low = value > 0
        # The value at an end that does not change is halved (Illinois method).
        factor = np.where(is_low == (last_value > 0), 0.5, 1)
        low, f_low, high, f_high = (
            np.where(is_low, x, low),
            np.where(is_low, value, factor * f_low),
            np.where(is_low, high, x),
            np.where(is_low, factor * f_high, value),
        )
        width = high - low
        with np.errstate(all="ignore"):
            if slope is None:
                step = low + width * (f_low / (f_low - f_high)) - x
            else:
                step = -value / slope
        remaining = (np.abs(value) > 4 * _EPS) & (width > 2 * rounding)
        remaining &= ~(np.abs(step) <= rounding)
        if not remaining.any():
            break
        inside = (low < x + step) & (x + step < high)
        is_slow = np.abs(value) > np.abs(last_value) / 2
        next_x = np.where(inside & ~is_slow, x + step, low + width / 2)
        rows, x, last_value, low, high, f_low, f_high, rounding = (
            array[remaining]
            for array in (rows, next_x, value, low, high, f_low, f_high, rounding)
        )
    return root, residual
