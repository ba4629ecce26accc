"""Lengths of steps of composite problems."""

from types import SimpleNamespace

import numpy as np
import pytest

from skprob._utils.tuning import Tuning
from skprob.objective.composite._shrinkage import EntryShrinkage
from skprob.solvers.proximal._step_length import step_length


def length_of(function, slope, may_be_longer=False):
    """The length of a step from zero, and the lengths of all trials."""
    lengths = []

    def trial(length):
        lengths.append(length)
        return function(length)

    problem = SimpleNamespace(
        shrinkage=EntryShrinkage(np.zeros(1)),
        description=SimpleNamespace(dtype=np.dtype(float), has_kinks=False),
    )
    point = SimpleNamespace(parameters=np.zeros(1), value=function(0.0)[0])
    ray, step = SimpleNamespace(trial=trial), np.ones((1, 1))
    length = step_length(
        problem, point, ray, step, slope, Tuning(), may_be_longer=may_be_longer
    )
    return length, lengths


def parabola(minimum):
    """Value and slope of a function of the length with this minimum."""
    return lambda length: ((length - minimum) ** 2, 2 * (length - minimum))


@pytest.mark.parametrize("minimum", [0.7, 1.0, 1.4])
def test_a_step_that_ends_near_the_minimum_is_whole(minimum):
    assert length_of(parabola(minimum), -2 * minimum) == (1.0, [1.0])


def test_a_step_that_ends_far_behind_the_minimum_is_shorter():
    # The value at the end is lower than at the start, and the slope there is large.
    length, trials = length_of(parabola(0.6), -1.2)
    assert length == pytest.approx(0.6)
    assert trials == [1.0, length]


@pytest.mark.parametrize(("may_be_longer", "expected"), [(False, 1.0), (True, 3.0)])
def test_a_step_that_ends_far_before_the_minimum_is_longer_if_allowed(
    may_be_longer, expected
):
    length, _ = length_of(parabola(3.0), -6.0, may_be_longer)
    assert length == pytest.approx(expected)
