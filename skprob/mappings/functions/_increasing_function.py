"""An increasing function of a user, with results that are computed once."""

from collections import OrderedDict
from functools import cached_property

import numpy as np

from ._antiderivative import LOWEST, Antiderivative, interval_ends
from ._user_function import check_derivative, check_values, values_of

# Arguments at which a function is compared with its values at the last use.
_PROBES = np.concatenate(
    [-np.geomspace(1e6, 40, 10), np.linspace(-32, 8, 81), np.geomspace(10, 1e3, 5)]
)
# Number of functions whose results are stored.
_MOST_KEPT = 128
# Values of g at which derivative and integral are compared with g, approximately.
_LEVELS = np.linspace(0.02, 0.98, 25)
# Number of intervals from zero to LOWEST.
_N_INTERVALS = 498
# Smaller values may be rounding errors, if g computes them as differences of numbers
# near one.
_EXACT = 1e-12
# Doublings of the distance over which a power of the tail is estimated.
_N_DOUBLINGS = 8
# The integral of a tail with a smaller power counts as infinite.
_LEAST_POWER = 1.01
# Largest part of the integral below -1e100, and below the lowest interval.
_MOST_FAR_BELOW, _MOST_BELOW = 1e-12, 1e-18


class IncreasingFunction:
    """An increasing function g, with results that are computed from its values.

    Parameters
    ----------
    g : callable

    Attributes
    ----------
    top : float
        Smallest argument, up to rounding, at which g is 1 or more.
    has_zeros : bool
        Whether g is exactly zero at some argument, without underflow.

    Raises
    ------
    ValueError
        If g does not return real numbers of the right shape, is negative, NaN or
        decreasing, does not become 1, or depends on more than one number.
    """

    def __init__(self, g):
        self._g = g
        self._check_entry_by_entry()
        self._arguments = {}
        self.top = self._search(1.0, above=True)
        x = self.top - np.concatenate([[0], np.geomspace(1e-6, 1e4, 400)])
        values = self(x)
        _check_increasing(x, values)
        zero = np.flatnonzero(values == 0)
        # A power has values far above underflow close to its zeros, an exponential does
        # not.
        self.has_zeros = bool(len(zero) and values[zero[0] - 1] > 1e-200)

    def __call__(self, x):
        """Values of g, checked. Larger values than 1e300 become 1e300."""
        values = values_of("g", self._g, x)
        check_values("g", x, values, values >= 0, "not be negative or NaN")
        return np.minimum(values, 1e300)

    def argument_below(self, value):
        """An argument, with an error of 0.001, at which g is less than a value."""
        if value not in self._arguments:
            self._arguments[value] = self._search(value, above=False)
        return self._arguments[value]

    def _search(self, value, above):
        """The argument at which g reaches a value, from above or from below."""

        def g_at(x):
            return self(np.array([x]))[0]

        low, high = -1.0, 1.0
        self(np.array([low, high]))  # This raises an error for negative values.
        while g_at(low) >= value:
            low *= 2
            if low < LOWEST:
                raise ValueError(
                    f"g must become less than {value:.3g} for small arguments; "
                    f"g({low / 2:.3g}) is {g_at(low / 2):.6g}."
                )
        while g_at(high) < value:
            high *= 2
            if high > -LOWEST:
                raise ValueError(
                    f"g must become {value:.3g} or more for large arguments; "
                    f"g({high / 2:.3g}) is {g_at(high / 2):.6g}."
                )
        # The argument with g = 1 makes a class certain: it is exact up to rounding.
        allowed = np.finfo(np.float64).eps / 8 if above else 1e-3
        while True:
            middle = low + (high - low) / 2
            is_narrow = high - low <= allowed * max(1, abs(middle))
            if is_narrow or middle in (low, high):
                return high if above else low
            low, high = (middle, high) if g_at(middle) < value else (low, middle)

    def _check_entry_by_entry(self):
        """Raise if values depend on other entries, or differ between calls."""
        # The arguments without the largest one, in another order and shape.
        x = _PROBES[-2::-2]
        values = values_of("g", self._g, _PROBES)[-2::-2]
        again = values_of("g", self._g, x[:, None])[:, 0]
        # Vector instructions may round the last digit differently.
        same = np.isclose(values, again, rtol=1e-9, atol=1e-15, equal_nan=True)
        if not same.all():
            at = int(np.argmin(same))
            raise ValueError(
                "g must compute each entry from the same entry of its argument, with "
                f"the same value at each call; g({x[at]:.6g}) was {values[at]:.6g} and "
                f"then {again[at]:.6g}."
            )

    @cached_property
    def _tail(self):
        """Number of intervals, and the reason why there is no integral, or ''."""
        ends = interval_ends(self.top, _N_INTERVALS)[:-1]
        values = self(ends)
        _check_increasing(ends, values)
        lengths = 2.0 ** np.arange(_N_INTERVALS)
        # The integral over an interval is at most its length times its upper value.
        below = np.cumsum((lengths * values)[::-1])[::-1]
        last = int(np.flatnonzero(values >= _EXACT)[-1])
        infinite = "the integral of g from minus infinity is infinite: "
        if last == _N_INTERVALS - 1:
            fact = f"g({ends[last]:.3g}) is {values[last]:.6g}"
            return 0, f"{infinite}{fact}, and g must tend to 0"
        first = max(0, last + 1 - _N_DOUBLINGS)
        with np.errstate(divide="ignore"):
            decrease = np.log2(values[first] / values[last + 1])
        power = decrease / (last + 1 - first)
        fact = f"near {ends[last]:.3g} g decreases like |x|^-{power:.3g}"
        if power <= _LEAST_POWER:
            return 0, f"{infinite}{fact}, and it must decrease faster than 1/|x|"
        if below[np.searchsorted(lengths, 1e100)] > _MOST_FAR_BELOW:
            return 0, (
                "the integral of g from minus infinity has not converged at -1e+100: "
                f"{fact}, and it must decrease faster than |x|^-1.13"
            )
        return int(np.argmax(below <= _MOST_BELOW)) or _N_INTERVALS, ""

    @property
    def no_integral_because(self):
        """Reason why there is no integral from minus infinity; '' if there is one."""
        return self._tail[1]

    @cached_property
    def antiderivative(self):
        """The integral from minus infinity, which is finite."""
        return Antiderivative(self, self.top, self._tail[0])

    @cached_property
    def level_points(self):
        """Arguments at which g is about equal to each of the levels."""
        grid = np.linspace(self.argument_below(_LEVELS[0]), self.top, 2049)
        return np.interp(_LEVELS, np.maximum.accumulate(self(grid)), grid)

    def check_derivative(self, derivative):
        """Raise if a derivative does not agree with g."""
        x = self.level_points
        step = 1e-4 * np.gradient(x)
        check_derivative(
            "derivative", derivative, function_name="g", function=self, x=x, step=step
        )

    def check_integral(self, integral):
        """Raise if an antiderivative does not agree with g.

        Its increase between two arguments is their distance times a value of g between
        the values at both.
        """
        x = self.level_points
        values, total = self(x), integral(x)
        rise, distance = np.diff(total), np.diff(x)
        least, most = distance * values[:-1], distance * values[1:]
        rounding = 1e-9 * (np.abs(total[:-1]) + np.abs(total[1:]) + most)
        good = (least - rounding <= rise) & (rise <= most + rounding)
        if not good.all():
            at = int(np.argmin(good))
            raise ValueError(
                "integral must be an antiderivative of g; from "
                f"{x[at]:.6g} to {x[at + 1]:.6g} it rises by {rise[at]:.6g}, and an "
                f"antiderivative rises by {least[at]:.6g} to {most[at]:.6g}."
            )


def _check_increasing(x, values):
    """Raise if a value is larger at the next, smaller argument."""
    change = np.diff(values)
    if (change > 1e-12).any():
        at = np.argmax(change)
        raise ValueError(
            f"g must be increasing; g({x[at + 1]:.6g}) is {values[at + 1]:.6g} and "
            f"g({x[at]:.6g}) is {values[at]:.6g}."
        )


# (g, values at the probes, IncreasingFunction) by the identity of g, which need not be
# hashable.
_cache = OrderedDict()


def increasing_function(g):
    """The :class:`IncreasingFunction` of g, which is made once.

    It is made again if the values of g have changed.
    """
    values = values_of("g", g, _PROBES)
    entry = _cache.get(id(g))
    if entry is None or not np.array_equal(entry[1], values, equal_nan=True):
        # The reference to g prevents another object with the same identity.
        entry = g, values, IncreasingFunction(g)
        _cache.pop(id(g), None)
        while len(_cache) >= _MOST_KEPT:
            _cache.popitem(last=False)
        _cache[id(g)] = entry
    return entry[2]
