"""L-BFGS through SciPy, in whitened coordinates.

SciPy runs its own loop, so this is the one solver that :func:`minimize` does not run.
"""

import math
import sys
from collections import deque
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.optimize

from ..._utils.arrays import to_numpy
from .._criteria import allowed_decrease
from .._expected_decrease import expected_decrease
from .._line_search import rounding_error_of
from .._minimize import Record
from .._state import State
from ..newton import Preconditioner


class EvaluatedPoint(NamedTuple):
    """Value and gradient of a problem at parameters."""

    parameters: np.ndarray
    value: float
    gradient: np.ndarray


def minimize_lbfgs(problem, plan, criteria, start, callback=None):
    """Minimise a smooth problem with SciPy's L-BFGS-B.

    The variables are whitened where that costs little (:class:`Preconditioner`), so
    that correlated features do not slow it down. Arguments and result are those of
    :func:`minimize`, with a `plan` in place of solvers. Evaluations are not limited.

    If the plan has single precision, evaluations are in single precision until rounding
    errors are significant. The accepted point is evaluated in the precision of X.
    """
    record, tuning = Record(problem, criteria, callback), criteria.tuning
    is_renewed = plan.preconditioner.startswith("gram")
    has_kinks = problem.description.has_kinks
    stretch = tuning.first_stretch if is_renewed or has_kinks else sys.maxsize
    # Curvatures are kept over several runs of SciPy's solver: the smallest of only a
    # few may be too large.
    curvatures = deque(maxlen=tuning.curvatures_kept)
    origin, restarts, preconditioner = start, False, None
    evaluated = problem
    if plan.precision_of_values is np.float32:
        evaluated = problem.in_single_precision() or problem
    while True:
        # If the curvature is not bounded, use the curvature at the initial parameters:
        # at another point it may be far too large.
        where = problem.initial() if restarts else origin
        if plan.preconditioner == "none":
            curvature = None
        else:
            curvature = evaluated.curvature_at(where)
        preconditioner = Preconditioner.at(
            curvature, plan, problem.description, preconditioner, tuning
        )
        coordinates = preconditioner.coordinates
        path = _Path(
            problem,
            evaluated,
            record,
            coordinates=coordinates,
            origin=origin,
            criteria=criteria,
        )
        gave_up = path.descend(curvatures, stretch)
        if has_kinks and record.may_resume and path.is_slow(criteria.tol):
            # L-BFGS finds no curvature between kinks, and its steps become short.
            from ._bundle import Bundle  # Imported when used.

            bundle = Bundle(criteria, preconditioner.coordinates, tuning)
            _continue(record, problem, bundle, path.point)
            return record.solution("lbfgs+bundle")
        if record.is_over:
            break
        if gave_up and evaluated is not problem:
            # Rounding errors may be the reason: continue in the precision of X.
            evaluated, origin = problem, path.point.parameters
            continue
        evaluated = path.evaluated
        is_stuck = gave_up and not path.has_fallen(criteria.tol)
        if is_stuck and (restarts or not problem.description.is_convex):
            record.stall(State(point=path.point, is_stalled=True))
            break
        # L-BFGS's approximation of the curvature may be wrong: start again without it.
        restarts, origin = is_stuck, path.point.parameters
        stretch = stretch if has_kinks else 2 * stretch
    return record.solution("lbfgs")


def _continue(record, problem, solver, point):
    """Continue from a point by another solver, until the record is over."""
    state = solver.init(problem, point)
    while True:
        state = solver.step(problem, state)
        if state.is_spent:
            record.stall(replace(state, is_stalled=True))
            return
        record.add(state)
        if record.is_over:
            return


class _Path:
    """A problem as a function for SciPy, in given coordinates about an origin.

    Attributes
    ----------
    point : EvaluatedPoint
        The last iterate.
    evaluated : Problem
        The problem, or the problem in single precision until rounding errors are
        significant.
    """

    def __init__(self, problem, evaluated, record, coordinates, origin, criteria):
        self._problem, self.evaluated, self._record = problem, evaluated, record
        self._criteria, self._tuning = criteria, criteria.tuning
        self._coordinates, self._origin = coordinates, origin
        # Value at the last iterate less that at the origin.
        self._height = 0.0
        n_variables = len(to_numpy(coordinates.gradient(origin)))
        self._evaluate(np.zeros(n_variables), evaluated)
        self._evaluate_precisely(-math.inf, math.nan)
        self.point, self._variables, self._slope = self._last
        # SciPy's first step has length one. The length of the gradient would be right
        # for a curvature of about one, so SciPy's variables are in units of this
        # length.
        self._unit = np.linalg.norm(self._slope) or 1.0

    def _evaluate(self, variables, problem):
        """Evaluate a problem at variables of the coordinates."""
        self._last = None  # Free its memory: there may be many classes.
        parameters = self._origin + self._coordinates.to_parameters(variables)
        value, gradient = problem.value_and_gradient(parameters)
        slope = to_numpy(self._coordinates.gradient(gradient))
        self._last = EvaluatedPoint(parameters, value, gradient), variables, slope

    def _evaluate_precisely(self, climb, expected):
        """Evaluate the last point again if single precision is not enough.

        It is not enough once the value has changed by no more than its rounding error,
        and where the criteria may hold.
        """
        if self.evaluated is self._problem:
            return
        (point, variables, _), tol = self._last, self._criteria.tol
        if -climb <= rounding_error_of(self.evaluated, point.value, self._tuning):
            self.evaluated = self._problem
        elif np.abs(point.gradient).max() > tol:
            return
        elif expected > allowed_decrease(self._problem, point.value, tol):
            return
        self._evaluate(variables, self._problem)

    def _climb(self):
        """Change of the value from the last iterate to the last evaluation."""
        point, variables, slope = self._last
        climb = point.value - self.point.value
        if abs(climb) <= rounding_error_of(
            self.evaluated, self.point.value, self._tuning
        ):
            # Rounding hides which one is lower: use the gradients at both points.
            climb = (variables - self._variables) @ (slope + self._slope) / 2
        return climb

    def __call__(self, scaled):
        """Value less that at the origin, and gradient."""
        # SciPy begins at the origin, which has been evaluated.
        if not np.array_equal(self._unit * scaled, self._last[1]):
            self._evaluate(self._unit * scaled, self.evaluated)
        return self._height + self._climb(), self._unit * self._last[2]

    def has_fallen(self, tol):
        """Whether the objective is lower than at the origin, beyond the tolerance."""
        return -self._height > tol * abs(self.point.value)

    def is_slow(self, tol):
        """Whether the objective has fallen by no more than criterion 2 allows."""
        return -self._height <= allowed_decrease(self._problem, self.point.value, tol)

    def descend(self, curvatures, n_iterations):
        """Run SciPy's L-BFGS-B; returns whether it stopped before `n_iterations`.

        Curvatures along the iterations are appended.
        """
        record = self._record
        if not record.history:
            self._record.add(State(point=self.point))
        if record.is_over:
            return False
        last = len(record.history) + n_iterations

        def after_iteration(scaled):
            self._record.add(self._arrive(scaled, curvatures))
            if record.is_over or len(record.history) >= last:
                raise StopIteration

        result = scipy.optimize.minimize(
            self,
            np.zeros_like(self._variables),
            callback=after_iteration,
            method="L-BFGS-B",
            jac=True,
            options={
                "maxiter": sys.maxsize,
                "maxfun": sys.maxsize,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        if record.is_over or len(record.history) >= last:
            return False
        self._arrive(result.x, curvatures)
        return True

    def _arrive(self, scaled, curvatures):
        """Move to the end of an iteration: the state there."""
        # It is nearly always the last point that SciPy evaluated.
        if not np.array_equal(self._unit * scaled, self._last[1]):
            self._evaluate(self._unit * scaled, self.evaluated)
        climb = self._climb()
        self._height += climb
        _, variables, slope = self._last
        step = variables - self._variables
        curvatures.append(step @ (slope - self._slope) / (step @ step or 1.0))
        expected = expected_decrease(float(slope @ slope), min(curvatures))
        self._evaluate_precisely(climb, expected)
        self.point, self._variables, self._slope = self._last
        return State(point=self.point, expected_decrease=expected)
