"""Newton's method with the whole Hessian, by its Cholesky factor.

On little data calls of functions take longer than arithmetic. The whole Hessian takes
fewer calls than its products with vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.linalg.lapack import dposv

from .._utils.arrays import precision
from .._utils.tuning import Tuning
from ._line_search import search_along
from ._state import State

# Most parameters of a whole Hessian, with which it takes 800 MB, and its factor
# minutes.
_MOST_PARAMETERS = 10_000


def suits_whole_hessian(description, tuning=Tuning()):
    """Whether Newton's method with the whole Hessian is the fastest solver.

    It is if the Hessian is bounded and costs at most 2e6 multiplications with its
    factor or, for remote rows, no more than a round trip.
    """
    if not (description.is_convex and description.has_bounded_hessian):
        return False
    n_rows, (n_outputs, size) = description.n_rows, description.shape
    n_pairs = n_outputs * (n_outputs + 1) / 2
    cost = n_rows * n_pairs * size**2 + (n_outputs * size) ** 3 / 3
    round_trip = tuning.round_trip_cost * description.is_remote
    return cost <= max(tuning.largest_hessian_cost, round_trip)


def check_hessian(description):
    """Raise if the whole Hessian cannot be computed."""
    n_parameters = math.prod(description.shape)
    if not (description.is_linear and description.is_convex):
        raise ValueError(
            "solver='newton-cholesky' needs a convex loss of linear scores, which this "
            "fit does not have. Use solver='auto'."
        )
    if n_parameters > _MOST_PARAMETERS:
        raise ValueError(
            f"solver='newton-cholesky' needs at most {_MOST_PARAMETERS:,} parameters, "
            f"because it computes the whole Hessian; got {n_parameters:,}. Use "
            "solver='newton-cg'."
        )


@dataclass(frozen=True, kw_only=True)
class NewtonCholeskyState(State):
    """State of Newton's method with the whole Hessian."""

    #: Number that is added to the Hessian's diagonal, in units of its largest entry, so
    #: that the Hessian is positive definite. Along directions without curvature, a step
    #: is the rounding error of the gradient divided by the damping.
    damping: float
    #: With a smaller damping there is no Cholesky factor, or it is a rounding error.
    least_damping: float


@dataclass(frozen=True)
class NewtonCholesky:
    """Newton's method with the whole Hessian."""

    tuning: Tuning = Tuning()
    name: ClassVar[str] = "newton-cholesky"

    def init(self, problem, point, before=None):
        """The state at a point, with Newton's step from there.

        It is spent if the Hessian has no Cholesky factor.

        Along directions whose curvature is less than the damping, the step is too short
        and the expected decrease too small. So the damping is reduced if it changes the
        decrease by more than a rounding error. The damping of the state `before` the
        step to this point is tried first.
        """
        hessian, gradient, tuning = point.hessian(), point.gradient, self.tuning
        rounding = precision(problem.description.dtype)
        largest = rounding ** (0.83 if problem.has_penalty else 0.6)
        damping, least = largest, rounding
        if before is not None:
            damping, least = before.damping, before.least_damping
        diagonal = hessian.reshape(-1)[:: len(hessian) + 1]  # A view of the Hessian.
        curvature, unit = diagonal.copy(), float(diagonal.max(initial=0))
        while True:
            diagonal[:] = curvature + damping * unit
            # The matrix is symmetric, and its transpose has the memory order of LAPACK.
            _, step, failed = dposv(hessian.T, -gradient)
            if failed and damping < largest:
                damping = least = 100 * damping
                continue
            if failed:
                return NewtonCholeskyState(
                    point=point, damping=damping, least_damping=least, is_spent=True
                )
            decrease = -float(gradient.dot(step)) / 2
            damped = damping * unit * float(step.dot(step)) / 2
            is_resolved = damped <= max(tuning.damped_part * decrease, rounding)
            if is_resolved or damping <= least:
                break
            damping = max(damping / 100, least)
        if not is_resolved:
            # There may be directions of even less curvature.
            decrease += tuning.unresolved_curvature * damped
        return NewtonCholeskyState(
            point=point,
            newton_step=step,
            expected_decrease=decrease if math.isfinite(decrease) else math.nan,
            is_resolved=is_resolved,
            damping=damping,
            least_damping=least,
        )

    def resume(self, problem, state, factor):
        """The state at the same point under a multiple of its penalty."""
        return self.init(problem, state.point.with_penalty_times(factor))

    def step(self, problem, state):
        """Search along Newton's step, and compute the next one."""
        point, tuning = state.point, self.tuning
        step, slope_left = state.newton_step, tuning.slope_left
        # Far from the minimum the quadratic model is wrong, and a trial costs less than
        # another Hessian. Near it, steps longer than Newton's would overshoot.
        if state.expected_decrease > tuning.near_minimum * abs(point.value):
            # Rows may lose curvature along a step; the penalty keeps its curvature.
            change = step.reshape(problem.description.shape)
            penalty = float(np.vdot(point.ridge * change, change)) / 2
            share_of_loss = 1 - penalty / state.expected_decrease
            step = max(1.0, tuning.longer_far * share_of_loss) * step
            slope_left = tuning.slope_left_far
        arrival = search_along(problem, point, step, slope_left, tuning)
        if arrival is None:
            return replace(state, is_spent=True)
        after, _ = arrival
        return self.init(problem, after, before=state)
