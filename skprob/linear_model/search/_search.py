"""A search over a grid: models along a path in each fold, and their scores."""

from contextlib import suppress
from itertools import chain, islice

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ._path import fitted_path
from ._precomputed import with_attributes
from ._scoring import scores_of_models
from ._search_results import Results


def scored_path(results, prepared, fold):
    """Fit the grid to the training rows of a fold and score it on the others.

    Without a fold it is fitted to all rows, and scored on leave-one-out predictions.

    Parameters
    ----------
    results : Results
        Arrays of the fold, to be filled in. The models of one path over C are scored
        together, after the last.
    prepared : PreparedSearch
    fold : tuple of ndarray or None
        Training and test rows.

    Yields
    ------
    None
        After each fit.
    """
    data, grid, columns = prepared.data, prepared.grid, prepared.grid.columns
    trained, tested, test = data, data, None
    if fold is not None:
        train, test = fold
        trained, tested = data.take(train), data.take(test)
    score_params, tuning = prepared.score_params_of(test), prepared.specs[0].tuning
    n_features = {"n_features_in_": data.X.shape[1]}
    path = fitted_path(prepared.specs, trained, grid, leaves_out=fold is None)
    for i, r in grid.paths:
        models, left_out = [], []
        for j, point in zip(columns, islice(path, len(columns)), strict=True):
            results.coefs[i, r, j] = point.model.coef
            results.intercepts[i, r, j] = point.model.intercept
            results.converged[i, r, j] = point.converged
            results.n_iter[i, r, j] = point.n_iter
            attributes = grid.params(i, r, j) | point.attributes | n_features
            models.append(with_attributes(prepared.template, attributes))
            left_out.append(point.left_out)
            if prepared.fits_thresholds:
                results.left_out[i, r, j] = point.left_out
            elif len(models) == len(columns):
                raw = left_out if fold is None else None
                results.scores[i, r, columns] = scores_of_models(
                    prepared.scorer,
                    score_params,
                    models,
                    data=tested,
                    tuning=tuning,
                    raw=raw,
                )
            yield


def search(results, paths, n_jobs):
    """Run the path of each fold.

    Parameters
    ----------
    results : Results
        Arrays of all folds, to be filled in.
    paths : list of callable
        For each fold ``path(results)``, the generator :func:`scored_path`.
    n_jobs : int or None
        Number of folds that are run at the same time.

    Yields
    ------
    None
        Once for each fit: with one job after each fit, with more jobs after each fold.
        No fit begins after the generator was closed.
    """
    n_jobs = min(effective_n_jobs(n_jobs), len(paths))
    if n_jobs == 1:
        for number, path in enumerate(paths):
            yield from path(results.of_fold(number))
        return
    cancelled = _Flag()
    sizes = results.scores.shape[1:], results.coefs.shape[-2:], results.coefs.dtype
    jobs = [delayed(_whole_path)(*job, sizes, cancelled) for job in enumerate(paths)]
    ended = _in_parallel(jobs, n_jobs)
    try:
        for number, of_fold in ended:
            arrays = zip(results.of_fold(number), of_fold, strict=True)
            for array, values in arrays:
                array[...] = values
            yield from [None] * of_fold.scores.size
    finally:
        # Processes are ended; threads stop when they see this flag.
        cancelled.is_set = True
        with suppress(_Cancelled):
            # joblib would warn of jobs that did not end if the generator were closed.
            ended.throw(_Cancelled())


class _Cancelled(Exception):
    """The jobs that have not ended are cancelled."""


class _Flag:
    """A flag that threads share; other processes get a copy."""

    is_set = False


def _whole_path(number, path, sizes, cancelled):
    """The number of a fold, and its results."""
    results = Results.unknown(*sizes)
    # The flag is read before the first fit, too.
    for _ in chain([None], path(results)):
        if cancelled.is_set:
            break
    return number, results


def _in_parallel(jobs, n_jobs):
    """Yield the results of jobs, in the order in which they end if the backend can."""
    backend, _ = get_active_backend()
    if backend.supports_return_generator:
        return Parallel(n_jobs, return_as="generator_unordered")(jobs)
    return _in_batches(jobs, n_jobs)


def _in_batches(jobs, n_jobs):
    # Results of finished batches are kept if a later one is interrupted.
    with Parallel(n_jobs) as parallel:
        for start in range(0, len(jobs), n_jobs):
            yield from parallel(jobs[start : start + n_jobs])
