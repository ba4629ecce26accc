"""Proximal Newton's method on a working set of features.

A step minimises a quadratic model of the smooth part plus the shrinkage itself, and
goes along the way there. If few features are active, it solves the problem restricted
to a working set of them, on a copy of their columns, before the next pass over all
data: the features with a coefficient, and those whose gradient exceeds the threshold
most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..._utils.tuning import Tuning
from ..._utils.typing import Array
from .._line_search import Trial, rounding_error_of, tangents_meet
from .._plan import plan
from .._state import State
from ._curvature import HessianProducts, LBFGSMatrix, Piece, PieceHessian
from ._quadratic_model import minimise_model


@dataclass(frozen=True, kw_only=True)
class ProximalState(State):
    """Where proximal Newton's method is."""

    # The working set.
    #: The problem restricted to it, and the numbers of its features; None for all.
    restricted: object = None
    features: Array | None = None

    # Estimates of the curvature.
    #: Gram matrices, and Hessian products since they were computed.
    grams: Array | None = None
    n_products: int = 0
    #: Most Hessian products of a step.
    most_products: int = 0
    #: The last steps and changes of the gradient of the smooth part.
    pairs: tuple = ()
    #: More curvature of the loss of each row than there is, where that changes soon.
    damping: float = 0.0
    #: Whether a step has lowered the objective by little.
    is_near: bool = False
    #: Whether Hessians are written out in double precision.
    is_precise: bool = False
    #: Parameters (M, size) at the minimum of a model, its ``ModelMinimum`` and its
    #: curvature, if they are known.
    minimised: tuple | None = None


class ProximalNewton:
    """Proximal Newton's method on a working set of features.

    Parameters
    ----------
    criteria : Criteria
        Its rounding error is used in line searches.
    method : {"auto", "newton-cg", "newton-cholesky", "lbfgs"}
        Whether the Hessian is written out, multiplied with, or approximated from the
        last steps; "auto" writes it out where that costs little.
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

    def step(self, problem, state):
        """One step on all features, or several on a working set."""
        features = self._working_set(problem, state.point)
        if features is None:
            if state.features is not None:
                # Matrices and steps of the working set have other shapes.
                state = replace(
                    state, restricted=None, features=None, grams=None, pairs=()
                )
            after = self._iterate(problem, state)
            if after is None:
                return replace(state, is_spent=True)
            return after if self._criteria.certify else self._foreseen(problem, after)
        return self._solve_restricted(problem, state, features)

    def _working_set(self, problem, point):
        """Numbers of the features to work on; None for all."""
        tuning, description = self._tuning, problem.description
        n_outputs, size = description.shape
        n_features = size - description.has_intercept
        if description.n_stored <= tuning.little_of_features:
            return None
        parameters = point.parameters.reshape(n_outputs, size)[:, :n_features]
        gradient = point.gradient.reshape(n_outputs, size)[:, :n_features]
        support = parameters.any(axis=0)
        excess = np.abs(gradient).max(axis=0)
        n_kept = np.count_nonzero(support)
        is_wide = n_features > description.n_rows
        is_few = is_wide and not problem.shrinkage.is_by_column
        part = tuning.most_added_of_wide if is_few else tuning.most_added
        most = max(tuning.fewest_added, int(part * n_kept))
        n_chosen = n_kept + min(np.count_nonzero((excess > 0) & ~support), most)
        if n_chosen > tuning.largest_working_set * n_features:
            return None
        order = np.argsort(np.where(support, -np.inf, -excess), kind="stable")
        return np.sort(order[:n_chosen])

    def _solve_restricted(self, problem, state, features):
        """The state after steps on some features alone."""
        tuning, description = self._tuning, problem.description
        if state.features is None or not np.array_equal(features, state.features):
            restricted = problem.restricted(features)
            state = replace(
                state, restricted=restricted, features=features, grams=None, pairs=()
            )
        restricted = state.restricted
        columns = features
        if description.has_intercept:
            columns = np.append(features, description.shape[1] - 1)
        point = before = restricted.at_part(state.point, columns)
        enough = tuning.left_on_working_set * np.linalg.norm(state.point.gradient)
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
        """The state after one proximal Newton step; None if none lowers the value."""
        after = self._stepped(problem, state)
        if after is None and not state.is_precise:
            state = replace(state, is_precise=True, damping=0.0, minimised=None)
            after = self._stepped(problem, state)
        return after

    def _stepped(self, problem, state):
        """The state after a step in the state's precision; None as above."""
        point, shape = state.point, problem.description.shape
        start, smooth = point.parameters.reshape(shape), point.smooth
        norm = float(np.abs(point.gradient).max())
        if norm == 0:
            return None
        shrinkage = problem.shrinkage
        gradient = smooth.gradient.reshape(shape)
        if state.minimised is None:
            state = self._with_model(problem, state, norm)
        parameters, model, curvature = state.minimised
        state = replace(
            state, minimised=None, newton_step=None, expected_decrease=math.nan
        )
        step = parameters - start
        slope = float(np.vdot(gradient, step)) + shrinkage.change(start, parameters)
        if not slope < 0:
            return None
        ray = smooth.along(step.reshape(-1))
        length = self._length(problem, state, ray, step, slope)
        if length is None:
            return None
        value = point.value
        point = problem.composed(ray.arrive(length))
        quality = (value - point.value) / -model.change
        is_near = point.value > (1 - self._tuning.far_step) * value
        if isinstance(curvature, PieceHessian):
            state = self._damped(state, quality)
        state = replace(
            state,
            point=point,
            is_near=is_near,
            n_products=state.n_products + curvature.n_products,
            most_products=max(state.most_products, curvature.n_products),
        )
        if self._method != "lbfgs":
            return state
        change = point.smooth.gradient - gradient.reshape(-1)
        return self._with_pair(state, length * step.reshape(-1), change)

    def _with_pair(self, state, step, change):
        """The state with a step and the change of the gradient, for L-BFGS."""
        # Without a positive curvature along the step there is nothing to learn.
        least = self._tuning.least_curvature * np.linalg.norm(change)
        if not step @ change > least * np.linalg.norm(step):
            return state
        last = state.pairs[1 - self._tuning.steps_kept :]
        return replace(state, pairs=(*last, (step, change)))

    def _foreseen(self, problem, state):
        """The state with the decrease that its next step is expected to bring.

        It is computed where the gradient is within the tolerance. It takes the place
        of a certificate, which counts only for single fits.
        """
        norm = float(np.abs(state.point.gradient).max())
        if norm > self._criteria.tol or state.damping:
            return state
        state = self._with_model(problem, state, norm)
        parameters, model, curvature = state.minimised
        if not isinstance(curvature, PieceHessian):
            return state
        step = parameters.reshape(-1) - state.point.parameters
        return replace(state, newton_step=step, expected_decrease=-model.change)

    def _with_model(self, problem, state, norm):
        """The state with parameters at the minimum of a model, and its curvature."""
        description, smooth = problem.description, state.point.smooth
        forcing_term = min(self._tuning.forcing_term, norm**0.5)
        if self._method == "lbfgs":
            curvature = LBFGSMatrix(smooth, description.shape, state.pairs, 1e-3)
            rounds = {"forcing_term": 1e-2, "most_rounds": 10}
            return _with_minimum(problem, state, curvature, **rounds)
        included = _may_move(problem, state.point)
        n_included = np.count_nonzero(included)
        if self._writes_hessian(description, n_included, state.most_products):
            return self._with_hessian(problem, state, included, forcing_term)
        planned = plan(description, self._tuning)
        state, grams = self._grams(planned, state)
        curvature = HessianProducts(
            smooth, description.shape, grams, forcing_term, planned.precision
        )
        rounds = {"forcing_term": forcing_term, "most_rounds": 6}
        return _with_minimum(problem, state, curvature, **rounds)

    def _with_hessian(self, problem, state, included, forcing_term):
        """The same, by the Hessian of the included parameters (a mask), written out."""
        description, n_included = problem.description, np.count_nonzero(included)
        share = self._share(description, n_included, state.is_near)
        precision = self._precision(description, n_included, state.is_precise)
        hessian = state.point.smooth.piece_hessian(
            included, state.damping, share, precision
        )
        is_rough, piece = precision == np.float32, Piece(included, problem.shrinkage)
        curvature = PieceHessian(
            hessian, piece, description.is_shift_invariant, is_rough
        )
        rounds = {"forcing_term": 3e-2 * forcing_term, "most_rounds": 10}
        minimised = _with_minimum(problem, state, curvature, piece, **rounds)
        if is_rough and curvature.least_pivot < self._tuning.least_pivot:
            state = replace(state, is_precise=True)
            return self._with_hessian(problem, state, included, forcing_term)
        return minimised

    def _grams(self, planned, state):
        """The state with Gram matrices that are near enough, and these, or None."""
        if planned.preconditioner == "diagonal":
            return state, None
        if state.grams is None or state.n_products >= planned.renew_after:
            by_output = planned.preconditioner == "gram by output"
            grams = state.point.smooth.sandwiches(by_output, planned.n_drawn)
            state = replace(state, grams=grams, n_products=0)
        return state, state.grams

    def _writes_hessian(self, description, n_included, most_products):
        """Whether the Hessian of so many parameters is written out.

        That costs no more than many products, or than a step has taken.
        """
        if self._method != "auto":
            return self._method == "newton-cholesky"
        tuning = self._tuning
        cost = self._cost_of_gram(description, n_included) / 2 + n_included**3
        product = self._cost_of_product(description)
        many = max(tuning.hessian_products, most_products)
        return n_included <= tuning.largest_hessian and cost <= max(
            many * product, tuning.largest_hessian_cost
        )

    def _share(self, description, n_included, is_near):
        """Share of the rows from which the Hessian of parameters is computed."""
        tuning = self._tuning
        if _is_sparse(description):
            # Drawn rows leave out rare features, and their curvature: without this rule
            # two classes of 20 newsgroups take 1.4 times as long.
            return 1.0
        cost = self._cost_of_gram(description, n_included)
        product = self._cost_of_product(description)
        least = max(tuning.sampled_hessian_products * product, tuning.sampled_hessian)
        if cost < least:
            return 1.0
        n_rows = tuning.rows_near if is_near else tuning.rows_of_parameter
        share = n_rows * n_included / description.n_rows
        return share if share < tuning.largest_share else 1.0

    def _precision(self, description, n_included, is_precise):
        """Floating-point type in which the Hessian of parameters is computed."""
        cost = self._cost_of_gram(description, n_included)
        if is_precise or cost < self._tuning.single_hessian or _is_sparse(description):
            return np.float64
        # With no more rows than parameters the smallest pivot is next to zero.
        has_rank = n_included < description.n_rows * description.shape[0]
        return np.float32 if has_rank else np.float64

    def _cost_of_gram(self, description, n_included):
        """Cost of products of all pairs of columns of the included parameters."""
        n_rows, (n_outputs, size) = description.n_rows, description.shape
        cost = n_rows * n_included**2
        if n_outputs > 1:
            return cost
        n_stored = description.n_stored * n_included / size
        return min(cost, self._tuning.sparse_pair_cost * n_stored**2 / n_rows)

    def _cost_of_product(self, description):
        """Cost of a Hessian product, in multiplications."""
        tuning, n_outputs = self._tuning, description.shape[0]
        n_rows, n_stored = description.n_rows, description.n_stored
        cost = tuning.sparse_cost if _is_sparse(description) else 4
        return n_outputs * (cost * n_stored + tuning.elementwise_cost * n_rows)

    def _damped(self, state, quality):
        """The state with a damping for the next step.

        The quality of a step is its decrease in units of that of the model.
        """
        tuning = self._tuning
        if quality < tuning.poor_model:
            damping = max(tuning.more_damping * state.damping, tuning.first_damping)
        elif quality > tuning.good_model and state.damping:
            times = tuning.less_damping ** (3 if quality > tuning.timid_model else 1)
            damping = times * state.damping
            damping = damping if damping > tuning.least_damping else 0.0
        else:
            return state
        return replace(state, damping=damping)

    def _length(self, problem, state, ray, step, slope):
        """A length at which the value has fallen; None if there is none.

        A trial that raises ValueError is too long. If no other one has a lower value,
        the error is raised.
        """
        tuning, shrinkage, point = self._tuning, problem.shrinkage, state.point
        rounding = rounding_error_of(problem, point.value, tuning)
        start, failures = point.parameters.reshape(step.shape), []

        def trial_at(length):
            try:
                value, slope = ray.trial(length)
            except ValueError as error:  # A user's function is not finite there.
                failures.append(error)
                return Trial(length, math.inf, math.nan)
            parameters = start + length * step
            piece = np.where(parameters != 0, parameters, start)
            slope += float(np.vdot(shrinkage.slope(piece), step))
            return Trial(length, value + shrinkage.value(parameters), slope)

        length, at_start = 1.0, Trial(0.0, point.value, slope)
        for number in range(1, tuning.most_trials + 1):
            trial = trial_at(length)
            change = trial.value - point.value
            if change <= tuning.sufficient_decrease * length * slope:
                if number == 1 and self._may_be_longer(problem, state):
                    return self._longer(trial_at, at_start, trial)
                return length
            # Where values are the same up to rounding, a smaller slope must do.
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
        if failures:
            raise failures[0]
        return None

    def _may_be_longer(self, problem, state):
        """Whether a step is one on all features of little data, without damping.

        A damping shows that the curvature changes soon.
        """
        is_little = problem.description.n_stored <= self._tuning.little_of_features
        return is_little and state.features is None and not state.damping

    def _longer(self, trial_at, start, trial):
        """The length of a trial, or a longer one, at which the value is lower.

        A longer one is tried if much of the slope at the start is left.
        """
        tuning = self._tuning
        if trial.slope > tuning.slope_left_far * start.slope:
            return trial.length
        curvature = (trial.slope - start.slope) / trial.length
        longer = tuning.longest_step
        if curvature > 0:
            longer = min(-start.slope / curvature, longer)
        return longer if trial_at(longer).value < trial.value else trial.length


def _is_sparse(description):
    """Whether few entries of the design are stored."""
    size = description.shape[1]
    return description.n_stored < 0.1 * description.n_rows * size


def _may_move(problem, point):
    """Mask (M, size) of the parameters that are not zero, or that a step may change."""
    shape, shrinkage = problem.description.shape, problem.shrinkage
    may_move = (point.parameters != 0) | (point.gradient != 0)
    may_move = may_move.reshape(shape) | (shrinkage.thresholds == 0)
    if shrinkage.is_by_column:
        may_move = np.broadcast_to(may_move.any(axis=0), shape)
    return may_move


def _with_minimum(problem, state, curvature, piece=None, **rounds):
    """The state with parameters at the minimum of a model of this curvature.

    If a piece is given, the other parameters remain zero.
    """
    shape, smooth = problem.description.shape, state.point.smooth
    shrinkage, recentred = problem.shrinkage, None
    if problem.description.is_shift_invariant:
        recentred = partial(_recentred, shrinkage, smooth.ridge, piece)
    start = state.point.parameters.reshape(shape)
    gradient = smooth.gradient.reshape(shape)
    if piece is not None:
        shrinkage = piece.shrinkage
        start, gradient = piece.taken(start), piece.taken(gradient)
    model = minimise_model(
        curvature, shrinkage, start, gradient, recentred=recentred, **rounds
    )
    parameters = model.parameters
    if piece is not None:
        parameters = piece.whole(parameters)
    return replace(state, minimised=(parameters, model, curvature))


def _recentred(shrinkage, ridge, piece, parameters, gradient):
    """Parameters with the least penalty, of those with the same loss.

    They and the gradient are matrices (M, size), or arrays of a piece.
    """
    if piece is None:
        shift = shrinkage.common_shift(parameters, ridge)
    else:
        shift = shrinkage.common_shift(piece.whole(parameters), ridge)
        shift, ridge = shift[piece.columns], ridge[piece.columns]
    if not shift.any():
        return parameters, gradient
    return parameters - shift, gradient - ridge * shift
