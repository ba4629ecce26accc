"""L-BFGS through SciPy, in whitened coordinates."""

import sys
from collections import deque

import numpy as np
from scipy.optimize import minimize

from .._blas import serial_blas
from ._base import Point
from ._convergence import Convergence, expected_decrease
from ._kinks import descend_across_kinks
from ._plan import plan
from ._preconditioner import Preconditioner
from ._protocol import check_objective

# Iterations after which the coordinates are renewed; each stretch is twice as long.
_FIRST_STRETCH = 40


@serial_blas
def lbfgs(objective, initial, *, max_iter, preconditioner=None, **criteria):
    """Minimise a smooth objective with SciPy's L-BFGS-B.

    The variables are whitened where that costs little (:class:`Preconditioner`), so
    that correlated features do not slow it down.

    Parameters
    ----------
    objective : Objective
        With one problem.
    initial : ndarray of shape (n_parameters,)
    max_iter : int
        Iterations at most; evaluations are not limited.
    preconditioner : Preconditioner, optional
        One that a fit to the same data has left, to begin with; else a new one.
    **criteria
        `tol`, `callback` and others, as for :class:`Convergence`.

    Returns
    -------
    solution : Solution
    """
    check_objective(objective)
    convergence = Convergence(objective, 0, max_iter=max_iter, **criteria)
    chosen = plan(objective.description)
    if preconditioner is None:
        preconditioner = Preconditioner(objective.description, chosen)
    is_renewed = chosen.preconditioner.startswith("gram")
    has_kinks = objective.description.has_kinks
    stretch = _FIRST_STRETCH if is_renewed or has_kinks else sys.maxsize
    # Curvatures are kept from stretch to stretch: the least of a few may be too large.
    origin, restarts, curvatures = initial, False, deque(maxlen=10)
    while True:
        # Where the curvature is not bounded, that of a point may mislead, and that of
        # the initial parameters does not.
        look = objective.initial() if restarts else origin
        if chosen.preconditioner != "none":
            preconditioner.renew(objective.linearize(look[None], keep=False))
        how = preconditioner.coordinates, origin, curvatures
        path = _Path(objective, convergence, *how)
        gave_up = _descend(path, convergence, convergence.n_iter + stretch)
        if has_kinks and convergence.may_resume and path.is_slow:
            # Between kinks L-BFGS learns no curvature, and its steps become short.
            convergence.resume()
            descend_across_kinks(objective, convergence, preconditioner.coordinates)
            return convergence.solution("lbfgs+bundle")
        if convergence.finished:
            break
        is_stuck = gave_up and not path.has_fallen
        if is_stuck and (restarts or not objective.description.is_convex):
            convergence.stall()
            break
        # Its memory of the curvature may be at fault: start again without it.
        restarts, origin = is_stuck, convergence.parameters
        stretch = stretch if has_kinks else 2 * stretch
    return convergence.solution("lbfgs")


class _Path:
    """A function for SciPy, in given coordinates about an origin, and where it is."""

    def __init__(self, objective, convergence, coordinates, origin, curvatures):
        self._objective, self._convergence = objective, convergence
        self._coordinates, self._origin = coordinates, origin
        self._curvatures = curvatures
        self._point, self._height, self._unit = None, 0.0, 1.0
        self.start = np.zeros_like(coordinates.gradient(origin))
        self._evaluate(self.start)
        self.arrive(self.start)
        # SciPy's first step has the length of one; that of the gradient is right where
        # the curvature is about one.
        self._unit = np.linalg.norm(self._last[1]) or 1.0

    def _evaluate(self, variables):
        # Free the last point first: with many classes it takes much memory.
        self._last = None
        variables = self._unit * variables
        parameters = self._origin + self._coordinates.to_parameters(variables)
        values, gradients = self._objective.value_and_gradient(parameters[None])
        slope = self._coordinates.gradient(gradients[0])
        self._last = variables, slope, Point(parameters, float(values[0]), gradients[0])

    def __call__(self, variables):
        """By how much the value exceeds that at the origin, and the gradient."""
        self._evaluate(variables)
        return self._height + self._climb(), self._unit * self._last[1]

    def _climb(self):
        """Change of the value from the last iterate to the last evaluation."""
        climb = self._last[2][1] - self._convergence.value
        if abs(climb) <= self._convergence.rounding:
            # Where rounding hides which one is lower, the gradients at both tell.
            (variables, slope), (before, slope_before) = self._last[:2], self._point
            climb = (variables - before) @ (slope + slope_before) / 2
        return climb

    @property
    def has_fallen(self):
        """Whether the objective is lower than at the origin, beyond the tolerance."""
        convergence = self._convergence
        return -self._height > convergence.tol * abs(convergence.value)

    @property
    def is_slow(self):
        """Whether the objective is hardly lower than at the origin."""
        return -self._height <= self._convergence.allowed_decrease

    def arrive(self, variables):
        """Take in the end of an iteration."""
        # It is nearly always the last point that SciPy asked for.
        if not np.array_equal(self._unit * variables, self._last[0]):
            self._evaluate(variables)
        if self._point is not None:
            self._height += self._climb()
            (variables, slope), (before, slope_before) = self._last[:2], self._point
            step = variables - before
            curvature = step @ (slope - slope_before) / (step @ step or 1.0)
            self._curvatures.append(curvature)
        _, slope, here = self._last
        self._point = self._last[:2]
        least = min(self._curvatures, default=0.0)
        self._convergence.arrive(here, expected_decrease(float(slope @ slope), least))


def _descend(path, convergence, last_iteration):
    """Run SciPy's L-BFGS-B up to an iteration; returns whether it got stuck before."""

    def after_iteration(variables):
        path.arrive(variables)
        convergence.iterated()
        if convergence.finished or convergence.n_iter >= last_iteration:
            raise StopIteration

    if convergence.finished:
        return False
    options = {"maxiter": sys.maxsize, "maxfun": sys.maxsize, "ftol": 0.0, "gtol": 0.0}
    how = {"method": "L-BFGS-B", "jac": True, "options": options}
    result = minimize(path, path.start, callback=after_iteration, **how)
    if convergence.finished or convergence.n_iter >= last_iteration:
        return False
    path.arrive(result.x)
    return True
