"""Minimising what a fit asks for, or remembering what that gave before."""

import pickle

from sklearn.utils.validation import check_memory

from ..solvers import SOLVERS


def minimise(memory, objectives, initial, *, solver, tol, max_iter, progress):
    """Minimise objectives one after the other, each from where the last one ended.

    The solution is a function of the objectives, the start and the solver's
    parameters, and these are what it is remembered by: whatever else of an estimator
    may change, such as its threshold.

    Parameters
    ----------
    memory : None, str or object with the joblib.Memory interface
        Where solutions are kept; None keeps none.
    objectives : list of LinearObjective or CosineObjective
    initial : ndarray of shape (n_parameters,)
        Where to start.
    solver : str
        A key of SOLVERS.
    tol : float
    max_iter : int
        Of each objective.
    progress : FitProgress
        It is told of iterations, not of a solution that was remembered. Callbacks
        must see them and may stop the fit, so with callbacks nothing is remembered.

    Returns
    -------
    solution : Solution
        Of the last objective, or of the one that a callback stopped at; ``n_iter``
        counts the iterations of all.
    duality_gap : float
        Bound on how far its value is from the minimum.

    Raises
    ------
    ValueError
        If the loss, or its mapping, cannot be remembered by.
    """
    if progress.has_callbacks:
        memory = None
    if memory is not None:
        _check_picklable(objectives[-1].loss)
    memory = check_memory(memory)
    cached = memory.cache(_minimise, ignore=["progress"])
    return cached(objectives, initial, solver, tol, max_iter, progress)


def _minimise(objectives, parameters, solver, tol, max_iter, progress):
    n_iter = 0
    for objective in objectives:
        progress.begin(parameters)
        solution = SOLVERS[solver](
            objective, parameters, tol=tol, max_iter=max_iter, callback=progress
        )
        progress.end()
        parameters = solution.parameters
        n_iter += solution.n_iter
        if solution.stopped:
            break
    gap = objective.duality_gap(parameters, solution.value, solution.gradient)
    return solution._replace(n_iter=n_iter), gap


def _check_picklable(loss):
    try:
        pickle.dumps(loss)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise ValueError(
            "memory must be None with a mapping or loss that cannot be pickled, such "
            f"as a lambda; got {loss!r}: {error}"
        ) from None
