"""Minimisation by other solvers than Newton's method with the whole Hessian."""

from ._minimize import minimize
from ._plan import method_for, plan
from .newton import minimize_by_products


def minimize_otherwise(problem, start, solver, criteria, callback, resume):
    """Minimise a problem by a solver that :func:`solve` does not run itself.

    Parameters
    ----------
    problem : Problem
    start : ndarray of shape (n_parameters,)
    solver : {"auto", "lbfgs", "newton-cg", "newton-cholesky"}
        The last one is for a penalty that makes parameters zero.
    criteria : Criteria
    callback, resume
        As for :func:`solve`.

    Returns
    -------
    solution : Solution
    """
    description, tuning = problem.description, criteria.tuning
    if description.has_shrinkage:
        return _minimize_composite(
            problem, start, solver, criteria, callback=callback, resume=resume
        )
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


def _minimize_composite(problem, start, solver, criteria, *, callback, resume):
    """Minimise a problem with a penalty that makes parameters zero."""
    # Imported when used: the import takes milliseconds.
    from .proximal import ProximalNewton

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
