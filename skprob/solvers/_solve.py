"""Minimisation of a problem by a named solver."""

from functools import partial

import numpy as np

from .._utils.blas import serial_blas
from .._utils.tuning import Tuning
from ._criteria import Criteria
from ._groups import groups_of_outputs, minimize_groups
from ._minimize import minimize
from ._newton_cholesky import NewtonCholesky, check_hessian, suits_whole_hessian
from ._plan import plan
from .newton import NewtonCG


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
    takes_hessian = solver == "newton-cholesky"
    if takes_hessian:
        check_hessian(description)
    elif solver == "auto":
        takes_hessian = suits_whole_hessian(description, tuning)
    if description.has_shrinkage or not takes_hessian:
        from ._other_solvers import minimize_otherwise  # Imported when used.

        return minimize_otherwise(problem, start, solver, criteria, callback, resume)

    def solvers():
        yield NewtonCholesky(tuning)
        # If most rows have no curvature, its step is too long for a line search.
        yield NewtonCG(plan(description, tuning), tuning=tuning)

    state = None
    if resume is not None:
        state = NewtonCholesky(tuning).resume(problem, *resume)
    return minimize(problem, solvers(), criteria, start, callback, state)
