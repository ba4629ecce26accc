"""The solver that suits an objective."""

from ._lbfgs import lbfgs
from ._newton_cg import newton_cg


def auto(objective, initial, *, tol, max_iter, callback=None, preconditioner=None):
    """Minimise by :func:`newton_cg` if the objective is convex, else by :func:`lbfgs`.

    A convex objective has a Hessian that is worth its price: a product with it costs
    as much as an evaluation, and far fewer evaluations are needed. Where it is not
    convex, or its second derivatives are not bounded, a quadratic model of it is not
    to be trusted far. Between the products the probabilities of all rows are kept;
    where those are large beside the data, it is L-BFGS as well.

    Parameters
    ----------
    objective : object
        With ``is_convex`` and, if it is, ``has_bounded_hessian``, ``outputs_fit`` and
        ``has_fast_products``; and what the solvers ask for.
    initial : ndarray of shape (n_parameters,)
    tol : float
    max_iter : int
    callback : callable, optional
    preconditioner : Preconditioner, optional
        All as for :func:`lbfgs`.

    Returns
    -------
    solution : Solution
    """
    suits_newton = (
        objective.is_convex
        and objective.has_bounded_hessian
        and objective.outputs_fit
        and objective.has_fast_products
    )
    solver = newton_cg if suits_newton else lbfgs
    return solver(
        objective,
        initial,
        tol=tol,
        max_iter=max_iter,
        callback=callback,
        preconditioner=preconditioner,
    )
