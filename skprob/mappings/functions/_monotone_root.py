"""Roots of decreasing functions, one for each entry of an array."""

import numpy as np

_EPS = np.finfo(np.float64).eps
# Steps that do not halve the residual are followed by one that halves the bracket.
_MAX_STEPS = 400


def decreasing_root(function, low, high):
    """Where a decreasing function is zero, to rounding.

    Newton's steps, or secants where there is no derivative, in a bracket that is halved
    when they do not shrink it.

    Parameters
    ----------
    function : callable
        ``function(x, rows)`` gives, at `x` for the entries numbered `rows`, values and
        derivatives; None for derivatives that are not known.
    low, high : ndarray of shape (n,)
        The function is not negative at `low` and not positive at `high`.

    Returns
    -------
    root : ndarray of shape (n,)
    residual : ndarray of shape (n,)
        The function there.
    """
    low, high = low.copy(), high.copy()
    root, residual = low.copy(), np.zeros_like(low)
    rows, rounding = np.arange(len(low)), _EPS * np.maximum(np.abs(low), np.abs(high))
    (f_low, slope), (f_high, _) = (function(end, rows) for end in (low, high))
    # From the left Newton's steps never pass the root of a convex function.
    at, last = low, np.full_like(low, np.inf)
    if slope is None:
        at = low + (high - low) / 2
    for _ in range(_MAX_STEPS):
        value, slope = function(at, rows)
        root[rows], residual[rows] = at, value
        is_low = value > 0
        # A secant's end that stays counts half: Illinois.
        stays = np.where(is_low == (last > 0), 0.5, 1)
        low, f_low, high, f_high = (
            np.where(is_low, at, low),
            np.where(is_low, value, stays * f_low),
            np.where(is_low, high, at),
            np.where(is_low, stays * f_high, value),
        )
        width = high - low
        with np.errstate(all="ignore"):
            if slope is None:
                step = low + width * (f_low / (f_low - f_high)) - at
            else:
                step = -value / slope
        left = (np.abs(value) > 4 * _EPS) & (width > 2 * rounding)
        left &= ~(np.abs(step) <= rounding)
        if not left.any():
            break
        inside = (low < at + step) & (at + step < high)
        slow = np.abs(value) > np.abs(last) / 2
        following = np.where(inside & ~slow, at + step, low + width / 2)
        rows, at, last, low, high, f_low, f_high, rounding = (
            array[left]
            for array in (rows, following, value, low, high, f_low, f_high, rounding)
        )
    return root, residual
