"""Newton's method: the loop, and two ways to find a direction."""

import math
from collections import deque

import numpy as np
from scipy.linalg.lapack import dposv

from ._base import HessianAt, Point
from ._cg import conjugate_gradients
from ._convergence import expected_decrease
from ._line_search import LineSearch, Trial


def newton(start, directions, convergence, first_length=1.0):
    """Minimise by Newton's method with a line search: a solver for :func:`run`.

    It begins at `start`, an array or a Point, with the first of the directions; where
    one gets no further, the next goes on. The first line search tries `first_length`
    first. The result is a :class:`Solution`.
    """
    names, directions = [], iter(directions)
    direction = next(directions)
    # 0. Evaluate the start.
    here = start if isinstance(start, Point) else (yield start)
    while direction is not None:
        names.append(direction.name)
        here, expected = yield from direction.begin(here)
        convergence.arrive(here, expected, direction.exact_step)
        # 1. Test.
        while not (convergence.finished or direction.is_spent):
            # 2. Direction.
            step, seen = direction.step(here), direction.view(here)
            # 3. Line search.
            begin = Trial(0.0, seen.value, float(seen.gradient @ step), here)
            search = LineSearch(begin, convergence.rounding, first_length)
            first_length = 1.0
            while not search.over:
                there = yield here.parameters + search.length * step
                seen = direction.view(there)
                slope = float(seen.gradient @ step)
                search.tell(Trial(search.length, seen.value, slope, there))
            if search.best.length == 0:
                break
            # 4. Update.
            here = search.best.point
            expected = yield from direction.arrive(here, search.best.length)
            convergence.arrive(here, expected, direction.exact_step)
            convergence.iterated()
        direction = None if convergence.finished else next(directions, None)
    if not convergence.finished:
        convergence.stall()
    return convergence.solution("+".join(dict.fromkeys(names)))


# Damping is reduced where it accounts for more than this part of the expected decrease.
_DAMPED = 0.01
# Where it cannot be reduced, directions may exist whose curvature is this many times
# smaller: the decrease along them is as many times larger than it seems.
_UNRESOLVED = 1e4


class Direction:
    """A way to find steps; `begin` and `arrive` return the expected decrease."""

    #: Whether another direction should go on.
    is_spent = False
    #: Newton's step from the last point, where the whole Hessian is known.
    exact_step = None

    def view(self, point):
        """What the line search lowers: the objective at a point."""
        return point


class CholeskyDirection(Direction):
    """Newton's step from the whole Hessian, by its Cholesky factor.

    On little data calls of functions take longer than what they compute, and a Hessian
    that is written out takes fewer of them than its products with vectors.
    """

    name = "newton-cholesky"

    def __init__(self, description, is_penalised):
        # Damping is added to the diagonal, in units of the largest curvature, to make
        # the Hessian positive definite. Where there is no curvature, a step is the
        # rounding error of the gradient divided by the damping.
        self._least = float(np.finfo(description.dtype).eps)
        self._most = self._least ** (0.83 if is_penalised else 0.6)
        self._damping, self._rounding = self._most, self._least

    def begin(self, here):
        """Find the first step; returns where from, and the expected decrease."""
        return here, (yield from self.arrive(here, 0.0))

    def arrive(self, here, length):
        """Find the next step."""
        hessian = yield HessianAt(here)
        step, decrease = self._solve(hessian, here.gradient)
        self.is_spent, self.exact_step = step is None, step
        return decrease

    def _solve(self, hessian, gradient):
        """Newton's step and its expected decrease; None and NaN if there is no factor.

        Along directions whose curvature is less than the damping, the step is too short
        and the expected decrease too small. So the damping is reduced where it
        accounts for a part of the decrease that is more than a rounding error.
        """
        diagonal = hessian.reshape(-1)[:: len(hessian) + 1]
        curvature, unit = diagonal.copy(), float(diagonal.max(initial=0))
        while True:
            diagonal[:] = curvature + self._damping * unit
            # Symmetric: its transpose is in the order that LAPACK asks for.
            _, step, failed = dposv(hessian.T, -gradient)
            if failed and self._damping < self._most:
                self._least = self._damping = 100 * self._damping
                continue
            if failed:
                return None, math.nan
            decrease = -float(gradient @ step) / 2
            damped = self._damping * unit * float(step @ step) / 2
            if damped <= max(_DAMPED * decrease, self._rounding):
                return step, decrease
            if self._damping <= self._least:
                return step, decrease + _UNRESOLVED * damped
            self._damping = max(self._damping / 100, self._least)

    def step(self, here):
        """The step that was found."""
        return self.exact_step


class CGDirection(Direction):
    """Newton's step by preconditioned conjugate gradients.

    The forcing term falls, so that the last steps converge superlinearly.
    """

    name = "newton-cg"

    def __init__(self, plan, preconditioner, most_products=math.inf):
        self._plan, self._preconditioner = plan, preconditioner
        self._products_left = most_products
        self._least = deque(maxlen=10)
        self._known = None

    def begin(self, here):
        """Fit the preconditioner; nothing is known of the decrease yet."""
        self._preconditioner.begin(self.view(here).linearization)
        self._known = None
        return here, math.nan
        yield  # Never reached: a generator that asks for nothing.

    def step(self, here):
        """Newton's step, roughly."""
        here = self.view(here)
        if self._preconditioner.is_stale:
            self._preconditioner.renew(here.linearization)
            self._known = None
        conjugate, squares = self._descent(here.gradient)
        square = float(squares.sum())

        def product(direction):
            direction = direction.astype(self._plan.precision, copy=False)
            return here.linearization.hessian_product(direction)

        self._model = conjugate_gradients(
            product,
            here.gradient,
            self._preconditioner,
            forcing_term=min(0.3, square**0.25),
            n_groups=self._plan.n_groups,
            n_kept=self._plan.n_recycled,
            descent=(conjugate, squares),
        )
        return self._model.step

    def arrive(self, here, length):
        """Learn from a step, of which the least curvature gives the decrease."""
        self._learn()
        self.is_spent = self._products_left <= 0
        if length < 1:
            # A step that was shortened tells little of small curvatures.
            return math.nan
        square = float(self._descent(here.gradient)[1].sum())
        return expected_decrease(square, min(self._least))
        yield  # As in `begin`.

    def _learn(self):
        model = self._model
        self._least.append(model.least_curvature)
        self._preconditioner.used(model.n_products, model.kept)
        self._known = None
        self._products_left -= model.n_products

    def _descent(self, gradient):
        """B gradient and ⟨gradient, B gradient⟩ of each group, computed once."""
        if self._known is None or self._known[0] is not gradient:
            groups = gradient.reshape(self._plan.n_groups, -1)
            self._known = gradient, self._preconditioner.times(groups)
        return self._known[1]
