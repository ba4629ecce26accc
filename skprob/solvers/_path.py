"""Solutions under several penalties, each started from the one before."""

from typing import NamedTuple

import numpy as np

from ._auto import solve
from ._plan import plan
from ._tuning import Tuning


class PathSolution(NamedTuple):
    """Where the solver stopped under one penalty."""

    parameters: np.ndarray
    converged: bool
    #: Of the fit that ended there, and not of one that was given up.
    n_iter: int


def minimize_path(problem, strengths, starts, *, solver, tol, max_iter):
    """Minimise under several penalties; yields a ``PathSolution`` for each.

    Each fit starts from the solution under the penalty before, where the gradient is
    only the change of the penalty.

    Parameters
    ----------
    problem : LinearObjective
    strengths : ndarray of shape (n_penalties,)
        From the strongest penalty to the weakest.
    starts : list of ndarray of shape (n_parameters,)
        Solutions of a similar problem, one for each penalty; may be empty.
    solver : str
        As for :func:`solve`.
    tol, max_iter
        As for :class:`Criteria`.
    """
    tuning = Tuning()
    limits = {"solver": solver, "tol": tol, "max_iter": max_iter}
    method = plan(problem.description).method if solver == "auto" else solver
    has_hessian = method == "newton-cholesky"
    start = problem.initial()
    for i, strength in enumerate(strengths):
        problem = problem.with_l2(strength)
        if starts and (has_hessian or i == 0):
            start = starts[i]
        solution = solve(
            problem,
            start,
            **limits,
            tol_at_start=tuning.tol_at_start * tol,
            # The decrease that the whole Hessian gives needs no certificate.
            certify=not has_hessian,
            shortens_far_starts=bool(starts),
        )
        if not solution.converged and start.any():
            cold = solve(problem, problem.initial(), **limits)
            if cold.converged or cold.value < solution.value:
                solution = cold
        start = solution.parameters
        yield PathSolution(solution.parameters, solution.converged, solution.n_iter)
