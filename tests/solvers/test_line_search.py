"""The line search alone, on functions of one variable."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skprob.solvers import Trial, Tuning, line_search
from skprob.solvers._line_search import (
    extrapolated_length,
    interpolated_length,
    rounding_error_of,
)

MOST_TRIALS = Tuning().most_trials


def search(function, slope, rounding_error=0.0, slope_left=0.5, tuning=Tuning()):
    """The best length, and all lengths that were tried."""
    tried = []

    def trial(length):
        tried.append(length)
        return function(length), slope(length)

    start = Trial(0.0, function(0.0), slope(0.0))
    ray = SimpleNamespace(trial=trial)
    best = line_search(ray, start, rounding_error, slope_left, tuning)
    if best is None:
        return 0.0, tried
    # The trial itself is returned.
    assert best.length in tried
    assert_allclose(best[1:], (function(best.length), slope(best.length)), rtol=0)
    return best.length, tried


def parabola(minimum):
    return lambda t: (t - minimum) ** 2, lambda t: 2 * (t - minimum)


def test_the_first_length_is_one_and_is_taken_if_it_is_good():
    assert search(*parabola(1.2)) == (1.0, [1.0])


@pytest.mark.parametrize("slope_left", [0.1, 0.5])
@pytest.mark.parametrize("minimum", [1e-3, 0.3, 3.0, 50.0])
def test_no_more_of_the_slope_is_left_wherever_the_minimum_is(minimum, slope_left):
    function, slope = parabola(minimum)
    length, tried = search(function, slope, slope_left=slope_left)
    assert tried[0] == 1.0
    assert abs(slope(length)) <= slope_left * abs(slope(0.0))
    assert function(length) < function(0.0)
    assert len(tried) <= 6


def defined_up_to(end, function):
    def checked(length):
        if length > end:
            raise ValueError(f"not finite at {length}")
        return function(length)

    return checked


@pytest.mark.parametrize("minimum", [1e-3, 0.3, 1.5, 3.0])
@pytest.mark.parametrize("end", [1.01, 1.4, 20])
def test_a_trial_that_is_not_finite_is_too_long(minimum, end):
    function, slope = parabola(minimum)
    function = defined_up_to(end * minimum, function)
    length, tried = search(function, slope, slope_left=0.1)
    assert abs(slope(length)) <= 0.1 * abs(slope(0.0))
    assert len(tried) <= 16


@pytest.mark.parametrize("end", [0.0, 0.2, 1.0])
def test_the_error_of_a_trial_is_raised_where_the_minimum_is_beyond(end):
    function, slope = parabola(3.0)
    with pytest.raises(ValueError, match="not finite at"):
        search(defined_up_to(end, function), slope)


@pytest.mark.parametrize("kink", [1e-3, 0.1, 5.0])
def test_a_slope_that_jumps_is_bracketed(kink):
    """It falls at a constant rate, and rises ten times as fast behind the kink."""

    def function(t):
        return -t if t < kink else -kink + 10 * (t - kink)

    length, tried = search(function, lambda t: -1.0 if t < kink else 10.0)
    assert -kink <= function(length) < -0.5 * kink
    assert len(tried) <= MOST_TRIALS


@pytest.mark.parametrize("kink", [1e-9, 1e-17, 1e-23])
def test_a_step_that_is_orders_of_magnitude_too_long(kink):
    """The length of a step without curvature is the inverse of a rounding error."""

    def function(t):
        return 1 - t / kink if t < kink else 4 * (t / kink - 1)

    length, tried = search(function, lambda t: -1 / kink if t < kink else 4 / kink)
    assert function(length) < 0.5
    assert min(map(function, tried[:8])) < 0.5


def test_a_curvature_that_sets_in_late_is_reached_by_larger_steps():
    """A squared hinge: level slope up to 20, then a parabola."""

    def slope(t):
        return -1.0 + max(t - 20.0, 0.0)

    def function(t):
        return -t + max(t - 20.0, 0.0) ** 2 / 2

    length, tried = search(function, slope)
    assert abs(slope(length)) <= 0.5
    assert np.all(np.diff(tried[:3]) > 0)


def test_nothing_is_found_where_nothing_falls():
    length, tried = search(lambda t: t, lambda t: -1.0)
    assert length == 0.0
    assert len(tried) <= MOST_TRIALS


def test_values_within_the_rounding_error_are_compared_by_their_slopes():
    _, slope = parabola(0.8)
    # Values that are equal are within any rounding error.
    assert search(lambda t: 1.0 + 1e-12 * t, slope)[0] < 1e-3
    assert search(lambda t: 1.0 + 1e-12 * t, slope, rounding_error=1e-11)[0] == 1.0


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_a_value_that_overflows_is_stepped_back_from(wrong):
    def function(t):
        return wrong if t > 0.1 else (t - 0.05) ** 2

    length, tried = search(function, lambda t: wrong if t > 0.1 else 2 * (t - 0.05))
    assert np.isfinite(tried).all()
    assert 0 < length <= 0.1
    assert function(length) < function(0.0)


def test_the_trials_are_as_many_as_the_tuning_allows():
    for most_trials in (1, 3, 7):
        tuning = Tuning(most_trials=most_trials)
        length, tried = search(lambda t: -t, lambda t: -1.0, tuning=tuning)
        assert len(tried) == most_trials
        # All of them are lower, by the same slope: the last is as good as any.
        assert length == tried[-1]


def test_of_the_trials_that_fall_the_one_of_smallest_slope_is_returned():
    """The last trial is higher than the start."""
    slopes = {0.0: -1.0, 1.0: -0.6}
    values = {0.0: 0.0, 1.0: -0.8}
    length, tried = search(
        lambda t: values.get(t, 1.0),
        lambda t: slopes.get(t, 0.1),
        tuning=Tuning(most_trials=3),
    )
    assert len(tried) == 3
    assert length == 1.0


def test_a_length_beyond_the_end_is_that_of_a_level_slope_of_a_parabola():
    """Where it is 1.5 to 4 times as far."""
    _, slope = parabola(2.5)
    start, end = (Trial(t, np.nan, slope(t)) for t in (0.0, 1.0))
    assert extrapolated_length(start, end) == 2.5
    for minimum, expected in ((1.1, 1.5), (50.0, 4.0)):
        _, slope = parabola(minimum)
        start, end = (Trial(t, np.nan, slope(t)) for t in (0.0, 1.0))
        assert extrapolated_length(start, end) == expected
    assert extrapolated_length(Trial(0.0, 0.0, -1.0), Trial(1.0, -1.0, -1.0)) == 4.0


def test_a_length_inside_is_the_minimum_of_a_cubic():
    """Where it is not too near an end of the bracket."""
    rng = np.random.default_rng(0)
    n_inside = 0
    for _ in range(100):
        cubic = np.polynomial.Polynomial(rng.normal(size=4))
        ends = [Trial(t, cubic(t), cubic.deriv()(t)) for t in (0.3, 1.8)]
        roots = [r.real for r in cubic.deriv().roots() if abs(r.imag) < 1e-12]
        least = [r for r in roots if cubic.deriv(2)(r) > 0 and 0.5 < r < 1.6]
        if not (least and ends[0].slope < 0):
            continue
        n_inside += 1
        assert interpolated_length(*ends) == pytest.approx(least[0], rel=1e-6)
    assert n_inside > 5
    assert interpolated_length(ends[0], ends[0]) == ends[0].length


def jump(at, slope, change, ratio):
    """A level value whose slope grows by a ratio at a length, where the value jumps.

    The slope stays negative. Lengths below the jump become the lower end of a bracket
    and lengths above it the upper end. Both ends of the bracket converge to the jump.
    """

    def value(t):
        return 1.0 + change * (t > at)

    return value, lambda t: slope * (ratio if t > at else 1 - 1e-7 * (t > 0))


@example(at=0.18549375, slope=-3.8e-33, change=2.2e-16, ratio=1.08)
@given(
    at=st.floats(0, 1, exclude_max=True),
    slope=st.floats(1e-300, 1e300).map(lambda size: -size),
    change=st.sampled_from([0.0, 2.2e-16, -2.2e-16, 1.0]),
    ratio=st.floats(1, 2, exclude_min=True),
)
def test_a_bracket_that_collapses_ends_the_search(at, slope, change, ratio):
    """At a minimum the slopes, -4e-33, are rounding errors: see the first example."""
    length, tried = search(*jump(at, slope, change, ratio), rounding_error=3e-16)
    assert 0 <= length < np.inf
    assert np.isfinite(tried).all()
    assert min(tried) > 0
    assert len(set(tried)) == len(tried) <= MOST_TRIALS


EXTREME = st.floats() | st.sampled_from([1.0, -1.0, 1 + 2**-52, 4e-33, -4e-33])

# A search at the minimum of a fit, with the AVX-512 kernels of OpenBLAS.
LOW, HIGH = 7.691932114196468e-06, 7.69193211419647e-06
RECORDED = [
    (HIGH, 1.933292143401875e-33),
    (LOW, -3.805043903292189e-33),
    (LOW, -3.805041659719957e-33),
    (LOW, -3.805039527629576e-33),
    (LOW, -3.805037503537237e-33),
    (HIGH, -4.122242539043083e-33),
    (HIGH, -4.122244364558377e-33),
    (HIGH, -4.1222444586211875e-33),
    *[(HIGH, -4.1222444621049954e-33)] * 10,
]


@example(start=(LOW, -3.805046261830078e-33), trials=RECORDED, rounding_error=2.22e-16)
@given(
    start=st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, -1e-300)),
    trials=st.lists(st.tuples(EXTREME, EXTREME), min_size=1, max_size=MOST_TRIALS),
    rounding_error=st.floats(0, 1e-3),
)
def test_all_lengths_are_finite_whatever_the_values_are(start, trials, rounding_error):
    """Values and slopes may overflow, cancel, or be NaN."""
    tried, remaining = [], iter(trials)

    def trial(length):
        tried.append(length)
        # No more of them than are given: the last one again.
        return next(remaining, trials[-1])

    ray, first = SimpleNamespace(trial=trial), Trial(0.0, *start)
    best = line_search(ray, first, rounding_error, 0.5)
    assert 1 <= len(tried) <= MOST_TRIALS
    assert all(0 < length < math.inf for length in tried)
    assert best is None or best.length in tried


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_rounding_error_is_that_of_the_precision_of_the_data(dtype):
    """Sums of losses of about one lose ten times that of their own size."""
    description = SimpleNamespace(dtype=np.dtype(dtype))
    problem = SimpleNamespace(description=description)
    eps = np.finfo(dtype).eps
    assert rounding_error_of(problem, 0.0) == pytest.approx(eps)
    assert rounding_error_of(problem, -2.0) == pytest.approx(21 * eps)
