"""The solvers by name, and the one that suits a problem."""

import math

import numpy as np

from .._utils.blas import serial_blas
from ._criteria import Criteria
from ._groups import minimize_groups
from ._minimize import minimize
from ._plan import groups_of_outputs, method_for, plan
from ._sample import minimize_from_sample, sample_size
from ._tuning import Tuning
from .newton import NewtonCG, NewtonCGState, NewtonCholesky


@serial_blas
@np.errstate(over="ignore")
def solve(
    problem,
    start,
    *,
    solver="auto",
    callback=None,
    shortens_far_starts=False,
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
        "auto" stands for the one that :func:`plan` chooses.
    callback : callable, default=None
        As for :func:`minimize`.
    shortens_far_starts : bool, default=False
        As for :class:`NewtonCholesky`.
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
    groups = groups_of_outputs(problem.description, tuning)
    if len(groups) > 1 and solver in ("auto", "newton-cg"):

        def solve_group(group, start, callback):
            options = {"solver": solver, "tuning": tuning, **criteria}
            return solve(group, start, callback=callback, **options)

        return minimize_groups(problem, groups, solve_group, start, callback)
    criteria = Criteria(tuning=tuning, **criteria)
    if problem.description.has_shrinkage:
        # Imported when used: the import takes milliseconds.
        from .proximal import ProximalNewton

        description = problem.description
        is_smooth = description.is_convex and description.has_bounded_hessian
        method = solver
        if solver == "newton-cholesky":
            _check_hessian(description)
        elif not is_smooth or description.has_kinks:
            method = "lbfgs"
        first = ProximalNewton(criteria, method, tuning)
        return minimize(problem, [first], criteria, start, callback)
    method = method_for(problem.description, tuning) if solver == "auto" else solver
    if method == "newton-cholesky":
        if solver != "auto":
            _check_hessian(problem.description)

        def solvers():
            yield NewtonCholesky(criteria, shortens_far_starts, tuning)
            # Where most rows have no curvature its step is too long for a line search.
            yield NewtonCG(plan(problem.description, tuning), criteria, tuning=tuning)

        return minimize(problem, solvers(), criteria, start, callback)
    chosen = plan(problem.description, tuning)
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
    return _minimize_by_products(
        problem, start, chosen, criteria, callback, may_split, resume, tuning
    )


def _minimize_by_products(
    problem, start, chosen, criteria, callback, may_split, resume, tuning
):
    """Minimise by Hessian products, from the minimum of a sample of the rows.

    Where products become many, splitting takes its turn if it may. The other arguments
    are those of :func:`solve`, the plan and the criteria.
    """
    solvers, state = [NewtonCG(chosen, criteria, tuning=tuning)], None
    if may_split and chosen.split_after < math.inf and problem.has_penalty:
        # Without a penalty the quadratic problem of a splitting may have no solution.
        from ._splitting import DouglasRachford  # Imported when used.

        first = NewtonCG(chosen, criteria, chosen.split_after, tuning)
        solvers = [first, DouglasRachford(criteria, tuning), *solvers]
    if resume is not None and isinstance(resume[0], NewtonCGState):
        state = solvers[0].resume(problem, *resume)

    def minimize_all(problem, start):
        return minimize(problem, solvers, criteria, start, callback, state)

    n_sampled = 0 if start.any() else sample_size(problem.description, tuning)
    if not n_sampled:
        return minimize_all(problem, start)

    def minimize_sample(sample, start):
        return _minimize_roughly(sample, start, criteria, tuning)

    return minimize_from_sample(
        problem, n_sampled, start, minimize_sample, minimize_all
    )


def _minimize_roughly(problem, start, criteria, tuning):
    """Minimise within a looser tolerance than criteria, without a certificate."""
    tol = max(criteria.tol, tuning.sample_tol)
    looser = Criteria(tol=tol, max_iter=criteria.max_iter, certify=False, tuning=tuning)
    solver = NewtonCG(plan(problem.description, tuning), looser, tuning=tuning)
    return minimize(problem, [solver], looser, start)


#: Every name that is accepted as ``solver``.
SOLVERS = ("auto", "lbfgs", "newton-cg", "newton-cholesky")

# A Hessian of so many parameters takes 800 MB, and its factor minutes.
_MOST_PARAMETERS = 10_000


def _check_hessian(description):
    """Raise where Newton's method cannot write the Hessian out."""
    n_parameters = math.prod(description.shape)
    if not (description.is_linear and description.is_convex):
        raise ValueError(
            "solver='newton-cholesky' needs a convex loss of linear scores, and this "
            "one is not. Use solver='auto'."
        )
    if n_parameters > _MOST_PARAMETERS:
        raise ValueError(
            f"solver='newton-cholesky' needs at most {_MOST_PARAMETERS:,} parameters, "
            f"because it writes the Hessian out; got {n_parameters:,}. Use "
            "solver='newton-cg'."
        )
