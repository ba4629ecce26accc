"""Line search: the length of a step along a direction."""

from __future__ import annotations

import math
from typing import NamedTuple

from ._tuning import Tuning


class Trial(NamedTuple):
    """A length of a step, with the value and the slope there."""

    length: float
    value: float
    slope: float


def line_search(ray, start, rounding_error, slope_left, tuning=Tuning()):
    """Find a length at which a function has fallen and its slope is small.

    A quadratic model whose curvature jumps, because rows enter or leave the support of
    the loss, is too short as often as too long. So the length grows while the function
    keeps falling; then the search interpolates between the ends of a bracket.

    Parameters
    ----------
    ray : Ray
    start : Trial
        At length zero; its slope is negative.
    rounding_error : float
        Values that differ by no more are compared by their slopes.
    slope_left : float
        Part of the slope at the start that may be left.
    tuning : Tuning

    Returns
    -------
    best : Trial or None
        The trial of smallest slope among those where the function has fallen; None if
        there is none.

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 3.5.
    """
    best, best_slope = None, math.inf
    low, high, length = start, None, 1.0
    for _ in range(tuning.most_trials):
        trial = Trial(length, *ray.trial(length))
        change, remaining = trial.value - start.value, abs(trial.slope / start.slope)
        # Where values are the same up to rounding, a smaller slope must do.
        is_same = abs(change) <= rounding_error and remaining < 1
        has_fallen = change <= tuning.sufficient_decrease * length * start.slope
        has_fallen = has_fallen or is_same
        if has_fallen and remaining <= best_slope:
            best, best_slope = trial, remaining
        if has_fallen and remaining <= slope_left:
            break
        before = low
        if has_fallen and trial.slope < 0:
            low = trial
        else:
            high = trial
        if high is None:
            length = extrapolated_length(before, low)
            continue
        length = interpolated_length(low, high)
        if not min(low.length, high.length) < length < max(low.length, high.length):
            break  # Between the ends of the bracket there is no other number.
    return best


def extrapolated_length(before, end):
    """Length at which the slope would be zero; 1.5 to 4 times as far as the end."""
    curvature = (end.slope - before.slope) / (end.length - before.length)
    ahead = -end.slope / curvature if curvature > 0 else math.inf
    return min(max(end.length + ahead, 1.5 * end.length), 4 * end.length)


def interpolated_length(low, high):
    """Length at which the cubic with these values and slopes at the ends is least."""
    width = high.length - low.length
    if width == 0:
        return low.length
    a = low.slope + high.slope - 3 * (high.value - low.value) / width
    square = a * a - low.slope * high.slope
    root = math.sqrt(square) if square > 0 else 0.0
    below = high.slope - low.slope + 2 * root
    part = 1 - (high.slope + root - a) / below if below > 0 else 0.5
    # Values that overflow leave NaN: the middle then.
    part = min(max(part, 0.05), 0.9) if math.isfinite(part) else 0.5
    return low.length + width * part
