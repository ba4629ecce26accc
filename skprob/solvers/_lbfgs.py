"""L-BFGS through SciPy, in whitened coordinates."""

from collections import deque

import numpy as np
from scipy.optimize import minimize

from .._blas import serial_numpy_blas, serial_scipy_blas
from ._course import RECENT, Course, possible_gain
from ._preconditioner import Preconditioner

_UNLIMITED = np.iinfo(np.int32).max
# Iterations after which the coordinates are renewed; each stretch is twice as long.
_FIRST_STRETCH = 40


@serial_numpy_blas
@serial_scipy_blas
def lbfgs(objective, initial, *, tol, max_iter, callback=None, preconditioner=None):
    """Minimise a smooth objective with SciPy's L-BFGS-B.

    The variables are those of centred and scaled features, whitened where that costs
    little (:class:`Preconditioner`), so that neither the units of the features nor
    their correlations matter.

    Parameters
    ----------
    objective : object
        With ``value_and_gradient(parameters)``, ``dtype`` and, if its features are
        to be standardised or whitened, what :class:`Standardization` and
        :class:`Preconditioner` ask for.
    initial : ndarray of shape (n_parameters,)
        Where to start.
    tol : float
        Largest absolute entry of the gradient at which to stop, both in the
        original coordinates (scikit-learn's criterion) and in the standardised
        ones (so that small units do not hide that the optimum is far). Where large
        units put the former out of reach of the arithmetic, the latter is enough.
        Moreover the objective must not be expected to fall by more than this part
        of it: by ‖g‖² / (2 c), with g the gradient in the coordinates used and c the
        least curvature along the last steps.
    max_iter : int
        Iterations at most; evaluations are not limited.
    callback : callable, optional
        ``callback(n_iter, parameters, value, gradient_norm, last)`` after every
        iteration, `last` telling that no other follows; a true result stops the
        solver.
    preconditioner : Preconditioner, optional
        One that a fit to the same data has left, to begin with; else a new one.

    Returns
    -------
    solution : Solution

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> from skprob.solvers import lbfgs
    >>> X = np.array([[0.0], [1e6], [2e6], [3e6]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 0, 1]), n_classes=2)
    >>> blocks = split_rows(X, target, np.ones(4))
    >>> objective = LinearObjective(blocks, FenchelYoungLoss(Softmax()), l2=0.0)
    >>> solution = lbfgs(objective, np.zeros(2), tol=1e-6, max_iter=100)
    >>> solution.converged, round(solution.value, 4)
    (True, 0.5869)
    """
    course = Course(
        objective,
        tol=tol,
        max_iter=max_iter,
        callback=callback,
        needs=["value_and_gradient"],
    )
    if preconditioner is None:
        preconditioner = Preconditioner(objective, course.standardization)
    stretch = _FIRST_STRETCH if preconditioner.whitens else _UNLIMITED

    def linearize(point):
        # Only objectives whose curvature is looked at need have it.
        return objective.linearize(point)

    def path_from(origin, coordinates):
        has_unit_curvature = preconditioner.follows_curvature
        return _Path(objective, course, coordinates, origin, has_unit_curvature)

    path, is_plain = path_from(initial, preconditioner.begin(initial, linearize)), False
    while not course.finished:
        _descend(path, course.n_iter + stretch)
        # Where the curvature is not bounded, that of a point may mislead; that of
        # zero parameters does not.
        may_be_misled = objective.is_convex and not (is_plain or course.converged)
        is_plain = course.stalled and may_be_misled
        if is_plain:
            course.stalled = False
        if not course.finished:
            here = course.parameters
            if is_plain:
                coordinates = preconditioner.first()
            else:
                coordinates = preconditioner.renewed(here, linearize)
            path = path_from(here, coordinates)
            stretch *= 2
    return course.solution()


class _Path:
    """A function for SciPy, in given coordinates about an origin, and where it is."""

    def __init__(self, objective, course, coordinates, origin, has_unit_curvature):
        self._objective = objective
        self.course = course
        self._coordinates = coordinates
        self._origin = origin
        self._curvatures = deque(maxlen=RECENT)
        self._point, self._height, self._unit = None, 0.0, 1.0
        self.start = np.zeros_like(coordinates.gradient(origin))
        self._evaluate(self.start)
        self.arrive(self.start)
        if has_unit_curvature:
            # SciPy's first step has the length of one. That of the gradient is right.
            self._unit = np.linalg.norm(self._last[1]) or 1.0

    def _evaluate(self, variables):
        # With many classes two vectors of parameters are much.
        self._last = None
        variables = self._unit * variables
        parameters = self._origin + self._coordinates.to_original(variables)
        value, gradient = self._objective.value_and_gradient(parameters)
        slope = self._coordinates.gradient(gradient)
        self._last = variables, slope, (parameters, value, gradient)

    def __call__(self, variables):
        """By how much the value exceeds that at the origin, and the gradient."""
        self._evaluate(variables)
        return self._height + self._climb(), self._unit * self._last[1]

    def _climb(self):
        """From the last iterate to where the function was evaluated last."""
        climb = self._last[2][1] - self.course.value
        if abs(climb) <= self.course.rounding:
            # Where rounding hides which one is lower, the slopes at both tell.
            (variables, slope), (before, slope_before) = self._last[:2], self._point
            climb = (variables - before) @ (slope + slope_before) / 2
        return climb

    @property
    def is_convex(self):
        """Whether the objective is."""
        return self._objective.is_convex

    @property
    def has_fallen(self):
        """Whether the objective is lower than at the origin, beyond the tolerance."""
        return -self._height > self.course.tol * abs(self.course.value)

    def arrive(self, variables):
        """Tell the course that an iteration ended here."""
        # SciPy's iterate is nearly always the last point it asked for.
        if not np.array_equal(self._unit * variables, self._last[0]):
            self._evaluate(variables)
        if self._point is not None:
            self._height += self._climb()
            step, change = (
                new - old for new, old in zip(self._last[:2], self._point, strict=True)
            )
            self._curvatures.append(step @ change / (step @ step or 1.0))
        self._point = self._last[:2]
        curvature = min(self._curvatures, default=0.0)
        slope = self._last[1]
        gain = possible_gain(float(slope @ slope), curvature)
        self.course.arrive(*self._last[2], gain)


def _descend(path, last_iteration):
    """Run SciPy's L-BFGS-B until the course is finished or has got so far."""
    course = path.course

    def after_iteration(variables):
        path.arrive(variables)
        course.iterated()
        if course.finished or course.n_iter >= last_iteration:
            raise StopIteration

    options = {"maxiter": _UNLIMITED, "maxfun": _UNLIMITED, "ftol": 0.0, "gtol": 0.0}
    result = minimize(
        path,
        path.start,
        method="L-BFGS-B",
        jac=True,
        callback=after_iteration,
        options=options,
    )
    if not course.finished and course.n_iter < last_iteration:
        # It found no step that lowers the objective. If that is convex, and there was
        # one before, it may be the fault of what it has learnt on the way.
        path.arrive(result.x)
        course.stalled = not (path.is_convex and path.has_fallen)
