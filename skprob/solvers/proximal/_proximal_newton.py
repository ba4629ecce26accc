"""Proximal Newton's method on a working set of features.

A step minimises a quadratic model of the smooth part plus the exact shrinkage, and
searches along the line to this minimum. If few features are active, it minimises the
problem restricted to a working set of them, on a copy of their columns, before the next
pass over all data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..._utils.tuning import Tuning
from ..._utils.typing import Array
from .._state import State
from ._minimised_model import MinimisedModel, minimised_model
from ._step_length import step_length
from ._working_set import working_set


@dataclass(frozen=True, kw_only=True)
class ProximalState(State):
    """State of proximal Newton's method."""

    # The working set.
    #: The problem restricted to it, and the numbers of its features; None for all.
    restricted: object = None
    features: Array | None = None

    # Estimates of the curvature.
    #: Gram matrices, and number of Hessian products since they were computed.
    grams: Array | None = None
    n_products: int = 0
    #: Largest number of Hessian products of a step so far.
    most_products: int = 0
    #: The last steps and changes of the gradient of the smooth part.
    pairs: tuple = ()
    #: Whether a step has lowered the objective only a little.
    is_near: bool = False
    #: Whether Hessian matrices are computed in double precision.
    is_precise: bool = False
    #: The minimum of the model at the point, if it is known.
    minimised: MinimisedModel | None = None


class ProximalNewton:
    """Proximal Newton's method on a working set of features.

    Parameters
    ----------
    criteria : Criteria
        Criteria, whose rounding error is used in line searches.
    method : {"auto", "newton-cg", "newton-cholesky", "lbfgs"}
        Kind of curvature: the Hessian matrix with "newton-cholesky", products with
        "newton-cg", an approximation from the last steps with "lbfgs". "auto" computes
        the matrix if that costs little, else products, or the approximation if the
        Hessian is not bounded.
    tuning : Tuning

    References
    ----------
    Lee, Sun, Saunders, "Proximal Newton-type methods for minimizing composite
    functions", SIAM Journal on Optimization 2014.

    Massias, Gramfort, Salmon, "Celer: a fast solver for the lasso with dual
    extrapolation", ICML 2018 (working sets).
    """

    def __init__(self, criteria, method="auto", tuning=Tuning()):
        self.name = "proximal-lbfgs" if method == "lbfgs" else "proximal-newton"
        self._criteria, self._method, self._tuning = criteria, method, tuning

    def init(self, problem, point):
        """The state at a point."""
        return ProximalState(point=point)

    def resume(self, problem, state):
        """The state at the point of one under another penalty, without a pass."""
        return self.init(problem, problem.at_part(state.point, slice(None)))

    def step(self, problem, state):
        """One step on all features, or several on a working set."""
        chosen = working_set(problem, state.point, self._tuning)
        if chosen is None:
            if state.features is not None:
                # Matrices and steps of the working set have other shapes.
                state = replace(
                    state, restricted=None, features=None, grams=None, pairs=()
                )
            after = self._iterate(problem, state)
            if after is None:
                return replace(state, is_spent=True)
            if self._criteria.uses_gap:
                return after
            return self._with_expected_decrease(problem, after)
        return self._solve_restricted(problem, state, *chosen)

    def _solve_restricted(self, problem, state, features, left):
        """The state after steps on some features, up to a part of the gradient."""
        tuning, description = self._tuning, problem.description
        state = _on_working_set(problem, state, features)
        restricted, columns = state.restricted, state.features
        if description.has_intercept:
            columns = np.append(columns, description.shape[1] - 1)
        point = before = restricted.at_part(state.point, columns)
        enough = left * np.linalg.norm(state.point.gradient)
        inner = replace(state, point=point, minimised=None)
        for _ in range(tuning.most_on_working_set):
            after = self._iterate(restricted, inner)
            if after is None:
                break
            inner = after
            if np.linalg.norm(inner.point.gradient) <= enough:
                break
        if inner.point is before:
            return replace(state, is_spent=True)
        matrix = np.zeros(description.shape)
        matrix[:, columns] = inner.point.parameters.reshape(len(matrix), -1)
        point = problem.at(matrix.reshape(-1), known=inner.point)
        return replace(inner, point=point)

    def _iterate(self, problem, state):
        """The state after one proximal Newton step; None if no step is lower."""
        after = self._stepped(problem, state)
        if after is None and not state.is_precise:
            state = replace(state, is_precise=True, minimised=None)
            after = self._stepped(problem, state)
        return after

    def _stepped(self, problem, state):
        """The result of :meth:`_iterate`, in the state's precision."""
        point, shape = state.point, problem.description.shape
        if not point.gradient.any():
            return None
        start, smooth = point.parameters.reshape(shape), point.smooth
        gradient, model = smooth.gradient, state.minimised
        if model is None:
            state, model = minimised_model(problem, state, self._method, self._tuning)
        step = model.parameters - start
        slope = float(np.vdot(gradient, step))
        slope += problem.shrinkage.change(start, model.parameters)
        if not slope < 0:
            return None
        ray = smooth.along(step.reshape(-1))
        length = step_length(
            problem,
            point,
            ray,
            step,
            slope,
            self._tuning,
            may_be_longer=state.features is None,
        )
        if length is None:
            return None
        after = problem.composed(ray.arrive(length))
        pairs = state.pairs
        if self._method == "lbfgs" or not problem.description.has_bounded_hessian:
            pairs = self._with_pair(
                pairs, length * step.reshape(-1), after.smooth.gradient - gradient
            )
        return replace(
            state,
            point=after,
            minimised=None,
            newton_step=None,
            expected_decrease=math.nan,
            pairs=pairs,
            is_near=after.value > (1 - self._tuning.far_step) * point.value,
            n_products=state.n_products + model.n_products,
            most_products=max(state.most_products, model.n_products),
        )

    def _with_pair(self, pairs, step, change):
        """The pairs with a step and the change of the gradient, for L-BFGS."""
        # Only steps with a positive curvature are used.
        least = self._tuning.least_curvature * np.linalg.norm(change)
        if not step @ change > least * np.linalg.norm(step):
            return pairs
        return (*pairs[1 - self._tuning.steps_kept :], (step, change))

    def _with_expected_decrease(self, problem, state):
        """The state with the expected decrease of its next step.

        It is computed if the gradient is within the tolerance. Fits of a path, which
        need no duality gap, are accepted by it.
        """
        norm = float(np.abs(state.point.gradient).max())
        if norm > self._criteria.tol:
            return state
        state, model = minimised_model(problem, state, self._method, self._tuning)
        state = replace(state, minimised=model)
        if not model.has_whole_hessian:
            return state
        step = model.parameters.reshape(-1) - state.point.parameters
        return replace(state, newton_step=step, expected_decrease=model.decrease)


def _on_working_set(problem, state, features):
    """The state with the problem restricted to a working set that has these features.

    The last working set remains if they are more than half of it. Fewer columns of it
    are copied from its columns, others from those of all features.
    """
    last = state.features
    if last is None or not np.isin(features, last).all():
        restricted = problem.restricted(features)
    elif 2 * len(features) <= len(last):
        restricted = state.restricted.restricted(np.searchsorted(last, features))
    else:
        return state
    # Matrices and steps of another working set have other shapes.
    return replace(
        state, restricted=restricted, features=features, grams=None, pairs=()
    )
