"""The loop of all solvers but SciPy's."""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter

from ._state import Iteration, Solution, Stage


def minimize(problem, solvers, criteria, start, callback=None, state=None):
    """Minimise a problem; when one solver is spent the next one continues.

    ``callback(n_iter, parameters, value, gradient_norm, last)`` is called after every
    iteration; no other iteration follows the `last`. A true result stops the solver.
    `state` is that of the first solver at the start, if it is known.
    """
    record = Record(problem, criteria, callback)
    solvers = iter(solvers)
    solver = next(solvers)
    names = [solver.name]
    if state is None:
        state = solver.init(problem, problem.at(start))
    record.add(state)
    while not record.is_over:
        before = state.point
        if not state.is_spent:
            state = solver.step(problem, state)
        if state.is_spent:
            following = next(solvers, None)
            if following is not None:
                solver = following
                names.append(solver.name)
                point, state = state.point, None  # Free the memory of the last solver.
                state = solver.init(problem, point)
            elif state.point is before:
                state = replace(state, is_stalled=True)
        if state.point is not before:
            record.add(state)
        elif state.is_stalled:
            record.stall(state)
    return record.solution("+".join(dict.fromkeys(names)))


class Record:
    """The history of a solver, and the verdict on its last point."""

    def __init__(self, problem, criteria, callback=None):
        self._problem, self._criteria, self._callback = problem, criteria, callback
        self._passes, self._begun = problem.passes, perf_counter()
        self._traffic = problem.traffic
        self._state, self._verdict, self._stopped = None, None, False
        #: A row for the start and each iteration.
        self.history: list[Iteration] = []
        #: Whether the solver should stop.
        self.is_over = False

    @property
    def may_resume(self):
        """Whether another solver may continue, because the point is not accepted."""
        is_over = self._stopped or len(self.history) > self._criteria.max_iter
        return not (is_over or self._verdict.converged)

    def add(self, state):
        """Check and report the point after an iteration, or at the start."""
        verdict = self._criteria.check(self._problem, state, self.history)
        # A start that is accepted is the result itself.
        if self.history and verdict.converged and verdict.after_step is not None:
            state, verdict = with_last_step(state, verdict)
        self._state, self._verdict, self.is_over = state, verdict, verdict.is_last
        n_iter, norm = len(self.history), verdict.gradient_norm
        round_trips, n_bytes = self._problem.traffic
        value = state.point.value if state.stage is Stage.FINAL else state.stage_value
        self.history.append(
            Iteration(
                iteration=n_iter,
                objective=value,
                gradient_norm=norm,
                duality_gap=verdict.duality_gap,
                passes=self._problem.passes - self._passes,
                seconds=perf_counter() - self._begun,
                round_trips=round_trips - self._traffic[0],
                bytes=n_bytes - self._traffic[1],
                stage=state.stage,
            )
        )
        if n_iter and self._callback is not None:
            point = state.point
            stop = self._callback(
                n_iter, point.parameters, point.value, norm, verdict.is_last
            )
            self._stopped = bool(stop)
            self.is_over = self.is_over or self._stopped

    def stall(self, state):
        """Check the last point again, after no step has lowered the objective."""
        verdict = self._criteria.check(self._problem, state, self.history[:-1])
        self._verdict, self.is_over = verdict, self._stopped or verdict.is_last

    def solution(self, solver):
        """The :class:`Solution` at the last point."""
        point, verdict = self._state.point, self._verdict
        is_unbounded = verdict.converged and self._problem.is_unbounded(point)
        converged = verdict.converged and not is_unbounded
        message, remedies = "all criteria are met", ()
        if not converged:
            from ._reasons import why_it_ended  # Imported when used.

            message, remedies = why_it_ended(
                verdict,
                point.value,
                is_unbounded=is_unbounded,
                was_stopped=self._stopped,
                max_iter=self._criteria.most_of_all,
            )
        return Solution(
            parameters=point.parameters,
            value=point.value,
            gradient=point.gradient,
            gradient_norm=verdict.gradient_norm,
            duality_gap=self._duality_gap(),
            n_iter=self.history[-1].iteration,
            converged=converged,
            stopped=self._stopped,
            message=message,
            remedies=remedies,
            solver=solver,
            history=self.history,
            state=self._state,
        )

    def _duality_gap(self):
        """The duality gap at the last point, tightened up to the tolerance."""
        point, gap = self._state.point, self._verdict.duality_gap
        if not self._criteria.reports_gap:
            return gap
        enough = self._criteria.tol * point.value
        if gap <= enough:
            return gap
        if not math.isnan(self._state.duality_gap):
            return self._state.duality_gap
        known = math.inf if math.isnan(gap) else gap
        return self._problem.duality_gap(point, enough, known)


def with_last_step(state, verdict):
    """The state and the verdict after Newton's step, if that is nearer to the minimum.

    The point there is evaluated already, for the duality gap. Near the minimum the step
    squares the error.
    """
    point, after = state.point, verdict.after_step
    decrease, norm = point.value - after.value, float(abs(after.gradient).max())
    if decrease < 0 or norm > verdict.gradient_norm:
        return state, verdict
    gap = max(verdict.duality_gap - decrease, 0.0)
    verdict = verdict._replace(gradient_norm=norm, duality_gap=gap)
    return replace(state, point=after, newton_step=None), verdict
