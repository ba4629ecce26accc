"""Fitted models with precomputed predictions of some rows."""

from functools import cache

import numpy as np
from scipy import sparse

from ...data import as_design
from ...objective import scores_of
from .._checks import check_predictions
from .._given import NOTHING

# All models' probabilities together are at most so many numbers (8 MiB). For few, calls
# cost more than what they compute: a search on iris takes two thirds of the time.
_MOST_NUMBERS = 1 << 20


def predicted(X, models, given=NOTHING):
    """Copies of fitted models with precomputed predictions for the same rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Checked.
    models : sequence of BaseLinearClassifier
        Fitted to the same classes and features, with the same mapping.
    given : Given
        Of these rows.

    Returns
    -------
    models : list of BaseLinearClassifier
    """
    n_rows, n_models = X.shape[0], len(models)
    if n_rows * n_models * len(models[0].classes_) > _MOST_NUMBERS:
        return among(X, models, given)
    coef = np.concatenate([model.coef_ for model in models])
    with np.errstate(over="ignore", invalid="ignore"):
        predictions = as_design(X).matvec(coef)
        predictions += np.concatenate([model.intercept_ for model in models])
    check_predictions(predictions, first_row=0)
    # Output by output, and for each of them model by model.
    predictions = predictions.T.reshape(n_models, -1, n_rows).swapaxes(0, 1)
    scores = scores_of(predictions.reshape(len(predictions), -1).T)
    for start in range(0, len(scores), max(n_rows, 1)):
        given.put_into(scores[start : start + n_rows], slice(None))
    probabilities = models[0].mapping_(scores)[:, : len(models[0].classes_)]
    found = (array.reshape(n_models, n_rows, -1) for array in (scores, probabilities))
    return [
        _knowing(type(model))(X, model, given, *parts)
        for model, *parts in zip(models, *found, strict=True)
    ]


def among(X, models, given):
    """Copies of fitted models that use what is given for the rows X.

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
    return [_knowing(type(model))(X, model, given) for model in models]


@cache
def _knowing(cls):
    """A subclass of a fitted model's class with precomputed predictions of some rows.

    Its arguments are these rows (the same object, which must not be changed), the
    model, what is given for the rows and, if they have been computed, the scores and
    probabilities of shape (n_samples, n_scores) and (n_samples, n_classes).
    """

    class Knowing(cls):
        def __init__(self, X, model, given, scores=None, probabilities=None):
            vars(self).update(vars(model))
            self._X, self._beside = X, given
            self._scores, self._known = scores, probabilities

        @classmethod
        def _get_param_names(cls_):
            return cls._get_param_names()

        def _probabilities(self, X, **given):
            if self._known is not None and X is self._X and _is_nothing(given):
                return _OneBlock(self._known)
            return super()._probabilities(X, **given)

        def _predicted(self, X, of_scores, **given):
            if X is self._X and _is_nothing(given):
                if self._scores is not None:
                    return _OneBlock(of_scores(self._scores))
                given = self._beside.arguments
            return super()._predicted(X, of_scores, **given)

    Knowing.__name__ = Knowing.__qualname__ = cls.__name__
    return Knowing


def _is_nothing(given):
    return all(array is None for array in given.values())


class _OneBlock:
    """Precomputed predictions, with the methods of BlockwisePrediction."""

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
