"""Bundles of gradients, for convex problems whose gradient jumps.

At a kink the gradient is large even at the minimum. There, a convex combination of
gradients at points nearby is zero: with weights λ, gradients g_j at points x_j and
their linearization errors e_j = f(x) - f(x_j) - ⟨g_j, x - x_j⟩, for all y

    f(y) ≥ f(x) + ⟨Σ λ_j g_j, y - x⟩ - Σ λ_j e_j.

So the smallest combination is used in place of the gradient. It is a descent direction,
or it shows that the objective cannot fall by more than the errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from ..._utils.arrays import to_numpy
from ..._utils.tuning import Tuning
from ..._utils.typing import Array
from .._criteria import allowed_decrease
from .._expected_decrease import gain_by_scaling
from .._state import State


class Evaluation(NamedTuple):
    """A problem at parameters, possibly with a combination in place of the gradient."""

    parameters: Array
    value: float
    gradient: Array

    def error_of(self, other):
        """Linearization error at this point of the gradient at another point."""
        ahead = self.parameters - other.parameters
        return self.value - other.value - float(other.gradient @ ahead)


@dataclass(frozen=True, kw_only=True)
class BundleState(State):
    """State of a bundle. The gradient of its point is the smallest combination."""

    #: The point with its own gradient.
    center: Evaluation
    #: Points nearby, and the gradients there in the coordinates.
    points: tuple[Evaluation, ...]
    slopes: tuple[Array, ...]
    #: The smallest combination, in the coordinates.
    slope: Array
    #: Current tolerances, in units of the final ones.
    looseness: float


class Bundle:
    """Steps along the smallest convex combination of gradients.

    A step ends at a lower point, or with a combination that is within tol.

    Parameters
    ----------
    criteria : Criteria
    coordinates : object with methods `gradient` and `to_parameters`
        Coordinates in which the curvature is about one.
    tuning : Tuning

    References
    ----------
    Lemaréchal, "An extension of Davidon methods to non differentiable problems",
    Mathematical Programming Study 3, 1975.

    Wolfe, "A method of conjugate subgradients for minimizing nondifferentiable
    functions", Mathematical Programming Study 3, 1975.
    """

    name = "bundle"

    def __init__(self, criteria, coordinates, tuning=Tuning()):
        self._criteria, self._tuning = criteria, tuning
        self._coordinates = coordinates

    def init(self, problem, point):
        """The state at a point, whose bundle is its gradient."""
        center = Evaluation(point.parameters, point.value, point.gradient)
        slopes = (to_numpy(self._coordinates.gradient(center.gradient)),)
        return self._combined(center, (center,), slopes, self._tuning.bundle_looseness)

    def step(self, problem, state):
        """Add gradients until a point is lower, or a combination is within tol."""
        tuning = self._tuning
        most = max(
            min(tuning.bundle_size, tuning.most_numbers // problem.initial().size), 2
        )
        while True:
            while self._is_small(problem, state):
                if state.looseness == 1:
                    return state
                looseness = max(state.looseness / tuning.bundle_tighter, 1)
                allowed = looseness * self._allowed(problem, state)
                kept = self._near(state, state.center, allowed, most)
                state = self._combined(state.center, *kept, looseness)
            trial, is_lower = self._trial(problem, state)
            if trial is None or len(state.points) > most:
                return replace(state, is_spent=True)
            center, kept = state.center, (state.points, state.slopes)
            if is_lower:
                center = trial
                allowed = state.looseness * self._allowed(problem, state)
                kept = self._near(state, center, allowed, most)
            points, slopes = kept
            slope = to_numpy(self._coordinates.gradient(trial.gradient))
            slopes = (*slopes, slope)
            state = self._combined(center, (*points, trial), slopes, state.looseness)
            if is_lower:
                return state

    def _allowed(self, problem, state):
        """Largest expected decrease that is allowed at the end."""
        return allowed_decrease(problem, state.center.value, self._criteria.tol)

    def _is_small(self, problem, state):
        """Whether the combination and the expected decrease are within tol."""
        smallest, looseness = state.point.gradient, state.looseness
        gain = gain_by_scaling(smallest, state.center.parameters)
        within_tol = np.abs(smallest).max() <= looseness * self._criteria.tol
        return within_tol and gain <= looseness * self._allowed(problem, state)

    def _trial(self, problem, state):
        """A point along the combination, lower or nearby, and whether it is lower.

        None if the step is too short to change the parameters.
        """
        tuning, center = self._tuning, state.center
        step = self._coordinates.to_parameters(-state.slope)
        square, length = float(state.slope @ state.slope), 1.0
        allowed = state.looseness * self._allowed(problem, state)
        while True:
            parameters = center.parameters + length * step
            if np.array_equal(parameters, center.parameters):
                return None, False
            trial = Evaluation(parameters, *problem.value_and_gradient(parameters))
            if trial.value <= center.value - tuning.bundle_decrease * length * square:
                return trial, True
            if center.error_of(trial) <= tuning.bundle_error * allowed:
                return trial, False
            length *= tuning.bundle_shorter

    def _near(self, state, center, allowed, most):
        """Points and slopes whose linearization error is allowed, without old ones."""
        # Keep space for the gradients that a new point may need.
        first = len(state.points) - most // 2
        pairs = [
            (point, slope)
            for i, (point, slope) in enumerate(
                zip(state.points, state.slopes, strict=True)
            )
            if point is center or (i >= first and center.error_of(point) <= allowed)
        ]
        return tuple(zip(*pairs, strict=True)) or ((), ())

    def _combined(self, center, points, slopes, looseness):
        """The state with the combination that is smallest in the coordinates."""
        matrix = np.array(slopes)
        unit = np.sqrt((matrix**2).sum(axis=1).max()) or 1.0
        # With the equation that the weights sum to one, non-negative least squares give
        # a multiple of the weights of the smallest combination.
        system = np.vstack([matrix.T / unit, np.ones(len(matrix))])
        weights, _ = nnls(system, np.append(np.zeros(len(system) - 1), 1.0))
        weights /= weights.sum()
        smallest = weights @ np.array([point.gradient for point in points])
        return BundleState(
            point=Evaluation(center.parameters, center.value, smallest),
            center=center,
            points=points,
            slopes=slopes,
            slope=weights @ matrix,
            looseness=looseness,
        )
