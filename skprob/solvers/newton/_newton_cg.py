"""Newton's method by preconditioned conjugate gradients.

The forcing term falls with the gradient, so that the last steps converge superlinearly.
The preconditioner is renewed after a number of Hessian products, which the plan has.

The first steps from zero are taken under a stronger penalty, if their expected gain is
large. If nearly all rows are separable, their curvature vanishes with their loss. The
quadratic model then has no information on rows with a large margin, and its step is too
long for them. Under a stronger penalty margins are smaller, and the minimum is closer
to the start.

Steps of sparse rows far from the minimum have the curvature of rows that are nearer to
their targets. The curvature of a class of a row is about in proportion to a power of
its probability. At first rare labels have small probabilities in their own rows, and
much larger ones after the step: by the curvature at its start a step is 3 to 5 times
too long, on label sets with hundreds of words. The step towards the target passes
mixtures of the probabilities and the target, so the curvature is that of a mixture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..._utils.tuning import Tuning
from .._expected_decrease import expected_decrease
from .._line_search import search_along
from .._state import Stage, State
from ._conjugate_gradients import PreconditionedGradient, conjugate_gradients
from ._preconditioner import Preconditioner


@dataclass(frozen=True, kw_only=True)
class NewtonCGState(State):
    """State of Newton's method by conjugate gradients."""

    # Estimates of the curvature.
    preconditioner: Preconditioner
    #: The gradient times the preconditioner. If the plan is scaled, it is in the
    #: coordinates of the preconditioner: there its product is the gradient itself.
    preconditioned: PreconditionedGradient
    #: Smallest curvature along the directions of each of the last steps.
    smallest_curvatures: tuple = ()
    #: Hessian products so far.
    n_products: int = 0

    # The penalty of the steps.
    #: Factor of the objective's penalty.
    penalty_factor: float = 1.0

    def view(self):
        """The point under the penalty of the steps."""
        if self.penalty_factor == 1:
            return self.point
        return self.point.with_penalty_times(self.penalty_factor)


class NewtonCG:
    """Newton's method by preconditioned conjugate gradients.

    Parameters
    ----------
    plan : Plan
    most_products : float, default=inf
        Hessian products after which another solver should continue.
    tuning : Tuning

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", 2006, section 7.1.

    Allgower, Georg, "Numerical continuation methods: an introduction", Springer 1990
    (stronger penalty).
    """

    name = "newton-cg"

    def __init__(self, plan, most_products=math.inf, tuning=Tuning()):
        self._plan, self._tuning = plan, tuning
        self._most_products = most_products

    def init(self, problem, point):
        """The state at a point, with a preconditioner for the curvature there."""
        description, factor = problem.description, 1.0
        is_cold = description.is_linear and not point.parameters.any()
        if is_cold and description.shape[0] > 1 and problem.has_penalty:
            factor = self._tuning.first_penalty
        view = point if factor == 1 else point.with_penalty_times(factor)
        preconditioner = Preconditioner.at(
            view, self._plan, description, tuning=self._tuning
        )
        state = NewtonCGState(
            point=point,
            preconditioner=preconditioner,
            preconditioned=self._preconditioned(preconditioner, view),
            penalty_factor=factor,
        )
        if factor == 1:
            return state
        # A step can gain half of the squared length of the gradient.
        if state.preconditioned.square > view.value:
            return replace(state, stage=Stage.STRONGER_PENALTY, stage_value=view.value)
        return self._under_own_penalty(problem, state)

    def resume(self, problem, state, factor):
        """The state at the same point under a multiple of its penalty, without a pass.

        The coordinates are those of the same curvature.
        """
        point = state.point.with_penalty_times(factor)
        preconditioner = state.preconditioner.with_ridge(
            point.ridge, self._plan, problem.description
        )
        return NewtonCGState(
            point=point,
            preconditioner=preconditioner,
            preconditioned=self._preconditioned(preconditioner, point),
        )

    def step(self, problem, state):
        """Search along an approximate Newton's step."""
        view, description = state.view(), problem.description
        curved = self._with_curvature(state, view)
        if self._is_outdated(problem, state):
            preconditioner = Preconditioner.at(
                curved, self._plan, description, state.preconditioner, self._tuning
            )
            state = replace(
                state,
                preconditioner=preconditioner,
                preconditioned=self._preconditioned(preconditioner, view),
            )

        # 1. Step: minimise the quadratic model.
        newton = self._minimise_model(state, view, curved, description)

        # 2. Line search.
        slope_left = self._tuning.slope_left
        arrival = search_along(
            problem, view, newton.step, slope_left, self._tuning, newton.ray
        )
        if arrival is None:
            # No step lowers the objective under its penalty.
            if state.penalty_factor == 1:
                return replace(state, is_spent=True)
            return self._under_own_penalty(problem, state)

        # 3. Update.
        before = view.value
        view, length = arrival
        factor = state.penalty_factor
        point = view if factor == 1 else view.with_penalty_times(1 / factor)
        preconditioner = state.preconditioner.after(newton)
        preconditioned = self._preconditioned(preconditioner, view)
        kept = self._tuning.curvatures_kept
        curvatures = (*state.smallest_curvatures, newton.least_curvature)[-kept:]
        expected = math.nan
        # After a shortened step the model's curvature is not reliable.
        if length >= 1 and factor == 1:
            expected = expected_decrease(preconditioned.square, min(curvatures))
        n_products = state.n_products + newton.n_products
        state = replace(
            state,
            point=point,
            stage=Stage.FINAL if factor == 1 else Stage.STRONGER_PENALTY,
            stage_value=math.nan if factor == 1 else view.value,
            expected_decrease=expected,
            is_spent=n_products >= self._most_products,
            preconditioner=preconditioner,
            preconditioned=preconditioned,
            smallest_curvatures=curvatures,
            n_products=n_products,
        )
        is_slow = (
            length >= 0.5
            and before - view.value < self._tuning.first_steps_gain * view.value
        )
        if factor != 1 and is_slow:
            return self._under_own_penalty(problem, state)
        return state

    def _with_curvature(self, state, view):
        """The view, whose curvature is nearer to the targets far from the minimum."""
        tuning, square = self._tuning, state.preconditioned.square
        is_far = square / 2 > tuning.near_minimum * abs(view.value)
        if self._plan.is_scaled and is_far and tuning.target_share > 0:
            return view.towards_target(tuning.target_share)
        return view

    def _is_outdated(self, problem, state):
        """Whether the preconditioner is old, or is for another curvature."""
        n_products = state.preconditioner.n_products
        if n_products >= self._plan.renew_after:
            return True
        # With the current curvature, the least one in the coordinates is at most about
        # 1. A larger one shows that rows have more curvature now. Without a penalty
        # there may be no minimum, and then the least curvature has no bound.
        has_grams = self._plan.preconditioner.startswith("gram") and problem.has_penalty
        least = state.smallest_curvatures[-1] if state.smallest_curvatures else 1.0
        return has_grams and n_products > 0 and least > self._tuning.most_curvature

    def _under_own_penalty(self, problem, state):
        """The state under the objective's own penalty."""
        point = state.point
        preconditioner = state.preconditioner.with_ridge(
            point.ridge, self._plan, problem.description
        )
        return replace(
            state,
            preconditioner=preconditioner,
            preconditioned=self._preconditioned(preconditioner, point),
            penalty_factor=1.0,
        )

    def _minimise_model(self, state, view, curved, description):
        """The ``Step`` that lowers the quadratic model at the view."""
        square = state.preconditioned.square
        forcing_term = min(self._tuning.forcing_term, square**0.25)
        if self._plan.is_scaled:
            return self._minimise_scaled_model(
                state, view, curved, description, forcing_term
            )
        precision = state.preconditioner.precision

        def product(direction):
            return view.hessian_product(direction.astype(precision, copy=False))

        return conjugate_gradients(
            product,
            view.gradient,
            state.preconditioner.times,
            forcing_term=forcing_term,
            least_gain=self._tuning.least_gain,
            n_groups=self._plan.n_groups,
            n_kept=self._plan.n_recycled,
            preconditioned=state.preconditioned,
        )

    def _minimise_scaled_model(self, state, view, curved, description, forcing_term):
        """Minimise the model in the preconditioner's coordinates, column by column.

        There the inverse Hessian is about the identity.
        """
        coordinates = state.preconditioner.coordinates
        slope = state.preconditioned.product.reshape(description.shape)
        hessian = coordinates.hessian_at(curved)
        scaled = conjugate_gradients(
            hessian.product,
            slope.T.astype(self._plan.precision, order="C").reshape(-1),
            _times_identity,
            forcing_term=forcing_term,
            least_gain=self._tuning.least_gain,
            moved=hessian.moved,
        )
        by_output = scaled.step.reshape(slope.T.shape).T
        variables = by_output.astype(slope.dtype, order="C").reshape(-1)
        step = coordinates.to_parameters(variables)
        decrease = -float(view.gradient @ step) / 2
        is_far = decrease > self._tuning.far_decrease * abs(view.value)
        ray = view.along_products(step, hessian, is_far)
        return scaled._replace(step=step, ray=ray)

    def _preconditioned(self, preconditioner, point):
        """The ``PreconditionedGradient`` at a point."""
        if self._plan.is_scaled:
            return _times_identity(preconditioner.coordinates.gradient(point.gradient))
        groups = point.gradient.reshape(self._plan.n_groups, -1)
        return preconditioner.times(groups)


def _times_identity(gradient):
    """The result of :meth:`Preconditioner.times` for the identity."""
    squares = np.einsum("...i,...i->...", gradient, gradient)
    return PreconditionedGradient(gradient, squares)
