"""L-BFGS in single precision, for the first steps under a strong penalty.

The penalty bounds the condition of the Hessian. Then L-BFGS gains as much by a pass as
conjugate gradients, and it does not begin anew with each of Newton's steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._utils.arrays import precision
from .._criteria import allowed_decrease, expected_decrease
from .._line_search import search_along
from .._state import State
from .._tuning import Tuning


@dataclass(frozen=True, kw_only=True)
class FirstLBFGSState(State):
    """Where L-BFGS is.

    Its point is one in single precision, except the last one.
    """

    #: Curvature of the columns at the start, about the same for all.
    curvature: float
    #: Steps s, changes y of the gradient, ⟨s, y⟩ and ⟨y, y⟩; the last pair comes last.
    pairs: tuple = ()
    #: ⟨s, y⟩ / ⟨s, s⟩ of the last steps.
    curvatures: tuple = ()
    n_steps: int = 0  #: So far.
    #: Whether the point is one of the problem itself, from which another solver begins.
    is_last: bool = False


class FirstLBFGS:
    """L-BFGS in single precision, until steps are many or rounding errors matter.

    Variables are the parameters: they are in units in which the curvature of loss and
    penalty together is about the same for all columns.

    Parameters
    ----------
    single : LinearProblem
        The problem in single precision.
    criteria : Criteria
    tuning : Tuning

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 7.2.
    """

    name = "lbfgs"

    def __init__(self, single, criteria, tuning=Tuning()):
        self._single, self._criteria, self._tuning = single, criteria, tuning

    @classmethod
    def begin(cls, problem, start, criteria, tuning=Tuning()):
        """The solver and its state at the start; None unless the penalty suits it.

        Parameters
        ----------
        problem : LinearProblem
        start : ndarray of shape (n_parameters,)
        criteria : Criteria
        tuning : Tuning
        """
        at_start, n_outputs = problem.curvature_at(start), problem.description.shape[0]
        ridge = at_start.ridge
        # The units of the features make the curvature of columns one over this number.
        share = ridge[ridge > 0].mean() * max(n_outputs, 4)
        if not tuning.strong_penalty <= share <= tuning.strongest_penalty:
            return None
        curvature = float(at_start.total_curvature()[0].mean())
        single = problem.in_single_precision()
        if single is None or not curvature > 0:
            return None
        solver, point = cls(single, criteria, tuning), single.at(start)
        state = FirstLBFGSState(point=point, curvature=curvature)
        if np.abs(point.gradient).max() <= criteria.tol_at_start:
            state = solver._last(problem, state)
        return solver, state

    def step(self, problem, state):
        """Go along the step of the approximate Hessian."""
        if state.is_last:
            return replace(state, is_spent=True)

        # 1. Step.
        tuning, before, direction = self._tuning, state.point, _direction(state)
        value, gradient = before.value, before.gradient
        arrival = search_along(
            self._single, before, direction, tuning.slope_left, tuning
        )
        if arrival is None:
            return replace(self._last(problem, state), is_spent=True)

        # 2. Update.
        point, length = arrival
        step, change = length * direction, point.gradient - gradient
        product, square = float(step @ change), float(change @ change)
        curvatures = (*state.curvatures, product / (float(step @ step) or 1.0))
        pairs = state.pairs
        if product > tuning.least_curvature * square > 0:
            vectors = step.astype(np.float32), change.astype(np.float32)
            pairs = (*pairs, (*vectors, product, square))
        curvatures = curvatures[-tuning.curvatures_kept :]
        slope = float(point.gradient @ point.gradient)
        state = replace(
            state,
            point=point,
            expected_decrease=expected_decrease(slope, min(curvatures)),
            pairs=pairs[-tuning.pairs_kept :],
            curvatures=curvatures,
            n_steps=state.n_steps + 1,
        )
        is_last = self._is_last(problem, state, value - point.value)
        return self._last(problem, state) if is_last else state

    def _is_last(self, problem, state, gain):
        """Whether rounding errors matter, the criteria may hold, or steps are many."""
        point, tol = state.point, self._criteria.tol
        # Rounding errors of the rows are about the same at both points.
        if gain <= precision(np.float32) * abs(point.value):
            return True
        most = min(self._tuning.most_first_steps, self._criteria.max_iter)
        if state.n_steps >= most:
            return True
        limit = allowed_decrease(problem, point.value, tol)
        may_hold = not state.expected_decrease > limit
        return may_hold and np.abs(point.gradient).max() <= tol

    def _last(self, problem, state):
        """The state at the same parameters, with the point of the problem itself."""
        return replace(
            state, point=problem.at(state.point.parameters), pairs=(), is_last=True
        )


def _direction(state):
    """The negative gradient times the approximate inverse of the Hessian."""
    direction = -state.point.gradient.astype(np.float32)
    shares = []
    for step, change, product, _ in reversed(state.pairs):
        shares.append((step @ direction) / product)
        direction -= shares[-1] * change
    if state.pairs:
        *_, product, square = state.pairs[-1]
        direction *= product / square
    else:
        direction /= state.curvature
    for step, change, product, _ in state.pairs:
        share = shares.pop() - (change @ direction) / product
        direction += share * step
    return direction.astype(np.float64)
