"""Newton's method with the whole Hessian, by its Cholesky factor.

On little data calls of functions take longer than arithmetic. A Hessian that is written
out takes fewer calls than its products with vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .._line_search import search_along
from .._newton_step import Damping, damped_newton_step
from .._state import State
from .._tuning import Tuning


@dataclass(frozen=True, kw_only=True)
class NewtonCholeskyState(State):
    """Where Newton's method with the whole Hessian is."""

    damping: Damping


class NewtonCholesky:
    """Newton's method with the whole Hessian.

    Parameters
    ----------
    tuning : Tuning
    """

    name = "newton-cholesky"

    def __init__(self, tuning=Tuning()):
        self._tuning = tuning

    def init(self, problem, point):
        """The state at a point, with Newton's step from there."""
        return self._with_newton_step(problem, point, Damping.of(problem))

    def step(self, problem, state):
        """Go along Newton's step, and find the next one."""
        point, tuning = state.point, self._tuning
        # Far from the minimum the quadratic model is wrong, and a trial costs less than
        # another Hessian. Near it, steps longer than Newton's would overshoot.
        is_far = state.expected_decrease > tuning.near_minimum * abs(point.value)
        slope_left = tuning.slope_left_far if is_far else tuning.slope_left
        arrival = search_along(problem, point, state.newton_step, slope_left, tuning)
        if arrival is None:
            return replace(state, is_spent=True)
        after, _ = arrival
        return self._with_newton_step(problem, after, state.damping)

    def _with_newton_step(self, problem, point, damping):
        """The state at a point. It is spent if the Hessian has no Cholesky factor."""
        step, decrease, damping, is_resolved = damped_newton_step(
            problem, point, damping, self._tuning
        )
        return NewtonCholeskyState(
            point=point,
            newton_step=step,
            expected_decrease=decrease,
            is_resolved=is_resolved,
            damping=damping,
            is_spent=step is None,
        )
