"""Line search: the length of a step along a direction."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from .._utils.arrays import precision
from .._utils.tuning import Tuning


class Trial(NamedTuple):
    """A length of a step, with the value and the slope there."""

    length: float
    value: float
    slope: float


def search_along(problem, point, step, slope_left, tuning=Tuning(), ray=None):
    """The point at which a line search along a step ends, and the length of the step.

    The result is None if the step is not a descent direction, or no trial has a smaller
    value. `ray` is along the step from the point; None stands for a new one.
    """
    slope = float(point.gradient.dot(step))
    if not slope < 0:
        return None
    ray, start = ray or point.along(step), Trial(0.0, point.value, slope)
    rounding_error = rounding_error_of(problem, point.value, tuning)
    best = line_search(ray, start, rounding_error, slope_left, tuning)
    return None if best is None else (ray.arrive(best.length), best.length)


def line_search(ray, start, rounding_error, slope_left, tuning=Tuning()):
    """Find a length at which a function has fallen and its slope is small.

    If rows enter or leave the support of the loss, the curvature jumps, and the step of
    a quadratic model is too short as often as too long. So the length grows while the
    function keeps falling; then the search interpolates between the ends of a bracket.

    The result is the trial of smallest slope among those where the function has fallen;
    None if there is none. A ValueError of a trial, for instance because a user's
    function is not finite, is raised if no shorter step has a small slope.

    Parameters
    ----------
    ray : Ray
    start : Trial
        The trial at length zero; its slope is negative.
    rounding_error : float
        Values that differ by no more are compared by their slopes.
    slope_left : float
        Largest slope at the end, relative to that at the start.
    tuning : Tuning

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 3.5.
    """
    search = LineSearch(start, rounding_error, slope_left, tuning)
    error = None
    while not search.is_over:
        try:
            value, slope = ray.trial(search.length)
        except ValueError as failure:
            # The step is too long: the next one is shorter.
            value, slope, error = math.inf, math.nan, error or failure
        search.take(value, slope)
    if error is not None and not search.has_small_slope:
        raise error
    return search.best


def rounding_error_of(problem, value, tuning=Tuning()):
    """Rounding error of the objective: smaller differences are not significant."""
    # The loss of a row is computed from numbers of about one.
    eps = precision(problem.description.dtype)
    return eps * (tuning.rounding * abs(value) + 1)


class LineSearch:
    """A line search whose caller computes the value and the slope at each length.

    The arguments are those of :func:`line_search`. `length` is that of the next trial,
    `best` the best trial so far, and `has_small_slope` is about the last trial.
    """

    def __init__(self, start, rounding_error, slope_left, tuning=Tuning()):
        self._start, self._rounding_error = start, rounding_error
        self._slope_left, self._tuning = slope_left, tuning
        self.length, self.best = 1.0, None
        self.is_over = self.has_small_slope = False
        self._least_remaining, self._n_trials = math.inf, 0
        self._low, self._high = start, None

    def take(self, value, slope):
        """Compare the value and the slope at the length, and choose the next length."""
        start, tuning = self._start, self._tuning
        trial = Trial(self.length, value, slope)
        self._n_trials += 1
        change = trial.value - start.value
        remaining = abs(trial.slope / start.slope)  # Share of the first slope.
        # Values that are the same up to rounding are compared by their slopes.
        is_same = abs(change) <= self._rounding_error and remaining < 1
        has_fallen = change <= tuning.sufficient_decrease * trial.length * start.slope
        has_fallen = has_fallen or is_same
        if has_fallen and remaining <= self._least_remaining:
            self.best, self._least_remaining = trial, remaining
        self.has_small_slope = has_fallen and remaining <= self._slope_left
        self.is_over = self.has_small_slope or self._n_trials >= tuning.most_trials
        if not self.is_over:
            self._choose_next(trial, has_fallen)

    def _choose_next(self, trial, has_fallen):
        before = self._low
        if has_fallen and trial.slope < 0:
            self._low = trial
        else:
            self._high = trial
        low, high = self._low, self._high
        if high is None:
            self.length = extrapolated_length(before, low, self._tuning)
            return
        self.length = interpolated_length(low, high, self._tuning)
        if low is self._start and self._n_trials >= self._tuning.trials_by_cubics:
            # The function is far from a cubic, and the minimum may be many orders of
            # magnitude nearer.
            self.length = min(self.length, tangents_meet(low, high))
        ends = low.length, high.length
        # The ends of the bracket may be adjacent floating-point numbers.
        self.is_over = not min(ends) < self.length < max(ends)


def extrapolated_length(before, end, tuning=Tuning()):
    """Length at which the slope would be zero, within bounds of the tuning."""
    curvature = (end.slope - before.slope) / (end.length - before.length)
    ahead = -end.slope / curvature if curvature > 0 else math.inf
    length = max(end.length + ahead, tuning.least_longer * end.length)
    return min(length, tuning.most_longer * end.length)


def interpolated_length(low, high, tuning=Tuning()):
    """Length at which the cubic with these values and slopes at the ends is least."""
    width = high.length - low.length
    if width == 0:
        return low.length
    a = low.slope + high.slope - 3 * (high.value - low.value) / width
    square = a * a - low.slope * high.slope
    root = math.sqrt(square) if square > 0 else 0.0
    below = high.slope - low.slope + 2 * root
    part = 1 - (high.slope + root - a) / below if below > 0 else 0.5
    if not math.isfinite(part):  # Values have overflowed.
        part = 0.5
    part = min(max(part, tuning.least_part), 1 - tuning.least_part)
    return low.length + width * part


def tangents_meet(low, high):
    """Length at which the tangents at both ends of a bracket intersect.

    A convex function lies above both. The length is infinite if they do not intersect.
    """
    width, slopes = high.length - low.length, high.slope - low.slope
    if not slopes > 0:
        return math.inf
    part = (high.slope - (high.value - low.value) / width) / slopes
    # The part may be smaller than its rounding error.
    part = max(part, sys.float_info.epsilon)
    return low.length + width * part if part < 1 else math.inf
