"""From objectives to fitted attributes."""

import math

import numpy as np

from ..solvers import SOLVERS

# A Hessian of so many parameters takes 800 MB, and its factor minutes.
_MOST_PARAMETERS = 10_000
_COLUMNS = (
    "iteration",
    "objective",
    "gradient_norm",
    "duality_gap",
    "passes",
    "seconds",
    "round_trips",
    "bytes",
)


def minimise(objectives, parameters, *, solver, tol, max_iter, progress):
    """Minimise objectives one after the other, each from where the last one ended.

    Parameters
    ----------
    objectives : list of LinearObjective or CosineObjective
    parameters : ndarray of shape (n_parameters,)
        Where to start.
    solver : str
        A key of SOLVERS.
    tol : float
    max_iter : int
        Of each objective.
    progress : FitProgress
        It is notified of iterations, and may stop the fit.

    Returns
    -------
    solution : Solution
        Of the last objective, or of the one that a callback stopped at; ``n_iter``
        and ``history`` are those of all.
    duality_gap : float
        Bound on how far its value is from the minimum.

    Raises
    ------
    ValueError
        If an objective does not suit the solver.
    """
    history = []
    if solver == "newton-cholesky":
        for objective in objectives:
            _check_hessian(objective.description)
    for objective in objectives:
        progress.begin(parameters)
        solution = SOLVERS[solver](
            objective, parameters, tol=tol, max_iter=max_iter, callback=progress
        )
        progress.end()
        parameters = solution.parameters
        history = joined(history, solution.history)
        if solution.stopped:
            break
    # What is known of the rows there takes memory, which the bound needs, too.
    solution = solution._replace(n_iter=history[-1][0], history=history, point=None)
    here = parameters, solution.value, solution.gradient
    gap = dict(zip(_COLUMNS, history[-1], strict=True))["duality_gap"]
    enough = tol * solution.value
    if not gap <= enough:
        known = np.inf if np.isnan(gap) else gap
        gap = objective.duality_gap(0, *here, enough, known)
    return solution, gap


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


def joined(history, rows):
    """Two histories joined, the second of another objective.

    Values and gaps of the first objective are not comparable with the second, and
    become NaN.
    """
    n_iter, _, _, _, *spent = history[-1] if history else (0,) * len(_COLUMNS)
    before = [(i, np.nan, norm, np.nan, *cost) for i, _, norm, _, *cost in history]
    return before[:-1] + [
        (n_iter + i, *values, *(a + b for a, b in zip(spent, cost, strict=True)))
        for i, *values in rows
        for values, cost in [(values[:3], values[3:])]
    ]


def attributes_of(solution, duality_gap):
    """Fitted attributes that tell how a fit went."""
    columns = map(np.array, zip(*solution.history, strict=True))
    history = dict(zip(_COLUMNS, columns, strict=True))
    history["duality_gap"][-1] = duality_gap
    return {
        "n_iter_": solution.n_iter,
        "objective_": solution.value,
        "gradient_norm_": solution.gradient_norm,
        "duality_gap_": duality_gap,
        "solver_": solution.solver,
        "history_": history,
    }
