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
    solver : str
        A name of ``SOLVERS``; "auto" stands for the one that :func:`method_for`
        chooses. ValueError is raised if the problem does not suit it.
    callback : callable, default=None
        As for :func:`minimize`.
    resume : (State, float), default=None
        State at the start under another penalty, and the factor from that penalty to
        this one. Newton's methods resume from it without an evaluation of the rows.
    tuning : Tuning
    **limits
        `tol`, `max_iter` and others, as for :class:`Criteria`.

    Returns
    -------
    solution : Solution
    """
    description = problem.description
    if description.is_separable:
        groups = groups_of_outputs(description, tuning, solver)
        if len(groups) > 1:
            solve_group = partial(solve, solver=solver, tuning=tuning, **limits)
            return minimize_groups(problem, groups, solve_group, start, callback)
    criteria = Criteria(tuning=tuning, **limits)
    if solver == "newton-cholesky":
        check_hessian(description)
    if description.has_shrinkage:
        return _minimize_composite(problem, start, solver, criteria, callback, resume)
    if solver == "newton-cholesky" or (
        solver == "auto" and suits_whole_hessian(description, tuning)
    ):
        by_hessian = NewtonCholesky(tuning)
        state = None if resume is None else by_hessian.resume(problem, *resume)

        def solvers():
            yield by_hessian
            # If most rows have no curvature, its step is too long for a line search.
            yield NewtonCG(plan(description, tuning), tuning=tuning)

        return minimize(problem, solvers(), criteria, start, callback, state)
    chosen = plan(description, tuning)
    method = method_for(description, tuning) if solver == "auto" else solver
    # Solvers are imported when used: their imports take milliseconds.
    if method == "lbfgs":
        from .lbfgs import minimize_lbfgs

        return minimize_lbfgs(problem, chosen, criteria, start, callback)
    if chosen.by_output and problem.has_penalty:
        from .by_output import NewtonByOutput

        by_output = NewtonByOutput(chosen, criteria, tuning)
        state = by_output.begin(problem, start)
        return minimize(problem, [by_output], criteria, start, callback, state)
    return minimize_by_products(
        problem,
        start,
        chosen,
        criteria,
        callback=callback,
        may_split=solver == "auto",
        resume=resume,
    )


def _minimize_composite(problem, start, solver, criteria, callback, resume):
    """Minimise a problem with a penalty that makes parameters zero."""
    from .proximal import ProximalNewton  # Imported when used.

    description, method = problem.description, solver
    has_hessian = description.is_convex and not description.has_kinks
    has_products = has_hessian and description.has_bounded_hessian
    if (solver == "auto" and not has_hessian) or (
        solver == "newton-cg" and not has_products
    ):
        method = "lbfgs"
    proximal = ProximalNewton(criteria, method, criteria.tuning)
    state = None
    if resume is not None:
        last, _ = resume
        state = proximal.resume(problem, last)
    return minimize(problem, [proximal], criteria, start, callback, state)
