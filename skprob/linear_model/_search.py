"""One fold of a search over alpha and C: models along the path, and their scores."""

from itertools import accumulate, compress, islice, pairwise
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import UNUSED

from ._known_rows import tell_of_rows
from ._path import entmax_path

# What scikit-learn's names stand for, and what make_scorer makes.
_ScikitLearnScorer = type(get_scorer("accuracy"))


class FoldResult(NamedTuple):
    """Of each model of a fold's grid, in the order of the grid.

    Attributes
    ----------
    scores : ndarray of shape (n_alphas, n_Cs)
    coefs : ndarray of shape (n_alphas, n_Cs, M, n_features)
    intercepts : ndarray of shape (n_alphas, n_Cs, M)
    converged : ndarray of shape (n_alphas, n_Cs)
    """

    scores: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray


def scored_path(template, scorer, score_params, data, fold, classes, alphas, Cs):
    """Fit the grid to the training rows of a fold and score it on the others.

    Parameters
    ----------
    template : EntmaxClassifier
    scorer : callable
        ``scorer(model, X, y, **score_params)``.
    score_params : dict
        Already of the fold's test rows.
    data : tuple of (X, y, sample_weight)
    fold : tuple of ndarray
        Training and test rows.
    classes : ndarray of shape (n_classes,)
    alphas, Cs : ndarray
        In any order; the path goes from much penalty to little.

    Returns
    -------
    result : FoldResult
    """
    train, test = fold
    X, y, _ = data
    X_test, y_test = X[test], y[test]
    # Places in the grid, in the order of the path.
    rows, columns = np.argsort(alphas), np.argsort(Cs)
    path = entmax_path(
        template, *(array[train] for array in data), classes, alphas[rows], Cs[columns]
    )
    found = {}
    for i in rows:
        models, converged = zip(*islice(path, len(Cs)), strict=True)
        scores = _scores(scorer, score_params, models, X_test, y_test)
        for j, model, *of_model in zip(columns, models, scores, converged, strict=True):
            found[i, j] = model.coef_, model.intercept_, *of_model
    shape = len(alphas), len(Cs)
    in_order = (found[place] for place in np.ndindex(shape))
    parts = (np.array(part) for part in zip(*in_order, strict=True))
    coefs, intercepts, scores, converged = (
        part.reshape(shape + part.shape[1:]) for part in parts
    )
    return FoldResult(scores, coefs, intercepts, converged)


def _scores(scorer, score_params, models, X, y):
    """Of each of the models of one alpha."""
    if not _sees_predictions_only(scorer):
        return [scorer(model, X, y, **score_params) for model in models]
    # Where a start was accepted as it is, its score is known.
    is_new = [not _predicts_like(*pair) for pair in pairwise((None, *models))]
    new = list(compress(models, is_new))
    tell_of_rows(X, new)
    scores = [scorer(model, X, y, **score_params) for model in new]
    return [scores[n - 1] for n in accumulate(is_new)]


def _sees_predictions_only(scorer):
    """Whether models that predict the same have the same score."""
    return isinstance(scorer, _ScikitLearnScorer) or getattr(
        scorer, "sees_predictions_only", False
    )


def _predicts_like(other, model):
    """Whether all that two models of one alpha predict is the same."""
    return (
        other is not None
        and np.array_equal(model.coef_, other.coef_)
        and np.array_equal(model.intercept_, other.intercept_)
        and np.array_equal(*(getattr(m, "threshold_", None) for m in (model, other)))
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
