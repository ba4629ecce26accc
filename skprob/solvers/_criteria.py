"""The criteria by which a solver stops."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._utils.arrays import precision
from .._utils.tuning import Tuning
from ._expected_decrease import confirmed_decrease, gain_by_scaling
from ._problem import Point
from ._state import Iteration


class Criterion(NamedTuple):
    """One criterion at a point."""

    number: int
    name: str
    value: float
    limit: float
    is_met: bool


class Verdict(NamedTuple):
    """The criteria at a point."""

    #: In the order in which they were checked, up to the first that is not met.
    rows: tuple[Criterion, ...]
    gradient_norm: float
    duality_gap: float  #: NaN where it was not computed.
    is_stalled: bool  #: Whether no more progress is possible.
    converged: bool  #: Whether the point fulfils all criteria.
    is_last: bool  #: Whether the solver should stop.
    #: The point after Newton's step by the whole Hessian, if the gap evaluated it.
    after_step: Point | None = None


class Criteria:
    """The criteria by which a point is accepted as the minimum.

    With f the objective, f₀ its value at zero parameters and ε the precision of the
    data:

    1. Gradient: no entry is larger than tol.

    If raw predictions are linear in the parameters, also:

    2. Expected decrease: at most tol (f + tol f₀) + ε. If the objective is convex, this
       is the decrease of the quadratic model of the next step, or the one that the
       smallest curvature along the last steps gives. If the duality gap does not vanish
       at the minimum, it is at least the gain of scaling the parameters x: -3 ⟨∇f, x⟩
       for factors up to four, ⟨∇f, x⟩ for factors below one. A whole Hessian then
       confirms it, if it costs little. At a start whose curvature is not known it is f.
    3. Last iterations: the last three, or six if the objective is not convex, lowered
       f by no more than 2 allows. It is checked if neither the duality gap nor the
       whole Hessian is known. It is also checked if f is at most 10 tol f₀ and 1% of
       f₀: then only few rows have a loss, and these change.
    4. Duality gap: at most max(5%, tol) f, or min(tol, 10⁻⁴)² f₀ or ε if one of these
       is larger. It is checked if the gap vanishes at the minimum.

    They are checked in this order up to the first that is not met, because the last one
    takes a pass over the data. For a solver that is stalled only 1 and 4 are checked.

    Parameters
    ----------
    tol : float
    max_iter : int
        Largest number of iterations, including `n_before`.
    n_before : int, default=0
        Iterations of earlier stages of the same fit.
    tol_at_start : float, default=None
        Tolerance before the first step, in place of `tol`; None stands for `tol`.
    duality_gap : {"reported", "checked", "unused"}, default="reported"
        "reported": criterion 4 is used, and the duality gap of the solution is made
        tight, which may take several passes. "checked": criterion 4 is used. "unused":
        no duality gap is computed.
    tuning : Tuning, default=Tuning()
    """

    def __init__(
        self,
        *,
        tol,
        max_iter,
        n_before=0,
        tol_at_start=None,
        duality_gap="reported",
        tuning=Tuning(),
    ):
        self.tol, self.tuning = tol, tuning
        self.tol_at_start = tol if tol_at_start is None else tol_at_start
        #: Largest number of iterations of all stages, and of this one.
        self.most_of_all, self.max_iter = max_iter, max(max_iter - n_before, 0)
        self.uses_gap = duality_gap != "unused"
        self.reports_gap = duality_gap == "reported"

    def of_start(self, tol, max_iter):
        """The criteria of a point that is only a start: no duality gap is computed."""
        return Criteria(
            tol=tol, max_iter=max_iter, duality_gap="unused", tuning=self.tuning
        )

    def check(self, problem, state, history):
        """The :class:`Verdict` on a state, with the iterations before it."""
        norm = float(np.abs(state.point.gradient).max())
        is_stalled = state.is_stalled or self._stagnates(problem, state, norm, history)
        tol = self.tol if history else self.tol_at_start
        row = Criterion(1, "gradient", norm, tol, norm <= tol)
        rows, gap, after_step = [row], math.nan, None
        if row.is_met and problem.description.is_linear:
            has_gap = not math.isnan(state.duality_gap) or problem.has_certificate()
            for row in self._rows_of_decreases(
                problem, state, history, tol, has_gap, is_stalled
            ):
                rows.append(row)
                if not row.is_met:
                    break
            if row.is_met and has_gap and self.uses_gap:
                limit = self._gap_limit(problem, state, tol, is_stalled)
                gap, after_step = self._duality_gap(problem, state, tol, limit)
                row = Criterion(4, "duality gap", gap, limit, gap <= limit)
                rows.append(row)
        is_last = row.is_met or is_stalled or len(history) >= self.max_iter
        return Verdict(
            tuple(rows), norm, gap, is_stalled, row.is_met, is_last, after_step
        )

    def _rows_of_decreases(self, problem, state, history, tol, has_gap, is_stalled):
        """Criteria 2 and 3; each is computed only if those before it are met."""
        limit = allowed_decrease(problem, state.point.value, tol)
        expected = _expected_decrease(problem, state, history, has_gap)
        # A decrease of NaN is unknown, and is not compared.
        is_met = is_stalled or not expected > limit
        yield Criterion(2, "expected decrease", expected, limit, is_met)

        if self._checks_last_iterations(problem, state, tol, has_gap):
            decrease = self._decrease_of_last_iterations(problem, state, history)
            is_met = is_stalled or not decrease > limit
            yield Criterion(3, "last iterations", decrease, limit, is_met)

        if problem.description.is_convex and not (has_gap or is_stalled):
            # A second row of criterion 2, if a whole Hessian shows a larger decrease.
            confirmed = confirmed_decrease(problem, state, self.tuning)
            if confirmed > expected:
                is_met = not confirmed > limit
                yield Criterion(2, "confirmed decrease", confirmed, limit, is_met)

    def _checks_last_iterations(self, problem, state, tol, has_gap):
        """Whether criterion 3 is checked."""
        has_hessian = state.newton_step is not None and state.is_resolved
        if not (has_hessian or (has_gap and self.uses_gap)):
            return True
        # Without the bound 0.01, fits with a large tolerance take more iterations than
        # with a small one: with 0.1, 20 newsgroups takes 1.7 times the passes.
        little = min(10 * tol, 0.01) * abs(problem.value_at_zero)
        return abs(state.point.value) <= little

    def _decrease_of_last_iterations(self, problem, state, history):
        """Decrease of the objective that criterion 3 compares with the limit."""
        if not history:
            return 0.0
        n_last = self.tuning.look_back * (1 if problem.description.is_convex else 2)
        return history[max(len(history) - n_last, 0)].objective - state.point.value

    def _gap_limit(self, problem, state, tol, is_stalled):
        """Largest duality gap that criterion 4 allows.

        Where the expected decrease is not known, the gap stands for it, and is limited
        by the decrease that criterion 2 allows.
        """
        limit = max(tol, self.tuning.loose_gap) * abs(state.point.value)
        is_convex = problem.description.is_convex
        is_known = is_convex and not math.isnan(state.expected_decrease)
        if not (is_known or is_stalled):
            limit = min(limit, allowed_decrease(problem, state.point.value, tol))
        eps = precision(problem.description.dtype)
        at_zero = abs(problem.value_at_zero)
        return max(limit, min(tol, 1e-4) ** 2 * at_zero, eps)

    def _duality_gap(self, problem, state, tol, limit):
        """The duality gap, and the point after Newton's step if that was evaluated."""
        if not math.isnan(state.duality_gap):
            return state.duality_gap, None
        point = state.point
        if state.newton_step is None:
            return problem.duality_gap(point, limit), None
        # Then the gap is tight, and is not computed again for the result.
        enough = min(limit, tol * abs(point.value))
        after_step = None
        if not problem.description.has_shrinkage:
            after_step = problem.at(point.parameters + state.newton_step)
        return problem.duality_gap(point, enough, after=after_step), after_step

    def _stagnates(self, problem, state, norm, history: list[Iteration]):
        """Whether the last iterations lowered neither the objective nor the gradient.

        The objective has fallen by at most its rounding error, and the gradient has not
        been halved.
        """
        if len(history) <= self.tuning.patience:
            return False
        first, *others = history[-self.tuning.patience - 1 :]
        eps = precision(problem.description.dtype)
        gain = first.objective - state.point.value
        if gain > self.tuning.rounding * eps * state.point.value:
            return False
        least = min(norm, *(row.gradient_norm for row in others))
        return least > first.gradient_norm / 2


def _expected_decrease(problem, state, history, has_gap):
    """Decrease that criterion 2 compares with the limit."""
    if not problem.description.is_convex:
        return math.nan
    expected = state.expected_decrease
    if has_gap:
        return expected
    if not history and math.isnan(expected):
        # At a start without a known curvature, the whole value.
        return abs(state.point.value)
    gain = gain_by_scaling(state.point.gradient, state.point.parameters)
    return float(np.fmax(expected, gain))


def allowed_decrease(problem, value, tol):
    """Largest expected decrease that criteria 2 and 3 allow, at a value."""
    eps = precision(problem.description.dtype)
    at_zero = abs(problem.value_at_zero)
    return tol * abs(value) + tol * (tol * at_zero) + eps
