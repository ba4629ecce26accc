"""Fitted models with precomputed predictions of some rows."""

import copy

import numpy as np

from ...data import as_design
from ...objective import scores_of
from ..predict import KnownRows, check_predictions

# Largest raw prediction of a left-out row. A larger one is a rounding error, divided by
# a curvature of nearly zero.
_MOST_RAW = 1e100


def with_predictions(X, models, given, most_numbers):
    """Copies of fitted models with precomputed predictions for the same rows.

    On few rows this saves calls of functions, which take longer than their arithmetic.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Checked rows.
    models : sequence of BaseLinearClassifier
        Models with the same classes, features and mapping.
    given : Given
        Available classes and offsets of these rows.
    most_numbers : int
        With more probabilities of all models the result is that of `with_given`.

    Returns
    -------
    models : list of BaseLinearClassifier
    """
    n_rows, n_models = X.shape[0], len(models)
    if n_rows * n_models * len(models[0].classes_) > most_numbers:
        return with_given(X, models, given)
    coef = np.concatenate([model.coef_ for model in models])
    with np.errstate(over="ignore", invalid="ignore"):
        predictions = as_design(X).matvec(coef)
        predictions += np.concatenate([model.intercept_ for model in models])
    check_predictions(predictions, first_row=0)
    # The axes are output, model and row.
    predictions = predictions.T.reshape(n_models, -1, n_rows).swapaxes(0, 1)
    scores = scores_of(predictions.reshape(len(predictions), -1).T)
    for start in range(0, len(scores), max(n_rows, 1)):
        given.put_into(scores[start : start + n_rows], slice(None))
    probabilities = models[0].mapping_(scores)[:, : len(models[0].classes_)]
    of_models = (
        array.reshape(n_models, n_rows, -1) for array in (scores, probabilities)
    )
    return [
        with_attributes(model, {"_known_rows": KnownRows(X, given, *parts)})
        for model, *parts in zip(models, *of_models, strict=True)
    ]


def with_raw_predictions(X, models, raw, given):
    """Copies of fitted models that predict rows by other raw predictions.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows; for other rows the copies predict as the models do.
    models : list of BaseLinearClassifier
    raw : list of ndarray of shape (n_samples, M)
        Raw predictions of the rows for each model.
    given : Given
        Available classes and offsets of these rows.

    Returns
    -------
    models : list of BaseLinearClassifier
    """
    copies = []
    for model, predictions in zip(models, raw, strict=True):
        # Scores beyond this limit have the probabilities of those at the limit.
        scores = scores_of(np.clip(predictions, -_MOST_RAW, _MOST_RAW))
        given.put_into(scores, slice(None))
        probabilities = model.mapping_(scores)[:, : len(model.classes_)]
        rows = KnownRows(X, given, scores, probabilities)
        copies.append(with_attributes(model, {"_known_rows": rows}))
    return copies


def with_given(X, models, given):
    """Copies of fitted models that use available classes and offsets of the rows X.

    Parameters
    ----------
    X : object
        The rows; for other rows the copies predict as the models do.
    models : list of BaseLinearClassifier
    given : Given
        If nothing is given, the result is the models themselves.

    Returns
    -------
    models : list of BaseLinearClassifier
    """
    if given.is_nothing:
        return models
    rows = KnownRows(X, given)
    return [with_attributes(model, {"_known_rows": rows}) for model in models]


def with_attributes(estimator, attributes):
    """A copy of an estimator with other attributes as well."""
    # A copy, not a clone: the parameters were checked by the search.
    changed = copy.copy(estimator)
    vars(changed).update(attributes)
    return changed
