"""Scores of the fitted models of a search."""

from contextlib import suppress
from inspect import signature
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils.metadata_routing import UNUSED

from ...metrics import brier_loss_of_target
from ._precomputed import with_given, with_predictions, with_raw_predictions


def is_scikit_learns(scorer):
    """Whether a scorer is from scikit-learn: given by name, or by make_scorer."""
    return isinstance(scorer, type(get_scorer("accuracy")))


def check_scorer(scorer):
    """Raise for a function that cannot be called as a scorer, such as a metric."""
    if isinstance(scorer, type):
        raise ValueError(
            "scoring must be a name or a function of (estimator, X, y); got the class "
            f"{scorer.__name__}. Give an instance, {scorer.__name__}(...)."
        )
    try:
        parameters = signature(scorer)
    except (TypeError, ValueError):  # Some functions of C have no signature.
        return
    try:
        parameters.bind("estimator", "X", "y")
    except TypeError:
        raise ValueError(
            "scoring must be a name or a function of (estimator, X, y); got "
            f"{getattr(scorer, '__name__', repr(scorer))}{parameters}. Make a scorer "
            "of a metric by sklearn.metrics.make_scorer, or take one of skprob.metrics."
        ) from None


def with_class_labels(scorer, classes):
    """The scorer with all classes as its argument `labels`: test rows may lack some."""
    if not is_scikit_learns(scorer):
        return scorer
    parameters = signature(scorer._score_func).parameters
    if "labels" not in parameters:
        return scorer
    arguments = {"labels": classes}
    if len(classes) == 2 and "pos_label" in parameters:
        arguments["pos_label"] = classes[-1]
    return make_scorer(
        scorer._score_func,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign == 1,
        **arguments | scorer._kwargs,
    )


def sees_predictions_only(scorer):
    """Whether a scorer calls methods that predict for the whole X, and nothing else."""
    return is_scikit_learns(scorer) or getattr(scorer, "sees_predictions_only", False)


def scores_of_models(scorer, params, models, data, tuning, raw):
    """Scores of fitted models of one mapping.

    Parameters
    ----------
    scorer : callable
        ``scorer(model, X, y, **params)``.
    params : dict
    models : list of BaseLinearClassifier
    data : TrainingData
        The rows that they are scored on.
    tuning : Tuning
    raw : list of ndarray of shape (n_samples, M) or None
        For each model the raw predictions of the rows that are scored, without
        offsets. None stands for those of the model.

    Returns
    -------
    scores : list of float

    Raises
    ------
    ValueError
        If the scorer does not return a number, or is for other targets.
    """
    X, given = data.X, data.given
    if raw is not None:
        models = with_raw_predictions(X, models, raw, given)
    elif sees_predictions_only(scorer):
        models = with_predictions(X, models, given, tuning.scored_together)
    else:
        models = with_given(X, models, given)
    return [score_of_model(scorer, params, model, data) for model in models]


def score_of_model(scorer, params, model, data):
    """The score of a fitted model on the rows of :class:`TrainingData`, a number."""
    if isinstance(scorer, DefaultScore):
        return scorer.score(model, data, **params)
    try:
        score = scorer(model, data.X, data.y, **params)
    except ValueError as error:
        if model.target_type_ != "distribution" or not is_scikit_learns(scorer):
            raise
        raise ValueError(
            f"scoring={scorer!r} does not take distributions as y ({error}). Use "
            "scoring=None, the Brier score; of skprob.metrics "
            "FenchelYoungScorer(mapping) or DistributionScorer(name); or a function "
            "scorer(estimator, X, y)."
        ) from error
    scored = score
    if hasattr(score, "item"):
        with suppress(ValueError):
            score = score.item()
    if not isinstance(score, Real):
        raise ValueError(
            f"scoring must return a number; {scorer!r} returned {scored!r}, of type "
            f"{type(scored).__name__}."
        )
    return float(score)


class DefaultScore(BaseEstimator):
    """The score of a search without ``scoring``.

    It is minus the Brier score, and micro-F1 for label sets.
    """

    __metadata_request__score = {"model": UNUSED, "data": UNUSED, "sample_weight": True}
    sees_predictions_only = True

    def score(self, model, data, sample_weight=None):
        """Score of a fitted classifier on the rows of :class:`TrainingData`."""
        if model.target_type_ == "label_set":
            return _micro_f1(data.y, model.predict(data.X), sample_weight)
        # The target was encoded once, for the models of all folds.
        p = model._probabilities(data.X, None, None).to_dense()
        return -brier_loss_of_target(data.encoded, p, sample_weight)


def _micro_f1(y, predicted, weight):
    """Micro-F1, as scikit-learn's function, in a tenth of its time for few rows."""
    if sparse.issparse(y) or sparse.issparse(predicted):
        y, predicted = sparse.csr_array(y), sparse.csr_array(predicted)
    else:
        y, predicted = np.asarray(y), np.asarray(predicted)
    weight = np.ones(y.shape[0]) if weight is None else weight
    hits, true, chosen = (
        weight @ sets.sum(axis=1) for sets in (y * predicted, y, predicted)
    )
    # If there are no labels and none is predicted, the score is 1.
    return 2 * hits / (true + chosen) if true + chosen > 0 else 1.0
