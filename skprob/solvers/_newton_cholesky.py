"""Newton's method with the whole Hessian, by its Cholesky factor.

On little data calls of functions take longer than arithmetic. A Hessian that is written
out takes fewer calls than its products with vectors.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dposv

from ._line_search import Trial, line_search
from ._state import State
from ._tuning import Tuning


class NewtonCholesky:
    """Newton's method with the whole Hessian.

    Parameters
    ----------
    criteria : Criteria
        Its rounding error is used in line searches.
    shortens_far_starts : bool, default=False
        Whether a start from which much is expected to be gained is halved: it is the
        minimum of another loss.
    tuning : Tuning
    """

    name = "newton-cholesky"

    def __init__(self, criteria, shortens_far_starts=False, tuning=Tuning()):
        self._criteria, self._tuning = criteria, tuning
        self._shortens = shortens_far_starts

    def init(self, problem, point):
        """The state at a point, with Newton's step from there."""
        state = _with_newton_step(problem, point)
        is_far = state.expected_decrease > self._tuning.far_start * point.value
        if self._shortens and is_far and point.parameters.any():
            return _with_newton_step(problem, problem.at(point.parameters / 2))
        return state

    def step(self, problem, state):
        """Go along Newton's step, and find the next one."""
        point, step = state.point, state.newton_step
        slope = float(point.gradient @ step)
        start = Trial(0.0, point.value, slope)
        if not slope < 0:
            return replace(state, is_spent=True)
        ray = point.along(step)
        rounding = self._criteria.rounding_error(problem, point.value)
        # Far from the minimum the quadratic model is wrong, and a trial costs less than
        # another Hessian. Near it, steps longer than Newton's would overshoot.
        is_far = state.expected_decrease > self._tuning.near_minimum * abs(point.value)
        slope_left = self._tuning.slope_left_far if is_far else self._tuning.slope_left
        best = line_search(ray, start, rounding, slope_left, self._tuning)
        if best is None:
            return replace(state, is_spent=True)
        return _with_newton_step(problem, ray.arrive(best.length))


def _with_newton_step(problem, point):
    """The state at a point. It is spent if the Hessian has no Cholesky factor."""
    hessian = point.hessian()
    diagonal = hessian.reshape(-1)[:: len(hessian) + 1]
    # A step divides the rounding error of the gradient by what is added to the
    # diagonal, where there is no curvature.
    precision = float(np.finfo(problem.description.dtype).eps)
    jitter = precision ** (0.83 if problem.has_penalty else 0.6)
    diagonal += jitter * diagonal.max(initial=0)
    # Symmetric: its transpose is in the order that LAPACK asks for.
    _, step, failed = dposv(hessian.T, -point.gradient, overwrite_a=True)
    if failed:
        return State(point=point, is_spent=True)
    expected = -float(point.gradient @ step) / 2
    return State(
        point=point,
        newton_step=step,
        expected_decrease=expected if math.isfinite(expected) else math.nan,
    )
