"""The line search alone, on functions of one variable."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skprob.solvers._line_search import MAX_TRIALS, LineSearch, Trial


def search(function, slope, noise=0.0, first=1.0):
    """The best length, and all lengths that were tried."""
    tried = []
    found = LineSearch(Trial(0.0, function(0.0), slope(0.0)), noise, first)
    while not found.over:
        length = found.length
        tried.append(length)
        found.tell(Trial(length, function(length), slope(length)))
    return found.best.length, tried


def parabola(minimum):
    return lambda t: (t - minimum) ** 2, lambda t: 2 * (t - minimum)


def test_the_first_length_is_one_and_is_taken_if_it_is_good():
    assert search(*parabola(1.2)) == (1.0, [1.0])


@pytest.mark.parametrize("first", [1.0, 2.0])
@pytest.mark.parametrize("minimum", [1e-3, 0.3, 3.0, 50.0])
def test_the_slope_at_least_halves_wherever_the_minimum_is(minimum, first):
    function, slope = parabola(minimum)
    length, tried = search(function, slope, first=first)
    assert tried[0] == first
    assert abs(slope(length)) <= 0.5 * abs(slope(0.0))
    assert function(length) < function(0.0)
    assert len(tried) <= 6


@pytest.mark.parametrize("kink", [1e-3, 0.1, 5.0])
def test_a_slope_that_jumps_is_bracketed(kink):
    """It falls at a constant rate, and rises ten times as fast behind the kink."""

    def function(t):
        return -t if t < kink else -kink + 10 * (t - kink)

    length, tried = search(function, lambda t: -1.0 if t < kink else 10.0)
    assert -kink <= function(length) < -0.5 * kink
    assert len(tried) <= 20


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
    assert len(tried) <= 20


@pytest.mark.parametrize("slope", [0.0, 1.0, np.nan])
def test_nothing_is_tried_where_the_slope_is_not_negative(slope):
    assert search(lambda t: 1.0, lambda t: slope) == (0.0, [])


def test_values_within_the_noise_are_compared_by_their_slopes():
    _, slope = parabola(0.8)
    # Values that are equal are within any noise.
    assert search(lambda t: 1.0 + 1e-12 * t, slope)[0] < 1e-3
    assert search(lambda t: 1.0 + 1e-12 * t, slope, noise=1e-11)[0] == 1.0


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_a_value_that_overflows_is_stepped_back_from(wrong):
    def function(t):
        return wrong if t > 0.1 else (t - 0.05) ** 2

    length, tried = search(function, lambda t: wrong if t > 0.1 else 2 * (t - 0.05))
    assert np.isfinite(tried).all()
    assert 0 < length <= 0.1
    assert function(length) < function(0.0)


def jump(at, slope, change, ratio):
    """A level value whose slope grows by a ratio at a length, where the value jumps.

    The slope stays negative. Lengths below the jump become the lower end of a bracket
    and lengths above it the upper end. Both ends approach the jump until they meet.
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
    length, tried = search(*jump(at, slope, change, ratio), noise=3e-16)
    assert 0 <= length < np.inf
    assert np.isfinite(tried).all()
    assert min(tried) > 0
    assert len(set(tried)) == len(tried) <= MAX_TRIALS


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


@example(start=(LOW, -3.805046261830078e-33), trials=RECORDED, noise=2.22e-16)
@given(
    start=st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, -1e-300)),
    trials=st.lists(st.tuples(EXTREME, EXTREME), min_size=1, max_size=MAX_TRIALS),
    noise=st.floats(0, 1e-3),
)
def test_all_lengths_are_finite_whatever_the_values_are(start, trials, noise):
    """Values and slopes may overflow, cancel, or be NaN."""
    found = LineSearch(Trial(0.0, *start), noise)
    for trial in trials:
        if found.over:
            break
        assert 0 < found.length < np.inf
        found.tell(Trial(found.length, *trial))
    assert 0 <= found.best.length < np.inf
