"""The minimum of a problem by the solver of a name, and of problems in turn."""

import numpy as np

from .._utils.blas import serial_blas
from ._criteria import Criteria
from ._groups import groups_of_outputs, minimize_groups
from ._method import check_hessian, method_for
from ._minimize import minimize, total_of
from ._plan import plan
from ._tuning import Tuning
from .newton import NewtonCG, NewtonCholesky, minimize_by_products


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
    **criteria,
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
    **criteria
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
    if description.is_separable and solver in ("auto", "newton-cg"):
        groups = groups_of_outputs(description, tuning)
        if len(groups) > 1:

            def solve_group(group, start, callback):
                options = {"solver": solver, "tuning": tuning, **criteria}
                return solve(group, start, callback=callback, **options)

            return minimize_groups(problem, groups, solve_group, start, callback)
    criteria = Criteria(tuning=tuning, **criteria)
    if solver == "newton-cholesky":
        check_hessian(description)
    if description.has_shrinkage:
        return _minimize_composite(problem, start, solver, criteria, callback, tuning)
    method = method_for(description, tuning) if solver == "auto" else solver
    if method == "newton-cholesky":

        def solvers():
            yield NewtonCholesky(tuning)
            # Where most rows have no curvature its step is too long for a line search.
            yield NewtonCG(plan(description, tuning), tuning=tuning)

        return minimize(problem, solvers(), criteria, start, callback)
    chosen = plan(description, tuning)
    if method == "lbfgs":
        from ._lbfgs import minimize_lbfgs  # Imported when used.

        return minimize_lbfgs(problem, chosen, criteria, start, callback, tuning)
    if chosen.by_output and problem.has_penalty:
        # Imported when used: the import takes milliseconds.
        from .by_output import NewtonByOutput

        solver = NewtonByOutput(chosen, criteria, tuning)
        state = solver.begin(problem, start)
        return minimize(problem, [solver], criteria, start, callback, state)
    may_split = solver == "auto"
    return minimize_by_products(
        problem, start, chosen, criteria, callback, may_split, resume, tuning
    )


def _minimize_composite(problem, start, solver, criteria, callback, tuning):
    """Minimise a problem with a penalty that makes parameters zero."""
    # Imported when used: the import takes milliseconds.
    from .proximal import ProximalNewton

    description, method = problem.description, solver
    is_smooth = description.is_convex and description.has_bounded_hessian
    if solver != "newton-cholesky" and (not is_smooth or description.has_kinks):
        method = "lbfgs"
    first = ProximalNewton(criteria, method, tuning)
    return minimize(problem, [first], criteria, start, callback)


def solve_in_turn(problems, start, *, stage="easier loss", progress=None, **options):
    """Minimise problems one after the other, each from where the last one ended.

    Parameters
    ----------
    problems : list of Problem
        The minimum of each is a good start for the next.
    start : ndarray of shape (n_parameters,)
    stage : {"easier loss", "stronger penalty"}
        What all but the last problem have, for the history.
    progress : callable, default=None
        The callback of each problem. ``progress.begin(parameters)`` is called before
        its first iteration, and ``progress.end()`` after its last.
    **options
        As for :func:`solve`; ``max_iter`` is that of each problem.

    Returns
    -------
    solution : Solution
        Of the last problem, or of the one that a callback stopped at; ``n_iter`` and
        ``history`` are those of all.
    """
    parameters, history = start, []
    for problem in problems:
        if progress is not None:
            progress.begin(parameters)
        solution = solve(problem, parameters, callback=progress, **options)
        if progress is not None:
            progress.end()
        parameters = solution.parameters
        history = total_of(history, solution.history, stage)
        if solution.stopped:
            break
    # The state of the rows takes memory.
    return solution._replace(n_iter=history[-1].iteration, history=history, state=None)
