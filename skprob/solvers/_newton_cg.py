"""Newton's method with preconditioned conjugate gradients and a line search."""

import math
from collections import deque
from typing import NamedTuple

from .._blas import serial_numpy_blas
from ._conjugate_gradients import truncated_conjugate_gradients
from ._continuation import has_served, promises_little, under_stronger_penalty
from ._course import Course, possible_gain
from ._inverse_hessian import InverseHessian
from ._line_search import first_length, search_along
from ._preconditioner import Preconditioner

# A step may be so many times longer than the gradient, or than one of the last few
# steps: in units that differ much, long and short ones take turns. Nothing but a
# direction without curvature asks for more.
_ROOM = 10
_FEW = 5
_MAX_PRODUCTS = 250
# However little curvature a step has left, so much of it may come back.
_LEAST_LEFT = 0.05


class _Care(NamedTuple):
    """How well conjugate gradients solve a step's model.

    Attributes
    ----------
    part : float
        What is left of the residual, in units of what would do far from the minimum.
    step_cost : float
        As for :func:`truncated_conjugate_gradients`.
    """

    part: float
    step_cost: float


# On a long way the model is a guess, and soon solved well enough ...
_LITTLE_CARE = _Care(part=1.0, step_cost=0)
# ... but about the objective where the way is short, as from another fit's solution.
_MUCH_CARE = _Care(part=0.3, step_cost=20)


@serial_numpy_blas
def newton_cg(objective, initial, *, tol, max_iter, callback=None, preconditioner=None):
    """Minimise an objective by a truncated Newton method.

    Each step minimises a quadratic model by conjugate gradients that are
    preconditioned with Gram matrices of the features weighted by the curvature at a
    recent point (:class:`Preconditioner`), and with the directions that the step before
    was made of. A line search shortens or lengthens the step until the objective is
    about level, so that the kinks of a piecewise linear mapping do no harm; directions
    without curvature, or with a negative one, are followed to the boundary of a ball. A
    trust region that shrinks where rows gain or lose their curvature was measured to be
    several times slower on nearly separable data.

    There, from zeros, the first steps are under ten times the penalty instead: on the
    way to its minimum rows keep their curvature, and the rest of the way is short.
    From elsewhere, as from another fit's solution, models are solved more exactly.

    Parameters
    ----------
    objective : object
        With ``linearize(parameters)``, ``dtype`` and what :class:`Preconditioner`
        asks for. With ``with_penalty(l2)`` and ``relinearize(linearization,
        parameters)``, if its penalty may be a stronger one.
    initial : ndarray of shape (n_parameters,)
        Where to start.
    tol : float
        As for :func:`lbfgs`.
    max_iter : int
        Steps at most.
    callback : callable, optional
    preconditioner : Preconditioner, optional
        As for :func:`lbfgs`.

    Returns
    -------
    solution : Solution

    References
    ----------
    Lin, Weng, Keerthi, "Trust region Newton method for large-scale logistic
    regression", Journal of Machine Learning Research 2008.

    Allgower, Georg, "Numerical continuation methods: an introduction", Springer 1990.

    Keerthi, DeCoste, "A modified finite Newton method for fast solution of large scale
    linear SVMs", Journal of Machine Learning Research 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Sparsemax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> from skprob.solvers import newton_cg
    >>> X = np.array([[0.0], [1e6], [2e6], [3e6]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 0, 1]), n_classes=2)
    >>> blocks = split_rows(X, target, np.ones(4))
    >>> objective = LinearObjective(blocks, FenchelYoungLoss(Sparsemax()), l2=0.0)
    >>> solution = newton_cg(objective, np.zeros(2), tol=1e-6, max_iter=100)
    >>> solution.converged, round(solution.value, 4)
    (True, 0.2)
    """
    course = Course(
        objective, tol=tol, max_iter=max_iter, callback=callback, needs=["linearize"]
    )
    here = objective.linearize(initial)
    if preconditioner is None:
        preconditioner = Preconditioner(objective, course.standardization)
    care = _MUCH_CARE if initial.any() else _LITTLE_CARE
    problem = _Problem(objective, preconditioner, initial, here, care)
    course.arrive(initial, here.value, here.gradient, problem.possible_gain())
    problem = _to_begin_with(problem, initial)
    first_value, first = problem.here.value, first_length(objective, initial)
    taken = deque([0.0], maxlen=_FEW)
    while not course.finished:
        problem.renew()
        length = 0.0
        if problem.square > 0:
            model = problem.step(taken, course.parameters.any())
            if model.decrease > 0:
                length, there = problem.search(course, model.step, first)
        is_own = problem.objective is objective
        if length == 0:
            if is_own:
                course.stalled = True
                break
            problem = problem.under(objective, course.parameters)
            continue
        before = problem.here.value
        problem.moved(model, length, there)
        first = 1.0
        taken.append(length * model.length)
        parameters = course.parameters + length * model.step
        if is_own:
            # A step that was cut short has not met the directions of little curvature.
            whole = length >= 1 and not model.at_boundary
            gain = problem.possible_gain(whole)
        else:
            there, gain = objective.relinearize(there, parameters), math.nan
            if has_served(first_value, before, problem.here.value, length):
                problem = problem.under(objective, parameters)
        course.arrive(parameters, there.value, there.gradient, gain)
        course.iterated()
    return course.solution()


class _Problem:
    """An objective at a point, and what is known of its Hessian's inverse."""

    def __init__(self, objective, preconditioner, parameters, here, care):
        self.objective, self._preconditioner = objective, preconditioner
        self._care = care
        self._coordinates = preconditioner.begin(parameters, lambda _: here)
        self._look_from(here)

    def _look_from(self, here):
        self.here = here
        directions = self._preconditioner.directions
        self._inverse = InverseHessian(self._coordinates, directions)
        self._downhill = self._inverse.times(-here.gradient)

    @property
    def square(self):
        """Of the gradient's length."""
        return self._downhill[1]

    def under(self, objective, parameters):
        """The same with another penalty, at the same point."""
        preconditioner = self._preconditioner.for_objective(objective)
        here = objective.relinearize(self.here, parameters)
        return _Problem(objective, preconditioner, parameters, here, self._care)

    def renew(self):
        """New coordinates if the last are worn."""
        if self._preconditioner.is_worn:
            self._coordinates = self._preconditioner.at(self.here)
            self._look_from(self.here)

    def step(self, taken, bends_less):
        """A step; its directions are kept where rows bend the loss less than at zeros.

        `taken` are the lengths of the last few steps.
        """
        preconditioner, here = self._preconditioner, self.here
        size = math.sqrt(self.square)

        def product(direction):
            along = direction.astype(preconditioner.precision, copy=False)
            return here.hessian_product(along)

        model = truncated_conjugate_gradients(
            product,
            here.gradient,
            self._inverse,
            _ROOM * max(size, *taken),
            residual=self._care.part * min(0.3, math.sqrt(size)),
            max_products=_MAX_PRODUCTS,
            step_cost=self._care.step_cost,
            # All rows bend the loss at zero parameters, and few a step away.
            n_kept=preconditioner.n_directions if bends_less else 0,
            downhill=self._downhill,
        )
        preconditioner.used(model.n_products)
        return model

    def search(self, course, direction, first):
        """How much of a step to take, and the linearization there."""
        best = search_along(
            self.objective,
            course.parameters,
            direction,
            self.here,
            course.rounding,
            first,
        )
        return best.length, best.point

    def moved(self, model, length, there):
        """Be where so much of a step has led."""
        left = _curvature_left(model, self.here, there, length)
        self._preconditioner.met(model.least_curvature, model.met.scaled(left))
        self._look_from(there)

    def possible_gain(self, all_met=True):
        """By how much the objective may fall, if the last step met all directions."""
        least = self._preconditioner.least_curvature if all_met else 0.0
        return possible_gain(self.square, least)


def _to_begin_with(problem, initial):
    """The problem under a stronger penalty, where that promises to help."""
    stronger = under_stronger_penalty(problem.objective, initial)
    if stronger is None or not promises_little(problem.here.value, problem.square):
        return problem
    other = problem.under(stronger, initial)
    return other if promises_little(other.here.value, other.square) else problem


def _curvature_left(model, here, there, length):
    """What part of its curvature a step leaves to the directions that it is made of.

    On the way the curvature of the step itself has on average been a part r of that at
    the start. Losses that vanish exponentially leave r² of it at the end.
    """
    slope = here.gradient @ model.step
    at_start = -2 * (slope + model.decrease)
    on_average = (there.gradient @ model.step - slope) / length
    if not 0 < on_average < at_start:
        return 1.0
    return max((on_average / at_start) ** 2, _LEAST_LEFT)
