"""Solutions under several penalties, each started from its neighbours'."""

from typing import NamedTuple

import numpy as np

from .._blas import serial_blas
from ._auto import auto
from ._base import Point, run
from ._convergence import Convergence
from ._lbfgs import lbfgs
from ._line_search import MAX_TRIALS
from ._newton import CholeskyDirection, newton
from ._plan import plan
from ._preconditioner import Preconditioner

# A start is accepted as it is if it meets this part of the tolerance, lest a path be
# less accurate than fits from zero: a step goes beyond what is asked for.
_AT_START = 0.05
# A start from which more than this part of the objective is expected to be gained is
# another loss's minimum, too far out for this one: half of it is nearer.
_FAR = 0.1


class PathSolution(NamedTuple):
    """Where the solver stopped under one penalty."""

    parameters: np.ndarray
    converged: bool
    #: Of the fit that ended there, and not of one that was given up.
    n_iter: int


def minimize_path(objective, strengths, starts, *, solver, tol, max_iter):
    """Minimise under several penalties; yields a ``PathSolution`` for each.

    Each fit starts from the solution under the penalty before, where the gradient is
    only the change of the penalty. On little data, where calls of functions are what
    takes time, all are solved side by side, each from its own start.

    Parameters
    ----------
    objective : LinearObjective
    strengths : ndarray of shape (n_penalties,)
        From the strongest penalty to the weakest.
    starts : list of ndarray of shape (n_parameters,)
        Solutions of a similar objective; may be empty.
    solver : str
        "lbfgs", or another name for Newton's method where it is suitable.
    tol, max_iter
        As for :func:`lbfgs`.
    """
    starts = starts or [objective.initial()] * len(strengths)
    found, solve = [None] * len(strengths), lbfgs if solver == "lbfgs" else auto
    limits = {"tol": tol, "max_iter": max_iter}
    criteria = {**limits, "tol_at_start": _AT_START * tol}
    description, chosen = objective.description, plan(objective.description)
    is_small = chosen.method == "newton-cholesky"
    if is_small:
        # The decrease that the whole Hessian gives needs no certificate.
        criteria["certify"] = solver == "lbfgs"
    else:
        chosen = Preconditioner(description, chosen)
        criteria["preconditioner"] = chosen
    if is_small and solver != "lbfgs" and np.all(strengths > 0):
        found = _side_by_side(objective.with_l2(strengths), starts, criteria)
    start = starts[0]
    for l2, solution in zip(strengths, found, strict=True):
        if solution is None or not solution.converged:
            objective = objective.with_l2(l2)
            if isinstance(start, Point):
                start = start.under(objective)
            solution = solve(objective, start, **criteria)
            is_warm = np.any(getattr(start, "parameters", start))
            if is_warm and not solution.converged:
                cold = solve(objective, objective.initial(), **limits)
                if cold.converged or cold.value < solution.value:
                    solution = cold
        # Where it is known, the next fit takes no pass for its start.
        is_known = solution.point.linearization is not None and not is_small
        start = solution.point if is_known else solution.parameters
        yield PathSolution(solution.parameters, solution.converged, solution.n_iter)


@serial_blas
def _side_by_side(objective, starts, criteria):
    """Solutions of all problems of a small objective."""
    solvers = []
    for i, start in enumerate(starts):
        convergence = Convergence(objective, i, **criteria)
        direction = _FromElsewhere(objective.description, is_penalised=True)
        solvers.append(_bounded(newton(start, [direction], convergence)))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return run(objective, solvers)


def _bounded(solver):
    """A solver that gives up, with None, after as many requests as two line searches.

    The solution under the penalty before is nearer then: wine takes 0.8 times as long.
    """
    answer = None
    for _ in range(2 * MAX_TRIALS):
        try:
            answer = yield solver.send(answer)
        except StopIteration as end:
            return end.value
    return None


class _FromElsewhere(CholeskyDirection):
    """Newton's steps from another loss's minimum, taken nearer where it is far out."""

    def begin(self, here):
        here, expected = yield from super().begin(here)
        if expected > _FAR * here.value and here.parameters.any():
            here = yield here.parameters / 2
            here, expected = yield from super().begin(here)
        return here, expected
