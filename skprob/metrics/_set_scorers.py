"""Scorers of predicted sets, and of the labels with the highest scores."""

from __future__ import annotations

import numpy as np

from .._utils.arrays import on_host
from .._utils.checks import are_labels
from .._utils.fitted import class_probabilities, predict_by, predicted_sets
from .._utils.typing import ArrayLike
from ._ranked import precision_at_k, propensity_scored_precision_at_k
from ._scorers import Scorer
from ._sets import mean_set_size, set_coverage


class PrecisionAtKScorer(Scorer):
    """A scorer: the share of true labels among the k most probable ones.

    The estimator is fitted to labels or label sets, and has ``predict_proba`` or
    ``decision_function`` with a column for each class.

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

    def _score(self, estimator, X, y, sample_weight, arguments):
        return precision_at_k(
            y,
            _ranking_scores(estimator, X, **arguments),
            k=self.k,
            classes=_classes(estimator, y),
            sample_weight=sample_weight,
        )


class PropensityScoredPrecisionAtKScorer(Scorer):
    """A scorer: the precision at k that counts rare labels more.

    The estimator is fitted to labels or label sets, and has ``predict_proba`` or
    ``decision_function`` with a column for each class.

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

    def _score(self, estimator, X, y, sample_weight, arguments):
        return propensity_scored_precision_at_k(
            y,
            _ranking_scores(estimator, X, **arguments),
            self.propensities,
            k=self.k,
            classes=_classes(estimator, y),
            sample_weight=sample_weight,
        )


class SetCoverageScorer(Scorer):
    """Share of predicted sets that contain the truth.

    Report it together with the size of the sets. Do not maximise it.

    The estimator has ``predict_set``, or is fitted to label sets.

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

    def _score(self, estimator, X, y, sample_weight, arguments):
        return set_coverage(
            y,
            predicted_sets(estimator, X, **arguments),
            classes=_classes(estimator, y),
            sample_weight=sample_weight,
        )


class SetSizeScorer(Scorer):
    """Mean number of classes in a predicted set.

    Report it together with the coverage. Do not maximise it.

    The estimator has ``predict_set``, or is fitted to label sets.

    See Also
    --------
    mean_set_size : The metric itself.
    SetCoverageScorer : Has an example with both.
    """

    def _score(self, estimator, X, y, sample_weight, arguments):
        sets = predicted_sets(estimator, X, **arguments)
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
    return on_host(estimator.classes_) if are_labels(y, "y") else None
