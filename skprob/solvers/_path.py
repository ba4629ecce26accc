"""Solutions under several penalties, each started from the one before."""

from typing import NamedTuple

import numpy as np

from .._utils.blas import serial_blas
from .._utils.tuning import Tuning
from ._plan import method_for
from ._problem import Point
from ._solve import solve
from .newton import minimize_family


class PathSolution(NamedTuple):
    """The solution under one penalty."""

    parameters: np.ndarray
    converged: bool
    #: Number of iterations of the fit, without those of a fit that was repeated.
    n_iter: int
    #: The point of the solution; None if several penalties were solved together.
    point: Point | None = None


def minimize_path(
    problem, strengths, starts, *, solver, tol, max_iter, tuning=Tuning()
):
    """Minimise under several penalties; yields a ``PathSolution`` for each.

    Each fit starts from the solution under the last penalty, where the gradient is only
    the change of the penalty's gradient. On little data all are solved together, each
    from its own start.

    Parameters
    ----------
    problem : LinearProblem
    strengths : ndarray of shape (n_penalties,)
        Strengths, from the strongest penalty to the weakest.
    starts : list of ndarray of shape (n_parameters,)
        Solutions of a similar problem, one for each penalty; may be empty.
    solver : str
        As for :func:`solve`.
    tol, max_iter
        As for :class:`Criteria`.
    tuning : Tuning
    """
    limits = {"solver": solver, "tol": tol, "max_iter": max_iter, "tuning": tuning}
    planned = method_for(problem.description, tuning)
    may_be_together = (
        solver != "lbfgs" and planned == "newton-cholesky" and tuning.family_rounds > 0
    )
    method = planned if solver == "auto" else solver
    # With the whole Hessian the expected decrease needs no duality gap.
    warm = {
        "tol_at_start": tuning.tol_at_start * tol,
        "duality_gap": "unused" if method == "newton-cholesky" else "checked",
    }
    starts = list(starts) or [problem.initial()] * len(strengths)
    together = {}
    if may_be_together:
        together = _solved_together(
            problem,
            strengths,
            starts,
            tol=tol,
            tol_at_start=warm["tol_at_start"],
            max_iter=max_iter,
            tuning=tuning,
        )
    start, resume = starts[0], None
    for i, strength in enumerate(strengths):
        if i in together:
            start, n_iter = together[i]
            yield PathSolution(start, True, n_iter)
            continue
        problem = problem.with_l2(strength)
        has_shrinkage = problem.description.has_shrinkage
        solution = solve(problem, start, **limits, **warm, resume=resume)
        # A fit that used all its iterations is slow, and its start is not the cause.
        is_slow = has_shrinkage and solution.n_iter >= max_iter
        if not solution.converged and start.any() and not is_slow:
            cold = solve(problem, problem.initial(), **limits)
            if cold.converged or cold.value < solution.value:
                solution = cold
        start, resume = solution.parameters, None
        has_next = i + 1 < len(strengths) and strength > 0
        # Without a penalty the next problem is not a composite one.
        if has_next and not (has_shrinkage and strengths[i + 1] == 0):
            resume = solution.state, strengths[i + 1] / strength
        point = solution.state.point if solution.state is not None else None
        yield PathSolution(start, solution.converged, solution.n_iter, point)


@serial_blas
def _solved_together(problem, strengths, starts, tol, tol_at_start, max_iter, tuning):
    """Parameters and iterations by number, for the problems that have converged."""
    if problem.family(strengths) is None or not np.all(strengths > 0):
        return {}
    limits = {"tol": tol, "tol_at_start": tol_at_start, "max_iter": max_iter}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            parameters, n_iter = minimize_family(
                problem, strengths, np.array(starts), tuning=tuning, **limits
            )
        except np.linalg.LinAlgError:  # A Hessian without an inverse.
            return {}
    pairs = zip(parameters, n_iter.tolist(), strict=True)
    return {i: pair for i, pair in enumerate(pairs) if pair[1] >= 0}
