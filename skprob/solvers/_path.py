"""Solutions under several penalties, each started from the one before."""

from typing import NamedTuple

import numpy as np

from .._utils.blas import serial_blas
from ._auto import solve
from ._plan import plan
from ._tuning import Tuning
from .newton import minimize_family


class PathSolution(NamedTuple):
    """Where the solver stopped under one penalty."""

    parameters: np.ndarray
    converged: bool
    #: Iterations of the fit that ended there; a fit that was given up does not count.
    n_iter: int


def minimize_path(problem, strengths, starts, *, solver, tol, max_iter):
    """Minimise under several penalties; yields a ``PathSolution`` for each.

    Each fit starts from the solution under the penalty before, where the gradient is
    only the change of the penalty. On little data all are solved together, each from
    its own start.

    Parameters
    ----------
    problem : LinearProblem
    strengths : ndarray of shape (n_penalties,)
        From the strongest penalty to the weakest.
    starts : list of ndarray of shape (n_parameters,)
        Solutions of a similar problem, one for each penalty; may be empty.
    solver : str
        As for :func:`solve`.
    tol, max_iter
        As for :class:`Criteria`.
    """
    tuning, limits = Tuning(), {"solver": solver, "tol": tol, "max_iter": max_iter}
    planned = plan(problem.description).method
    is_little = solver != "lbfgs" and planned == "newton-cholesky"
    method = planned if solver == "auto" else solver
    # The decrease that the whole Hessian gives needs no certificate.
    warm = {
        "tol_at_start": tuning.tol_at_start * tol,
        "certify": method != "newton-cholesky",
    }
    starts = list(starts) or [problem.initial()] * len(strengths)
    together = {}
    if is_little:
        together = _solved_together(
            problem, strengths, starts, tol, warm["tol_at_start"], max_iter
        )
    start, resume = starts[0], None
    for i, strength in enumerate(strengths):
        if i in together:
            start, n_iter = together[i]
            yield PathSolution(start, True, n_iter)
            continue
        problem = problem.with_l2(strength)
        solution = solve(
            problem, start, **limits, **warm, resume=resume, shortens_far_starts=True
        )
        if not solution.converged and start.any():
            cold = solve(problem, problem.initial(), **limits)
            if cold.converged or cold.value < solution.value:
                solution = cold
        start, resume = solution.parameters, None
        if i + 1 < len(strengths) and strength > 0:
            resume = solution.state, strengths[i + 1] / strength
        yield PathSolution(start, solution.converged, solution.n_iter)


@serial_blas
def _solved_together(problem, strengths, starts, tol, tol_at_start, max_iter):
    """Parameters and iterations by number, for the problems that have converged."""
    if problem.family(strengths) is None or not np.all(strengths > 0):
        return {}
    limits = {"tol": tol, "tol_at_start": tol_at_start, "max_iter": max_iter}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            parameters, n_iter = minimize_family(
                problem, strengths, np.array(starts), **limits
            )
        except np.linalg.LinAlgError:  # A Hessian without an inverse.
            return {}
    pairs = zip(parameters, n_iter.tolist(), strict=True)
    return {i: pair for i, pair in enumerate(pairs) if pair[1] >= 0}
