"""Newton's method by preconditioned conjugate gradients.

The forcing term falls with the gradient, so that the last steps converge superlinearly.
The preconditioner is renewed after as many Hessian products as it cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ._conjugate_gradients import conjugate_gradients
from ._criteria import expected_decrease
from ._line_search import Trial, line_search
from ._preconditioner import Preconditioner
from ._state import State
from ._tuning import Tuning


@dataclass(frozen=True, kw_only=True)
class NewtonCGState(State):
    """Where Newton's method by conjugate gradients is."""

    # What it has learnt of the curvature.
    preconditioner: Preconditioner
    #: B gradient and ⟨gradient, B gradient⟩, with B the preconditioner.
    descent: tuple
    #: Smallest curvature along the directions of each of the last steps.
    smallest_curvatures: tuple = ()
    #: Hessian products so far.
    n_products: int = 0


class NewtonCG:
    """Newton's method by preconditioned conjugate gradients.

    Parameters
    ----------
    plan : Plan
    criteria : Criteria
        Its rounding error is used in line searches.
    most_products : float, default=inf
        Hessian products after which another solver should take over.
    tuning : Tuning
    """

    name = "newton-cg"

    def __init__(self, plan, criteria, most_products=math.inf, tuning=Tuning()):
        self._plan, self._criteria, self._tuning = plan, criteria, tuning
        self._most_products = most_products

    def init(self, problem, point):
        """The state at a point, with a preconditioner for the curvature there."""
        preconditioner = Preconditioner.at(point, self._plan, problem.description)
        return NewtonCGState(
            point=point,
            preconditioner=preconditioner,
            descent=self._descent(preconditioner, point),
        )

    def step(self, problem, state):
        """Go along Newton's step, computed roughly."""
        point, preconditioner = state.point, state.preconditioner
        if preconditioner.n_products >= self._plan.renew_after:
            preconditioner = Preconditioner.at(
                point, self._plan, problem.description, preconditioner
            )
            descent = self._descent(preconditioner, point)
            state = replace(state, preconditioner=preconditioner, descent=descent)

        # 1. Step: minimise the quadratic model.
        model = self._minimise_model(state)
        slope = float(point.gradient @ model.step)
        if not slope < 0:
            return replace(state, is_spent=True)

        # 2. Line search.
        start = Trial(0.0, point.value, slope)
        ray = point.along(model.step)
        rounding = self._criteria.rounding_error(problem, point.value)
        slope_left = self._tuning.slope_left
        best = line_search(ray, start, rounding, slope_left, self._tuning)
        if best is None:
            return replace(state, is_spent=True)

        # 3. Update.
        point, preconditioner = ray.arrive(best.length), preconditioner.after(model)
        descent = self._descent(preconditioner, point)
        kept = self._tuning.curvatures_kept
        curvatures = (*state.smallest_curvatures, model.least_curvature)[-kept:]
        expected = math.nan
        # After a shortened step the model's curvature is not reliable.
        if best.length >= 1:
            expected = expected_decrease(float(descent[1].sum()), min(curvatures))
        n_products = state.n_products + model.n_products
        return NewtonCGState(
            point=point,
            expected_decrease=expected,
            is_spent=n_products >= self._most_products,
            preconditioner=preconditioner,
            descent=descent,
            smallest_curvatures=curvatures,
            n_products=n_products,
        )

    def _minimise_model(self, state):
        point, precision = state.point, self._plan.precision
        _, squares = state.descent

        def product(direction):
            return point.hessian_product(direction.astype(precision, copy=False))

        return conjugate_gradients(
            product,
            point.gradient,
            state.preconditioner.times,
            forcing_term=min(self._tuning.forcing_term, float(squares.sum()) ** 0.25),
            least_gain=self._tuning.least_gain,
            n_groups=self._plan.n_groups,
            n_kept=self._plan.n_recycled,
            descent=state.descent,
        )

    def _descent(self, preconditioner, point):
        groups = point.gradient.reshape(self._plan.n_groups, -1)
        return preconditioner.times(groups)
