"""The last point of a solver, and the criteria to stop there."""

import math
from collections import deque
from time import perf_counter

import numpy as np

from ._solution import Solution

# Criterion 3: a duality gap is loose, and may exceed the expected decrease: up to this
# part of the objective.
_LOOSE_GAP = 0.05
# Criterion 4: iterations that are looked back on, where the expected decrease alone is
# not to be trusted.
_LATELY = 3
# So many iterations that together lower the objective by no more than rounding, and do
# not halve the gradient, show that no more progress is possible.
_PATIENCE = 10
# A sum over rows loses this many times the precision of a number.
_LOST = 10


class Convergence:
    """The last point of a solver on one problem, and the criteria to stop there.

    With f the objective, f₀ its value at zero parameters and ε the precision of the
    data, a point is taken for the minimum where

    1. no entry of the gradient is larger than tol,

    and, if raw predictions are linear in the parameters,

    2. it is expected to fall by at most tol (f + tol f₀) + ε, if it is convex, by the
       quadratic model of the next step or by the least curvature along the last steps,
       and, where the duality gap does not vanish at the minimum, by what up to four
       times the parameters x could gain, -3 ⟨∇f, x⟩, or smaller ones, ⟨∇f, x⟩,
    3. where the duality gap vanishes at the minimum, the gap is at most
       max(5%, tol) f, or min(tol, 10⁻⁴)² f₀ or ε if one of these is larger,
    4. where it does not and the whole Hessian is not known, or where f is at most
       10 tol f₀ (few rows have a loss, and not for long the same), the last three
       iterations, or six if it is not convex, lowered it by no more than 2 allows.

    A solver that no longer makes progress need fulfil only 1 and 3.

    Parameters
    ----------
    objective : Objective
    problem : int
        Which of its problems.
    tol : float
    max_iter : int
    callback : callable, default=None
        ``callback(n_iter, parameters, value, gradient_norm, last)`` after every
        iteration, of which no other follows the `last`; a true result stops the solver.
    certify : bool, default=True
        Whether criterion 3 counts.
    tol_at_start : float, default=None
        Takes the place of `tol` before the first step; None stands for the same.
    """

    def __init__(
        self,
        objective,
        problem,
        *,
        tol,
        max_iter,
        callback=None,
        certify=True,
        tol_at_start=None,
    ):
        self.tol, self.n_iter, self.history = tol, 0, []
        self._tol_at_start = tol if tol_at_start is None else tol_at_start
        self.stalled = self._stopped = False
        self._objective, self._problem = objective, problem
        self._has_certificate = objective.has_certificate
        self._certified = self._has_certificate and certify
        self._eps = float(np.finfo(objective.description.dtype).eps)
        self._max_iter, self._callback = max_iter, callback
        self._values = deque(maxlen=_PATIENCE + 1)
        self._halved_norm, self._n_since_halved = np.inf, 0
        self._passes, self._begun = objective.passes, perf_counter()
        self._traffic = objective.traffic

    def arrive(self, here, expected_decrease, exact_step=None):
        """Take in a point, and the decrease expected from there; NaN if it is unknown.

        `exact_step` is Newton's from there, where the whole Hessian is known.
        """
        self._here = here
        self.parameters, self.value, self.gradient = here[:3]
        self._expected, self._exact_step = expected_decrease, exact_step
        gradient = self.gradient
        self.gradient_norm = float(np.abs(gradient).max())
        self._failed, self._gap = None, math.nan
        if not self.history:
            self._values.append(self.value)
            self._record()

    @property
    def rounding(self):
        """Values that differ by no more may be the same."""
        # The loss of a row is computed from numbers of the order of one.
        return self._eps * (_LOST * abs(self.value) + 1)

    @property
    def allowed_decrease(self):
        """Most that the objective may still be expected to fall: see criterion 2."""
        size, at_zero = abs(self.value), abs(self._objective.value_at_zero)
        return self.tol * (size + self.tol * at_zero) + self._eps

    @property
    def may_resume(self):
        """Whether another solver may go on from the point, which is not accepted."""
        is_over = self._stopped or self.n_iter >= self._max_iter
        return not (is_over or self.converged)

    def resume(self):
        """Let another solver go on from the point."""
        self.stalled, self._failed = False, None
        self._halved_norm, self._n_since_halved = np.inf, 0

    @property
    def converged(self):
        """Whether the point fulfils all criteria."""
        return self.failed_criterion == ""

    @property
    def failed_criterion(self):
        """The first criterion that the point does not fulfil, in words; or ''."""
        if self._failed is None:
            self._failed = next(self._failures(), "")
        return self._failed

    def _failures(self):
        objective, certified = self._objective, self._certified
        tol = self.tol if self.n_iter else self._tol_at_start
        # 1. The gradient.
        norm = self.gradient_norm
        if not norm <= tol:
            yield f"the largest gradient entry is {norm:.3g}, above tol={tol:.3g}"
        within = f"although the largest gradient entry, {norm:.3g}, is within tol"
        if not objective.description.is_linear:
            return
        is_convex = objective.description.is_convex
        size, at_zero = abs(self.value), abs(objective.value_at_zero)
        allowed = tol * size + tol * (tol * at_zero) + self._eps
        # 2. The expected decrease.
        expected = self._expected if is_convex else math.nan
        if is_convex and not self._has_certificate:
            # More than this is not gained by parameters up to four times as large, nor
            # by smaller ones; at the minimum it is nothing.
            expected = np.fmax(
                expected, gain_by_scaling(self.gradient, self.parameters)
            )
        # 4. The last iterations: where they gained much, most may still be ahead.
        step = self._exact_step
        if not (certified or step is not None) or size <= 10 * tol * at_zero:
            lately = _LATELY if is_convex else 2 * _LATELY
            before = self._values[max(len(self._values) - 1 - lately, 0)]
            expected = np.fmax(expected, before - self.value)
        is_small = expected <= allowed or (certified and math.isnan(expected))
        if not (is_small or self.stalled):
            yield (
                f"the objective, {self.value:.6g}, may still fall by about "
                f"{expected:.3g}, more than tol={tol:.3g} allows ({allowed:.3g}), "
                f"{within}"
            )
        # 3. The duality gap.
        if certified:
            enough = max(tol, _LOOSE_GAP) * size
            if math.isnan(self._expected) and not self.stalled:
                enough = min(enough, allowed)
            enough = max(enough, min(tol, 1e-4) ** 2 * at_zero, self._eps)
            here = self.parameters, self.value, self.gradient
            self._gap = objective.duality_gap(self._problem, *here, enough, step=step)
            if not self._gap <= enough:
                yield (
                    f"the duality gap is {self._gap:.3g}, above {enough:.3g}, with the "
                    f"objective at {self.value:.6g}, {within}"
                )

    @property
    def finished(self):
        """Whether there is no reason for another iteration."""
        must_stop = self.stalled or self._stopped or self.n_iter >= self._max_iter
        return must_stop or self.converged

    def stall(self):
        """Note that no step lowers the objective any more."""
        self.stalled, self._failed = True, None

    def iterated(self):
        """Count an iteration, which ended at the point, and tell the callback."""
        self.n_iter += 1
        self._values.append(self.value)
        self._failed = None
        gain = self._values[0] - self._values[-1]
        self._n_since_halved += 1
        if self.gradient_norm <= self._halved_norm / 2:
            self._halved_norm, self._n_since_halved = self.gradient_norm, 0
        if self._n_since_halved > _PATIENCE and gain <= _LOST * self._eps * self.value:
            self.stall()
        finished = self.finished
        self._record()
        if self._callback is not None:
            news = self.parameters, self.value, self.gradient_norm, finished
            self._stopped = bool(self._callback(self.n_iter, *news))

    def _record(self):
        cost = self._objective.passes - self._passes, perf_counter() - self._begun
        now = self._objective.traffic
        cost += tuple(new - old for new, old in zip(now, self._traffic, strict=True))
        row = self.n_iter, self.value, self.gradient_norm, self._gap, *cost
        self.history.append(row)

    def solution(self, solver):
        """The :class:`Solution` at the point."""
        failed, remedies = self.failed_criterion, ("max_iter", "tol", "penalty")
        converged = not failed
        if converged and self._objective.is_unbounded(self.parameters, self.value):
            converged, remedies = False, ("penalty",)
            message = (
                "no optimum exists, because rows or classes can be told apart without "
                "an error and nothing keeps the coefficients from growing"
            )
        elif converged:
            message = "all criteria are met"
        elif self._stopped:
            message = "stopped by a callback"
        elif self.stalled:
            message = f"no step lowers the objective in this precision, but {failed}"
            remedies = ("tol", "penalty")
        else:
            message = f"after max_iter={self._max_iter} iterations {failed}"
        here = self.parameters, self.value, self.gradient, self.gradient_norm
        why = converged, self._stopped, message, remedies
        return Solution(*here, self.n_iter, *why, solver, self.history, self._here)


def gain_by_scaling(gradient, parameters):
    """Most that parameters up to four times as large can gain, or smaller ones."""
    slope = float(gradient @ parameters)
    return max(-3 * slope, slope)


def expected_decrease(square, curvature):
    """By how much a function with this squared gradient and curvature can fall.

    NaN, which is unknown, where there is a gradient and no curvature.
    """
    if square == 0:
        return 0.0
    return square / (2 * curvature) if curvature > 0 else math.nan
