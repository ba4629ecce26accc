"""How far to go along a direction."""

import math
from typing import Any, NamedTuple

import numpy as np

# A length is accepted for so much of what the slope promises ...
_SUFFICIENT = 1e-4
# ... and wanted to leave no more than this part of the slope.
_SLOPE_LEFT = 0.5
# Where values differ by no more than rounding, less is asked for.
_SLOPE_LEFT_IN_NOISE = 0.9
_FARTHER = 4.0
_MAX_TRIALS = 20
# Nowhere do the rows bend a loss of two classes more than where both scores are equal:
# from there a step is too short by about so much.
_TOO_SHORT = 2.0


class Trial(NamedTuple):
    """A length that was tried.

    Attributes
    ----------
    length, value, slope : float
    point : object
        Whatever is known there.
    """

    length: float
    value: float
    slope: float
    point: Any


class LineSearch:
    """A line search that is told of one trial after the other.

    Parameters
    ----------
    start : Trial
        Of length zero. If its slope is not negative, as when it underflows, nothing
        is to be tried.
    noise : float
        Values that differ by no more are compared by their slopes.
    length : float, default=1.0
        To be tried first.

    Attributes
    ----------
    length : float
        To be tried next; once the search is `over`, the last that was.
    over : bool
    best : Trial
        The most level of those at which the function has fallen; the start where
        there is none.
    """

    def __init__(self, start, noise, length=1.0):
        self._start, self._noise = start, noise
        self.best = self._low = start
        self._high, self._least = None, np.inf
        self._n_left = _MAX_TRIALS
        self.length = length
        self.over = not start.slope < 0

    def tell(self, there):
        """Take in the trial of the length that was asked for."""
        start, length = self._start, there.length
        change, level = there.value - start.value, abs(there.slope / start.slope)
        fell = change <= _SUFFICIENT * length * start.slope or (
            abs(change) <= self._noise and level <= _SLOPE_LEFT_IN_NOISE
        )
        if fell and level <= self._least:
            self.best, self._least = there, level
        self._n_left -= 1
        self.over = (fell and level <= _SLOPE_LEFT) or self._n_left == 0
        if self.over:
            return
        before = self._low
        if fell and there.slope < 0:
            self._low = there
        else:
            self._high = there
        if self._high is None:
            self.length = _extrapolated(before, self._low)
        else:
            self.length = _between(self._low, self._high)


def line_search(evaluate, start, noise, length=1.0):
    """A length at which a function has fallen and has become nearly level.

    A quadratic model whose curvature jumps, because rows enter or leave the reach of
    the loss, is too short as often as too long: the search goes on as long as the
    function keeps falling, and comes back between the ends of a bracket.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(length)`` is the :class:`Trial` of that length.
    start, noise, length
        As for :class:`LineSearch`.

    Returns
    -------
    best : Trial
        Of the search.

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 3.5.
    """
    search = LineSearch(start, noise, length)
    while not search.over:
        search.tell(evaluate(search.length))
    return search.best


def search_along(objective, parameters, direction, here, noise, length):
    """How far to go from parameters along a direction.

    Parameters
    ----------
    objective : object
        With ``linearize(parameters)``.
    parameters, direction : ndarray of shape (n_parameters,)
    here : Linearization
        At the parameters.
    noise, length
        As for :class:`LineSearch`.

    Returns
    -------
    best : Trial
        Its point is the linearization there.
    """

    def evaluate(length):
        there = objective.linearize(parameters + length * direction)
        return Trial(length, there.value, there.gradient @ direction, there)

    start = Trial(0.0, here.value, here.gradient @ direction, here)
    return line_search(evaluate, start, noise, length)


def first_length(objective, initial):
    """How much of a solver's first Newton step to try at first.

    Parameters
    ----------
    objective : object
        With ``is_convex`` and, if it is, ``coef_shape``.
    initial : ndarray of shape (n_parameters,)
    """
    if not objective.is_convex or initial.any() or objective.coef_shape[0] > 1:
        return 1.0
    return _TOO_SHORT


def _extrapolated(before, there):
    """Where the slope would be zero, if it went on as it did."""
    end = there.length
    bend = (there.slope - before.slope) / (end - before.length)
    ahead = -there.slope / bend if bend > 0 else np.inf
    return _within(end + ahead, 1.5 * end, _FARTHER * end)


def _between(low, high):
    """Where the cubic with these values and slopes at the ends is least."""
    width = high.length - low.length
    a = low.slope + high.slope - 3 * (high.value - low.value) / width
    root = math.sqrt(max(a**2 - low.slope * high.slope, 0.0))
    below = high.slope - low.slope + 2 * root
    part = 1 - (high.slope + root - a) / below if below > 0 else 0.5
    return low.length + width * _within(part, 0.05, 0.9)


def _within(number, low, high):
    # np.clip takes longer than all the rest.
    return min(max(number, low), high)
