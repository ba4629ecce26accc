"""Models of one mapping whose answers for the same rows are computed together."""

import numpy as np
from scipy import sparse

from ..data import as_design
from ..objective import scores_of
from ._checks import check_predictions
from ._entmax_classifier import EntmaxClassifier

# All models' probabilities together are at most so many numbers (8 MiB). For few, calls
# cost more than what they compute: a search on iris takes two thirds of the time.
_MOST_NUMBERS = 1 << 20


def predicted(X, models):
    """Stand-ins for fitted models that are going to be asked about the same rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Checked.
    models : sequence of EntmaxClassifier
        Fitted to the same classes and features, with the same mapping.

    Returns
    -------
    models : list of EntmaxClassifier
    """
    n_rows, n_models = X.shape[0], len(models)
    if n_rows * n_models * len(models[0].classes_) > _MOST_NUMBERS:
        return models
    coef = np.concatenate([model.coef_ for model in models])
    with np.errstate(over="ignore", invalid="ignore"):
        predictions = as_design(X).matvec(coef)
        predictions += np.concatenate([model.intercept_ for model in models])
    check_predictions(predictions, first_row=0)
    # Output by output, and for each of them model by model.
    predictions = predictions.T.reshape(n_models, -1, n_rows).swapaxes(0, 1)
    scores = scores_of(predictions.reshape(len(predictions), -1).T)
    probabilities = models[0].mapping_(scores)
    scores, probabilities = (
        array.reshape(n_models, n_rows, -1) for array in (scores, probabilities)
    )
    found = scores, probabilities[..., : len(models[0].classes_)]
    return [PredictedModel(X, *parts) for parts in zip(models, *found, strict=True)]


class PredictedModel(EntmaxClassifier):
    """A fitted model that knows its scores and probabilities of some rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Those rows: the same object, and never changed.
    model : EntmaxClassifier
    scores : ndarray of shape (n_samples, n_scores)
    probabilities : ndarray of shape (n_samples, n_classes)
    """

    def __init__(self, X, model, scores, probabilities):
        vars(self).update(vars(model))
        self._X, self._scores, self._known = X, scores, probabilities

    @classmethod
    def _get_param_names(cls):
        return EntmaxClassifier._get_param_names()

    def _probabilities(self, X, **given):
        if X is self._X and _is_nothing(given):
            return _OneBlock(self._known)
        return super()._probabilities(X, **given)

    def _predicted(self, X, of_scores, **given):
        if X is self._X and _is_nothing(given):
            return _OneBlock(of_scores(self._scores))
        return super()._predicted(X, of_scores, **given)


def _is_nothing(given):
    return all(array is None for array in given.values())


class _OneBlock:
    """Rows of predictions that are known, with the methods of those that are not."""

    def __init__(self, rows):
        self._rows = rows

    def __iter__(self):
        yield self._rows

    def on_host(self):
        return self

    def to_dense(self):
        return self._rows

    def to_sparse(self):
        return sparse.csr_array(self._rows)
