"""Minimisation of a problem by a named solver."""

from functools import partial

import numpy as np

from .._utils.blas import serial_blas
from .._utils.tuning import Tuning
from ._criteria import Criteria
from ._groups import groups_of_outputs, minimize_groups
from ._minimize import minimize
from ._newton_cholesky import NewtonCholesky, check_hessian, suits_whole_hessian
from ._plan import method_for, plan
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
        "auto" stands for the solver that :func:`method_for` chooses.
    callback : callable, default=None
        As for :func:`minimize`.
    resume : (State, float), default=None
        State at the start under another penalty, and the factor of that penalty.
        Newton's methods resume from it without an evaluation of the rows.
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
    groups = groups_of(description, solver, tuning)
    if len(groups) > 1:
        solve_group = partial(solve, solver=solver, tuning=tuning, **limits)
        return minimize_groups(problem, groups, solve_group, start, callback)
    criteria = Criteria(tuning=tuning, **limits)
    if solver == "newton-cholesky":
        check_hessian(description)
    if description.has_shrinkage:
        return _minimize_composite(problem, start, solver, criteria, callback)
    if solver == "auto" and suits_whole_hessian(description, tuning):
        solver = "newton-cholesky"
    if solver == "newton-cholesky":

        def solvers():
            yield NewtonCholesky(tuning)
            # If most rows have no curvature, its step is too long for a line search.
            yield NewtonCG(plan(description, tuning), tuning=tuning)

        state = None
        if resume is not None:
            last, factor = resume
            point = last.point.with_penalty_times(factor)
            state = NewtonCholesky(tuning).init(problem, point)
        return minimize(problem, solvers(), criteria, start, callback, state)
    return _minimize_by_plan(problem, start, solver, criteria, callback, resume)


def groups_of(description, solver, tuning):
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


def _minimize_by_plan(problem, start, solver, criteria, callback, resume):
    """Minimise a problem with the settings of a plan, without the whole Hessian."""
    description, tuning = problem.description, criteria.tuning
    chosen = plan(description, tuning)
    method = method_for(description, tuning) if solver == "auto" else solver
    if method == "lbfgs":
        from .lbfgs import minimize_lbfgs  # Imported when used.

        return minimize_lbfgs(problem, chosen, criteria, start, callback)
    if chosen.by_output and problem.has_penalty:
        # Imported when used: the import takes milliseconds.
        from .by_output import NewtonByOutput

        by_output = NewtonByOutput(chosen, criteria, tuning)
        state = by_output.begin(problem, start)
        return minimize(
            problem, [by_output], criteria, start, callback=callback, state=state
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
