"""Scorers of predicted sets, and of the labels with the highest scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._utils.fitted import class_probabilities, predict_by, predicted_sets
from .._utils.typing import ArrayLike, MatrixLike
from ._ranked import precision_at_k, propensity_scored_precision_at_k
from ._scorers import Scorer, columns_in_order, host
from ._sets import mean_set_size, set_coverage


class PrecisionAtKScorer(Scorer):
    """A scorer: the share of true labels among the k most probable ones.

    Parameters
    ----------
    k : int, default=1
        Number of labels, from 1 to the number of classes.

    See Also
    --------
    precision_at_k : The metric itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.metrics import PrecisionAtKScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = PrecisionAtKScorer(k=2)
    >>> cross_val_score(SoftmaxClassifier(), X, y, scoring=scorer).round(2)
    array([0.5, 0.5, 0.5, 0.5, 0.5])
    """

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def score(
        self,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: MatrixLike | None = None,
        offset: MatrixLike | None = None,
    ) -> float:
        """Mean precision of a fitted estimator on X and y.

        Parameters
        ----------
        estimator : estimator
            Fitted to labels or label sets, with ``predict_proba`` or
            ``decision_function`` and a column for each class.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            The truth, of the kind that was fitted.
        sample_weight : array-like of shape (n_samples,), default=None
        available, offset : array-like of shape (n_samples, n_classes), default=None
            Arguments of the estimator's predictions about these rows.

        Returns
        -------
        score : float
        """
        return precision_at_k(
            columns_in_order(y, estimator),
            _ranking_scores(estimator, X, available=available, offset=offset),
            k=self.k,
            classes=_classes(estimator, y),
            sample_weight=sample_weight,
        )


class PropensityScoredPrecisionAtKScorer(Scorer):
    """A scorer: the precision at k that counts rare labels more.

    Parameters
    ----------
    propensities : array-like of shape (n_classes,)
        Propensities of the labels, such as those of :func:`label_propensities`.
    k : int, default=1
        Number of labels, from 1 to the number of classes.

    See Also
    --------
    propensity_scored_precision_at_k : The metric itself.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.metrics import PropensityScoredPrecisionAtKScorer
    >>> from skprob.metrics import label_propensities
    >>> X, Y = make_multilabel_classification(allow_unlabeled=False, random_state=0)
    >>> model = SoftmaxClassifier().fit(X[:50], Y[:50])
    >>> scorer = PropensityScoredPrecisionAtKScorer(label_propensities(Y[:50]))
    >>> print(f"{scorer(model, X[50:], Y[50:]):.2f}")
    0.86
    """

    def __init__(self, propensities: ArrayLike, k: int = 1) -> None:
        self.propensities = propensities
        self.k = k

    def score(
        self,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: MatrixLike | None = None,
        offset: MatrixLike | None = None,
    ) -> float:
        """Precision of a fitted estimator on X and y.

        Parameters
        ----------
        estimator : estimator
            Fitted to labels or label sets, with ``predict_proba`` or
            ``decision_function`` and a column for each class.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            The truth, of the kind that was fitted.
        sample_weight : array-like of shape (n_samples,), default=None
        available, offset : array-like of shape (n_samples, n_classes), default=None
            Arguments of the estimator's predictions about these rows.

        Returns
        -------
        score : float
        """
        return propensity_scored_precision_at_k(
            columns_in_order(y, estimator),
            _ranking_scores(estimator, X, available=available, offset=offset),
            self.propensities,
            k=self.k,
            classes=_classes(estimator, y),
            sample_weight=sample_weight,
        )


class SetCoverageScorer(Scorer):
    """Share of predicted sets that contain the truth.

    Report it together with the size of the sets. Do not maximise it.

    See Also
    --------
    set_coverage : The metric itself.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import cross_validate
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.decision import ConformalSets
    >>> from skprob.metrics import SetCoverageScorer, SetSizeScorer
    >>> X, y = load_digits(return_X_y=True)
    >>> scorers = {"coverage": SetCoverageScorer(), "size": SetSizeScorer()}
    >>> model = ConformalSets(SoftmaxClassifier(), coverage=0.99)
    >>> result = cross_validate(model, X / 16, y, cv=3, scoring=scorers)
    >>> for name in scorers:
    ...     print(f"{name} {result[f'test_{name}'].mean():.2f}")
    coverage 0.99
    size 1.96
    """

    def score(
        self,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: MatrixLike | None = None,
        offset: MatrixLike | None = None,
    ) -> float:
        """Coverage of the sets of a fitted estimator on X and y.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``predict_set``, or fitted to label sets.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            The truth, of the kind that was fitted.
        sample_weight : array-like of shape (n_samples,), default=None
        available, offset : array-like of shape (n_samples, n_classes), default=None
            Arguments of the estimator's predictions about these rows.

        Returns
        -------
        score : float
        """
        return set_coverage(
            columns_in_order(y, estimator),
            predicted_sets(estimator, X, available=available, offset=offset),
            classes=_classes(estimator, y),
            sample_weight=sample_weight,
        )


class SetSizeScorer(Scorer):
    """Mean number of classes in a predicted set.

    Report it together with the coverage. Do not maximise it.

    See Also
    --------
    mean_set_size : The metric itself.
    SetCoverageScorer : Has an example with both.
    """

    def score(
        self,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        available: MatrixLike | None = None,
        offset: MatrixLike | None = None,
    ) -> float:
        """Mean size of the sets of a fitted estimator on X.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``predict_set``, or fitted to label sets.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : object
            Not needed.
        sample_weight : array-like of shape (n_samples,), default=None
        available, offset : array-like of shape (n_samples, n_classes), default=None
            Arguments of the estimator's predictions about these rows.

        Returns
        -------
        size : float
        """
        sets = predicted_sets(estimator, X, available=available, offset=offset)
        return mean_set_size(sets, sample_weight=sample_weight)


def _ranking_scores(estimator, X, **arguments):
    """Probabilities or, without them, scores; two columns for two classes."""
    if hasattr(estimator, "predict_proba"):
        return class_probabilities(estimator, X, **arguments)
    scores = predict_by("decision_function", estimator, X, **arguments)
    if scores.ndim > 1:
        return scores
    return np.stack([-scores, scores], axis=1)


def _classes(estimator, y):
    """Labels of the columns, for a target that is labels."""
    are_labels = not sparse.issparse(y) and np.ndim(y) == 1
    return host(estimator.classes_) if are_labels else None
