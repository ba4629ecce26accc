"""The minimum of objectives, one after the other."""

from ...solvers import solve, total_of


def minimise(objectives, parameters, *, solver, tol, max_iter, progress=None):
    """Minimise objectives one after the other, each from where the last one ended.

    Parameters
    ----------
    objectives : list of LinearObjective or CosineObjective
    parameters : ndarray of shape (n_parameters,)
        Where to start.
    solver : str
        One of SOLVERS.
    tol : float
    max_iter : int
        Of each objective.
    progress : FitProgress, default=None
        It is notified of iterations, and may stop the fit.

    Returns
    -------
    solution : Solution
        Of the last objective, or of the one that a callback stopped at; ``n_iter``
        and ``history`` are those of all.

    Raises
    ------
    ValueError
        If an objective does not suit the solver.
    """
    history = []
    for objective in objectives:
        if progress is not None:
            progress.begin(parameters)
        solution = solve(
            objective,
            parameters,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            callback=progress,
        )
        if progress is not None:
            progress.end()
        parameters = solution.parameters
        history = total_of(history, solution.history, "easier loss")
        if solution.stopped:
            break
    # The state of the rows takes memory.
    return solution._replace(n_iter=history[-1].iteration, history=history, state=None)
