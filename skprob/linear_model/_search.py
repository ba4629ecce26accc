"""One fold of a search over alpha and C: models along the path, and their scores."""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import UNUSED

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
    shares_scores = _sees_predictions_only(scorer)
    found, last = {}, None
    for place in ((i, j) for i in rows for j in columns):
        model, converged = next(path)
        # Where a start was accepted as it is, its score is known.
        if not (shares_scores and _predicts_like(model, last)):
            score = scorer(model, X_test, y_test, **score_params)
        found[place] = score, model.coef_, model.intercept_, converged
        last = model
    shape = len(alphas), len(Cs)
    in_order = (found[place] for place in np.ndindex(shape))
    parts = (np.array(part) for part in zip(*in_order, strict=True))
    return FoldResult(*(part.reshape(shape + part.shape[1:]) for part in parts))


def _sees_predictions_only(scorer):
    """Whether models that predict the same have the same score."""
    return isinstance(scorer, _ScikitLearnScorer) or getattr(
        scorer, "sees_predictions_only", False
    )


def _predicts_like(model, other):
    """Whether all that two models of a path predict is the same."""
    return (
        other is not None
        and model.alpha == other.alpha
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
