"""Roots of decreasing functions, one for each entry of an array."""

import numpy as np

_EPS = np.finfo(np.float64).eps
# Every third halves the bracket at least.
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
    rows = np.arange(len(low))
    f_low, f_high = (function(end, rows)[0] for end in (low, high))
    at, before = (low + high) / 2, high - low
    for step in range(_MAX_STEPS):
        value, slope = function(at, rows)
        root[rows], residual[rows] = at, value
        is_low = value > 0
        low, f_low = np.where(is_low, (at, value), (low, f_low))
        high, f_high = np.where(is_low, (high, f_high), (at, value))
        width = high - low
        left = (np.abs(value) > 4 * _EPS) & (width > 2 * _EPS * np.abs(at))
        left &= (low < at) | (at < high)
        if not left.any():
            break
        with np.errstate(all="ignore"):
            if slope is None:
                following = low + width * (f_low / (f_low - f_high))
            else:
                following = at - value / slope
        middle = low + width / 2
        inside = (low < following) & (following < high)
        slow = (step % 3 == 2) & (width > before / 2)
        following = np.where(inside & ~slow, following, middle)
        if step % 3 == 2:
            before = width
        rows, at, before, low, high, f_low, f_high = (
            a[left] for a in (rows, following, before, low, high, f_low, f_high)
        )
    return root, residual
