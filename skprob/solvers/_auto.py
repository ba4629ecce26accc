"""The solver that suits an objective."""

from ._lbfgs import lbfgs
from ._newton_cg import newton_cg
from ._newton_cholesky import newton_cholesky


def auto(objective, initial, *, tol, max_iter, callback=None, preconditioner=None):
    """Minimise by Newton's method if the objective is convex, else by :func:`lbfgs`.

    A convex objective has a Hessian that is worth its price: a product with it costs
    as much as an evaluation, and far fewer evaluations are needed. That is
    :func:`newton_cg`, or where the whole Hessian is small :func:`newton_cholesky`, and
    the former from where the latter gets no further. Where it is not convex, or its
    second derivatives are not bounded, a quadratic model of it is not to be trusted
    far. Between the products the probabilities of all rows are kept; where those are
    large beside the data, it is L-BFGS as well.

    Parameters
    ----------
    objective : object
        With ``is_convex`` and, if it is, ``has_bounded_hessian``, ``outputs_fit``,
        ``has_fast_products`` and ``has_small_hessian``; and what the solvers ask for.
    initial : ndarray of shape (n_parameters,)
    tol : float
    max_iter : int
    callback : callable, optional
    preconditioner : Preconditioner, optional
        All as for :func:`lbfgs`. With a preconditioner the Hessian is not written out.

    Returns
    -------
    solution : Solution
    """
    options = {"tol": tol, "max_iter": max_iter, "callback": callback}
    suits_newton = (
        objective.is_convex
        and objective.has_bounded_hessian
        and objective.outputs_fit
        and objective.has_fast_products
    )
    if not suits_newton:
        solve = lbfgs
    elif objective.has_small_hessian and preconditioner is None:
        return _newton_of_both_kinds(objective, initial, **options)
    else:
        solve = newton_cg
    return solve(objective, initial, preconditioner=preconditioner, **options)


def _newton_of_both_kinds(objective, initial, *, tol, max_iter, callback):
    """With the whole Hessian, and from where that fails by conjugate gradients."""
    first = newton_cholesky(
        objective, initial, tol=tol, max_iter=max_iter, callback=callback
    )
    n_iter = first.n_iter
    if first.converged or first.stopped or n_iter >= max_iter:
        return first

    def go_on(n_more, *args):
        return callback(n_iter + n_more, *args)

    solution = newton_cg(
        objective,
        first.parameters,
        tol=tol,
        max_iter=max_iter - n_iter,
        callback=callback and go_on,
    )
    return solution._replace(n_iter=n_iter + solution.n_iter)
