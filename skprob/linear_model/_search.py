"""A search over alpha and C: models along a path in each fold, and their scores."""

from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.parallel import Parallel, delayed

from ._path import entmax_path
from ._predicted import predicted

# What scikit-learn's names stand for, and what make_scorer makes.
_ScikitLearnScorer = type(get_scorer("accuracy"))


class Results(NamedTuple):
    """Of each fit of a search, or of one fold of it; NaN where it is not done.

    Attributes
    ----------
    scores : ndarray of shape (..., n_alphas, n_Cs)
    coefs : ndarray of shape (..., n_alphas, n_Cs, M, n_features)
    intercepts : ndarray of shape (..., n_alphas, n_Cs, M)
    converged : ndarray of shape (..., n_alphas, n_Cs)
    """

    scores: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray

    @classmethod
    def unknown(cls, shape, coef_shape, dtype):
        """Those of fits that are all to be done."""
        return cls(
            scores=np.full(shape, np.nan),
            coefs=np.full((*shape, *coef_shape), np.nan, dtype),
            intercepts=np.full((*shape, coef_shape[0]), np.nan, dtype),
            converged=np.zeros(shape, dtype=bool),
        )

    def of_fold(self, number):
        """Views of those of a fold."""
        return Results(*(array[number] for array in self))


def scored_path(
    results, template, scorer, score_params, data, fold, classes, has_none, alphas, Cs
):
    """Fit the grid to the training rows of a fold and score it on the others.

    Parameters
    ----------
    results : Results
        Of the fold, to be filled in. The models of one alpha are scored together,
        after the last.
    template : EntmaxClassifier
    scorer : callable
        ``scorer(model, X, y, **score_params)``.
    score_params : dict
        Already of the fold's test rows.
    data : tuple of (X, y, sample_weight)
    fold : tuple of ndarray
        Training and test rows.
    classes : ndarray of shape (n_classes,)
    has_none : bool
        Whether there is a class for rows without a label.
    alphas : ndarray of shape (n_alphas,)
    Cs : ndarray of shape (n_alphas, n_Cs)
        In any order, the same for all alphas; the path goes from much penalty to
        little.

    Yields
    ------
    None
        After each fit.
    """
    train, test = fold
    X, y, _ = data
    X_test, y_test = X[test], y[test]
    # Places in the grid, in the order of the path.
    rows, columns = np.argsort(alphas), np.argsort(Cs[0])
    grid = classes, has_none, alphas[rows], Cs[np.ix_(rows, columns)]
    path = entmax_path(template, *(array[train] for array in data), *grid)
    for i in rows:
        models = []
        for j, (model, converged) in zip(
            columns, islice(path, len(columns)), strict=True
        ):
            results.coefs[i, j] = model.coef_
            results.intercepts[i, j] = model.intercept_
            results.converged[i, j] = converged
            models.append(model)
            if len(models) == len(columns):
                scores = _scores(scorer, score_params, models, X_test, y_test)
                results.scores[i, columns] = scores
            yield


def search(results, paths, n_jobs):
    """Go along the path of each fold.

    Parameters
    ----------
    results : Results
        To be filled in.
    paths : list of callable
        For each fold ``path(results)``, the generator :func:`scored_path`.
    n_jobs : int or None
        Folds at a time.

    Yields
    ------
    None
        As many times as there are fits: with one job after each of them, with more
        when a fold has ended. No fit begins after the generator was closed.
    """
    n_jobs = min(effective_n_jobs(n_jobs), len(paths))
    if n_jobs == 1:
        for number, path in enumerate(paths):
            yield from path(results.of_fold(number))
        return
    cancelled = _Flag()
    sizes = results.scores.shape[1:], results.coefs.shape[3:], results.coefs.dtype
    jobs = [delayed(_whole_path)(*job, sizes, cancelled) for job in enumerate(paths)]
    ended = _in_parallel(jobs, n_jobs)
    try:
        for number, found in ended:
            for known, new in zip(results.of_fold(number), found, strict=True):
                known[...] = new
            yield from [None] * found.scores.size
    finally:
        # Processes are ended; threads can only be told.
        cancelled.is_set = True
        with suppress(_GivenUp):
            # Not closed: joblib would warn of jobs that did not end.
            ended.throw(_GivenUp())


class _GivenUp(Exception):
    """The jobs that have not ended are not wanted."""


class _Flag:
    """A truth that threads share, and of which other processes have a copy."""

    is_set = False


def _whole_path(number, path, sizes, cancelled):
    """The number of a fold, and its results."""
    results = Results.unknown(*sizes)
    # Asked before the first fit, too.
    for _ in chain([None], path(results)):
        if cancelled.is_set:
            break
    return number, results


def _in_parallel(jobs, n_jobs):
    """A generator of the results of jobs, as they end if joblib's backend allows."""
    backend, _ = get_active_backend()
    if backend.supports_return_generator:
        return Parallel(n_jobs, return_as="generator_unordered")(jobs)
    return _in_batches(jobs, n_jobs)


def _in_batches(jobs, n_jobs):
    # What has ended is kept if a later batch is interrupted.
    with Parallel(n_jobs) as parallel:
        for start in range(0, len(jobs), n_jobs):
            yield from parallel(jobs[start : start + n_jobs])


def _scores(scorer, score_params, models, X, y):
    """Of each of the models of one alpha."""
    if not _sees_predictions_only(scorer):
        return [scorer(model, X, y, **score_params) for model in models]
    models = predicted(X, models)
    return [scorer(model, X, y, **score_params) for model in models]


def _sees_predictions_only(scorer):
    """Whether a scorer looks at predictions for the rows that it is given alone."""
    return isinstance(scorer, _ScikitLearnScorer) or getattr(
        scorer, "sees_predictions_only", False
    )


class OwnScore(BaseEstimator):
    """The scorer that is a model's own method, with the weights of the rows."""

    __metadata_request__score = {"estimator": UNUSED, "sample_weight": True}
    sees_predictions_only = True

    def __call__(self, estimator, X, y, sample_weight=None):
        return self.score(estimator, X, y, sample_weight=sample_weight)

    def score(self, estimator, X, y, sample_weight=None):
        """Score of a fitted estimator on X and y."""
        return estimator.score(X, y, sample_weight=sample_weight)
