"""The length of a step along which the value of a composite problem falls."""

import math

import numpy as np

from .._line_search import (
    Trial,
    interpolated_length,
    rounding_error_of,
    tangents_meet,
)


def step_length(problem, point, ray, step, slope, tuning, *, may_be_longer=False):
    """A length at which the value has fallen; None if there is none.

    Parameters
    ----------
    problem : CompositeProblem
    point : CompositePoint
        Start of the step.
    ray : Ray
        The smooth part along the step.
    step : ndarray of shape (M, size)
    slope : float
        Change of the smooth part's linear model and of the shrinkage, at length one:
        negative.
    tuning : Tuning
    may_be_longer : bool, default=False
        Whether a longer step is also tried if the first one lowers the value.

    Raises
    ------
    ValueError
        If a trial raised it, which means that it is too long, and no other trial has a
        lower value.
    """
    trials = _Trials(problem, point, ray, step)
    rounding = rounding_error_of(problem, point.value, tuning)
    length, at_start = 1.0, Trial(0.0, point.value, slope)
    for number in range(1, tuning.most_trials + 1):
        trial = trials.at(length)
        change = trial.value - point.value
        if change <= tuning.sufficient_decrease * length * slope:
            other = _shorter_length(at_start, trial, tuning)
            if other is None and may_be_longer and number == 1:
                other = _longer_length(at_start, trial, tuning)
            if other is not None and trials.at(other).value < trial.value:
                return other
            return length
        # Values that are the same up to rounding are compared by their slopes.
        if abs(change) <= rounding and abs(trial.slope) < abs(slope):
            return length
        curved = change - length * slope
        least = -slope * length**2 / (2 * curved) if curved > 0 else math.inf
        least = least if math.isfinite(least) else 0.0
        shorter = min(max(least, 0.1 * length), 0.5 * length)
        if number >= tuning.trials_by_cubics:
            shorter = min(shorter, tangents_meet(at_start, trial))
        length = shorter
        if problem.description.has_kinks and -length * slope <= rounding:
            # At a kink such short steps only move coefficients away from zero.
            break
    if trials.failures:
        raise trials.failures[0]
    return None


class _Trials:
    """Value and slope of a composite problem along a step."""

    def __init__(self, problem, point, ray, step):
        self._shrinkage, self._ray, self._step = problem.shrinkage, ray, step
        self._start = point.parameters.reshape(step.shape)
        #: Errors of a user's function that is not finite at a trial.
        self.failures = []

    def at(self, length):
        """The ``Trial`` of a length; its value is infinite where there is an error."""
        try:
            value, slope = self._ray.trial(length)
        except ValueError as error:
            self.failures.append(error)
            return Trial(length, math.inf, math.nan)
        shrinkage, parameters = self._shrinkage, self._start + length * self._step
        # A zero has the slope of the orthant that it leaves.
        piece = np.where(parameters != 0, parameters, self._start)
        slope += float(np.vdot(shrinkage.slope(piece), self._step))
        return Trial(length, value + shrinkage.value(parameters), slope)


def _shorter_length(start, trial, tuning):
    """A shorter length than that of a trial at which the slope is large; else None.

    Without shorter lengths two tasks of letter at 30 times the smallest C take 1.5 and
    2 times as long.
    """
    if trial.slope > -tuning.slope_left * start.slope:
        return interpolated_length(start, trial, tuning)
    return None


def _longer_length(start, trial, tuning):
    """A longer length than that of a trial if much of the slope is left; else None."""
    if not trial.slope < tuning.slope_left_far * start.slope:
        return None
    curvature = (trial.slope - start.slope) / trial.length
    if curvature > 0:
        return min(-start.slope / curvature, tuning.longest_step)
    return tuning.longest_step
