"""The solver that suits an objective."""

import math
from functools import partial

from .._blas import serial_blas
from ._base import Point, run
from ._continuation import StrongerPenalty
from ._convergence import Convergence
from ._lbfgs import lbfgs
from ._newton import CGDirection, CholeskyDirection, newton
from ._plan import plan
from ._preconditioner import Preconditioner
from ._protocol import check_objective
from ._splitting import SplittingDirection

# With two classes, the first step from equal scores is too short by about this factor.
_TOO_SHORT = 2.0


@serial_blas
def minimize_newton(
    objective,
    initial,
    *,
    method,
    max_iter,
    preconditioner=None,
    splits=False,
    **criteria,
):
    """Minimise one objective by Newton's method.

    The `method` is the first, "newton-cholesky" or "newton-cg", which continues where
    the former stalls. With `splits`, splitting follows many products, if the plan has
    it. Other parameters are those of :func:`lbfgs`, and `initial` may be a Point.
    """
    check_objective(objective)
    description, chosen = objective.description, plan(objective.description)
    if preconditioner is None:
        preconditioner = Preconditioner(description, chosen)
    start = initial.parameters if isinstance(initial, Point) else initial
    is_cold = description.is_convex and not start.any()
    is_pair = description.shape[0] == 1
    directions = [CGDirection(chosen, preconditioner)]
    if splits and chosen.split_after < math.inf:
        first = CGDirection(chosen, preconditioner, chosen.split_after)
        directions = [first, SplittingDirection(objective), *directions]
    if method == "newton-cholesky":
        directions.insert(0, CholeskyDirection(description, objective.has_penalty))
    elif is_cold and objective.has_penalty and not is_pair:
        directions.insert(0, StrongerPenalty(chosen, preconditioner))
    convergence = Convergence(objective, 0, max_iter=max_iter, **criteria)
    first_length = _TOO_SHORT if is_cold and is_pair else 1.0
    solver = newton(initial, directions, convergence, first_length)
    return run(objective, [solver])[0]


newton_cg = partial(minimize_newton, method="newton-cg")
newton_cholesky = partial(minimize_newton, method="newton-cholesky")


def auto(objective, initial, *, preconditioner=None, **options):
    """Minimise by the method that :func:`plan` chooses.

    With a preconditioner no whole Hessian is written out. Parameters are those of
    :func:`lbfgs`, and `initial` may be a Point.
    """
    check_objective(objective)
    method = plan(objective.description).method
    options["preconditioner"] = preconditioner
    if method == "lbfgs":
        start = initial.parameters if isinstance(initial, Point) else initial
        return lbfgs(objective, start, **options)
    if preconditioner is not None:
        method = "newton-cg"
    # Without a penalty its quadratic problem may have no solution.
    options["splits"] = objective.has_penalty
    return minimize_newton(objective, initial, method=method, **options)
