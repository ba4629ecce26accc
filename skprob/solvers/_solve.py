"""The minimum of a problem by the solver of a name, and of problems in turn."""

import math
from functools import partial

import numpy as np

from .._utils.blas import serial_blas
from .._utils.tuning import Tuning
from ._criteria import Criteria
from ._groups import groups_of_outputs, minimize_groups
from ._method import check_hessian, method_for
from ._minimize import minimize, total_of
from ._newton_cholesky import NewtonCholesky
from ._plan import plan
from ._state import Stage
from .newton import NewtonCG, minimize_by_products


@serial_blas
@np.errstate(over="ignore")
def solve(
    problem,
    start,
    *,
    solver="auto",
    callback=None,
    resume=None,
    tuning=Tuning(),
    **limits,
):
    """Minimise a problem by a named solver.

    Parameters
    ----------
    problem : Problem
    start : ndarray of shape (n_parameters,)
    solver : {"auto", "lbfgs", "newton-cg", "newton-cholesky"}
        "auto" stands for the one that :func:`method_for` chooses.
    callback : callable, default=None
        As for :func:`minimize`.
    resume : (State, float), default=None
        State at the start under another penalty, and what that penalty is multiplied
        by: conjugate gradients resume from there without a pass.
    tuning : Tuning
    **limits
        `tol`, `max_iter` and others, as for :class:`Criteria`.

    Returns
    -------
    solution : Solution

    Raises
    ------
    ValueError
        If the problem does not suit the solver.
    """
    description = problem.description
    groups = _groups_of(description, solver, tuning)
    if len(groups) > 1:
        solve_group = partial(solve, solver=solver, tuning=tuning, **limits)
        return minimize_groups(problem, groups, solve_group, start, callback)
    criteria = Criteria(tuning=tuning, **limits)
    if solver == "newton-cholesky":
        check_hessian(description)
    if description.has_shrinkage:
        return _minimize_composite(problem, start, solver, criteria, callback)
    method = method_for(description, tuning) if solver == "auto" else solver
    if method == "newton-cholesky":

        def solvers():
            yield NewtonCholesky(tuning)
            # Where most rows have no curvature its step is too long for a line search.
            yield NewtonCG(plan(description, tuning), tuning=tuning)

        return minimize(problem, solvers(), criteria, start, callback)
    chosen = plan(description, tuning)
    if method == "lbfgs":
        from .lbfgs import minimize_lbfgs  # Imported when used.

        return minimize_lbfgs(problem, chosen, criteria, start, callback)
    if chosen.by_output and problem.has_penalty:
        # Imported when used: the import takes milliseconds.
        from .by_output import NewtonByOutput

        solver = NewtonByOutput(chosen, criteria, tuning)
        state = solver.begin(problem, start)
        return minimize(
            problem, [solver], criteria, start, callback=callback, state=state
        )
    return minimize_by_products(
        problem,
        start,
        chosen,
        criteria,
        callback=callback,
        may_split=solver == "auto",
        resume=resume,
    )


def _groups_of(description, solver, tuning):
    """Slices of the outputs that the named solver minimises one after another."""
    if description.is_separable and solver in ("auto", "newton-cg"):
        return groups_of_outputs(description, tuning)
    return [slice(0, description.shape[0])]


def _minimize_composite(problem, start, solver, criteria, callback):
    """Minimise a problem with a penalty that makes parameters zero."""
    # Imported when used: the import takes milliseconds.
    from .proximal import ProximalNewton

    description, method = problem.description, solver
    is_smooth = description.is_convex and description.has_bounded_hessian
    if solver != "newton-cholesky" and (not is_smooth or description.has_kinks):
        method = "lbfgs"
    first = ProximalNewton(criteria, method, criteria.tuning)
    return minimize(problem, [first], criteria, start, callback)


def solve_in_turn(
    problems,
    start,
    *,
    max_iter,
    solver="auto",
    stage=Stage.EASIER_LOSS,
    progress=None,
    n_before=0,
    tuning=Tuning(),
    **options,
):
    """Minimise problems one after the other, each from where the last one ended.

    Parameters
    ----------
    problems : list of Problem
        The minimum of each is a good start for the next.
    start : ndarray of shape (n_parameters,)
    max_iter : int
        Largest number of iterations of all problems together; with groups of outputs,
        of each group, on average.
    stage : Stage
        That of all but the last problem, for the history.
    progress : callable, default=None
        The callback of the problems, with iterations numbered over all of them.
        ``progress.begin(parameters)`` is called before the first iteration of each, and
        ``progress.end()`` after its last.
    n_before : int, default=0
        The number of iterations that were reported before. They do not count towards
        `max_iter`.
    solver, tuning, **options
        As for :func:`solve`.

    Returns
    -------
    solution : Solution
        Of the last problem, or of the one that a callback stopped at; ``n_iter`` and
        ``history`` are those of all.
    """
    parameters, history = start, []
    callback, n_spent = None, 0
    options |= {"solver": solver, "max_iter": max_iter, "tuning": tuning}
    for problem in problems:
        if progress is not None:
            progress.begin(parameters)
            n_reported = history[-1].iteration if history else 0
            callback = _numbered_from(n_before + n_reported, progress)
        solution = solve(
            problem, parameters, callback=callback, n_before=n_spent, **options
        )
        if progress is not None:
            progress.end()
        n_groups = len(_groups_of(problem.description, solver, tuning))
        n_spent += math.ceil(solution.n_iter / n_groups)
        parameters = solution.parameters
        history = total_of(history, solution.history, stage)
        if solution.stopped:
            break
    # The state of the rows takes memory.
    return solution._replace(n_iter=history[-1].iteration, history=history, state=None)


def most_iterations(problems, solver, max_iter, tuning=Tuning()):
    """Largest number of iterations of problems in turn, unfinished ones included.

    A problem whose solver ends within an iteration has an unfinished one.
    """
    n_groups = [len(_groups_of(each.description, solver, tuning)) for each in problems]
    return max(n_groups) * max(max_iter, 1) + len(problems) - 1


def _numbered_from(n_before, callback):
    """The callback with iterations numbered from others that came before."""
    return lambda n_iter, *point: callback(n_before + n_iter, *point)
