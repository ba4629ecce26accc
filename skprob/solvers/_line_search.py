"""Line search: the length of a step along a direction."""

import math
from typing import Any, NamedTuple

# A length is accepted if the function falls by this part of length times slope ...
_SUFFICIENT = 1e-4
# ... and at most this part of the slope is left (strong Wolfe conditions).
_SLOPE_LEFT = 0.5
# Evaluations of one search.
MAX_TRIALS = 20


class Trial(NamedTuple):
    """A length that was tried, and whatever is known of the point there."""

    length: float
    value: float
    slope: float
    point: Any = None


class LineSearch:
    """A line search that gets one trial after the other.

    A quadratic model whose curvature jumps, because rows enter or leave the reach of
    the loss, is too short as often as too long: the search goes on as long as the
    function keeps falling, and then interpolates between the ends of a bracket.

    It begins with the trial `start` of length zero; if its slope is not negative, as
    when it underflows, nothing is tried. Values that differ by at most `noise` are
    compared by their slopes. `length` is to be tried next, until the search is `over`;
    then `best` is the trial of least slope among those where the function has fallen,
    or else the start.

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 3.5.
    """

    def __init__(self, start, noise, length=1.0):
        self._start, self._noise = start, noise
        self.best = self._low = start
        self._high, self._least = None, math.inf
        self._n_left, self.length = MAX_TRIALS, length
        self.over = not start.slope < 0

    def tell(self, there):
        """Take in the trial of the length that was asked for."""
        start, length = self._start, there.length
        change, level = there.value - start.value, abs(there.slope / start.slope)
        # Where values are the same up to rounding, a slope that is smaller must do.
        is_same = abs(change) <= self._noise and level < 1
        fell = is_same or change <= _SUFFICIENT * length * start.slope
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
            # No number is left between the ends of the bracket.
            self.over = self.length in (self._low.length, self._high.length)


def _extrapolated(before, there):
    """Where the slope would be zero if it went on as it did; at most four times."""
    end = there.length
    curvature = (there.slope - before.slope) / (end - before.length)
    ahead = -there.slope / curvature if curvature > 0 else math.inf
    return min(max(end + ahead, 1.5 * end), 4 * end)


def _between(low, high):
    """Where the cubic with these values and slopes at the ends is least."""
    width = high.length - low.length
    a = low.slope + high.slope - 3 * (high.value - low.value) / width
    root = math.sqrt(max(a * a - low.slope * high.slope, 0.0))
    below = high.slope - low.slope + 2 * root
    # Half the bracket where no minimum is inside, or where values or slopes overflow.
    part = 1 - (high.slope + root - a) / below if 0 < below < math.inf else 0.5
    return low.length + width * min(max(part, 0.05), 0.9)
