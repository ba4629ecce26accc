"""The cut above which a label is predicted to be in the set."""

import warnings
from itertools import chain

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold

from ._best_threshold import best_threshold

# Three folds chose cuts as good as five or ten did, on emotions, scene, birds and
# CAL500, and they cost the least.
_N_FOLDS = 3
# Of so many rows the model's own probabilities are hardly better than those of new
# rows; with fewer, a cut that is chosen by them is too high.
_ROWS_ENOUGH = 5000


def check_threshold(threshold, n_classes):
    """A cut, or an array of one for each of the labels; raise if it is neither."""
    try:
        cuts = np.asarray(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.full(1, np.nan)
    if cuts.ndim and cuts.shape != (n_classes,):
        raise ValueError(
            f"threshold must be one number or one for each of the {n_classes} labels; "
            f"got {threshold!r}, of shape {cuts.shape}."
        )
    good = (cuts >= 0) & (cuts < 1)
    if not good.all():
        where = f", at label {np.argmin(good)}" if cuts.ndim else ""
        raise ValueError(
            "threshold must be in [0, 1), a number or one for each label; got "
            f"{threshold!r}{where}."
        )
    return cuts if cuts.ndim else float(cuts)


def threshold_rule(estimator, X, target, sample_weight, weight, fold_models=None):
    """How the threshold of a fit to label sets is found.

    Parameters
    ----------
    estimator : estimator
        Its ``threshold`` says how.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    target : SparseTarget of shape (n_samples, n_classes)
    sample_weight : ndarray of shape (n_samples,)
        Weights of the rows in the F1 score.
    weight : ndarray of shape (n_samples,)
        Their weights in the fit, of which rows of weight zero are no part.
    fold_models : callable, default=None
        ``fold_models(estimator, X, labels, weight, folds)`` iterates over models that
        are fitted to each fold's training rows; None stands for fits from zero.

    Returns
    -------
    rule : callable
        ``rule(probabilities)`` is the threshold of a model whose probabilities, as
        blocks of rows, are ``probabilities(X)``.

    Raises
    ------
    ValueError
        If the estimator's threshold is not allowed.
    """
    threshold = estimator.threshold
    if not isinstance(threshold, str):
        cuts = check_threshold(threshold, target.shape[1])
        return lambda probabilities: cuts
    if threshold == "support":
        return lambda probabilities: 0.0
    fitted = weight > 0
    labels = _indicator(target)[fitted]
    X, fit_weight, weight = X[fitted], weight[fitted], sample_weight[fitted]
    n_samples = len(weight)
    if n_samples == 1 or (threshold == "auto" and n_samples > _ROWS_ENOUGH):
        return lambda probabilities: best_threshold(probabilities(X), labels, weight)
    found = []

    def cross_validated(probabilities):
        # It does not depend on the model, so that callbacks can ask at every step.
        if not found:
            folds = KFold(min(_N_FOLDS, n_samples), shuffle=True, random_state=0)
            folds = list(folds.split(weight))
            models = (fold_models or _models)(estimator, X, labels, fit_weight, folds)
            out_of_fold, rows = _out_of_fold(models, X, folds)
            found.append(best_threshold(out_of_fold, labels[rows], weight[rows]))
        return found[0]

    return cross_validated


def _models(estimator, X, labels, weight, folds):
    """Models of the folds, fitted one by one."""
    for train, _ in folds:
        # Not a clone: that would report to the callbacks, too.
        model = type(estimator)(**estimator.get_params(deep=False))
        # The weights of the classes are in those of the rows.
        model.set_params(threshold=0, warm_start=False, verbose=0, class_weight=None)
        with warnings.catch_warnings():
            # The fit to all rows warns, and a fold may be without a rare label.
            warnings.simplefilter("ignore", UserWarning)
            model.fit(X[train], labels[train], sample_weight=weight[train])
        yield model


def _out_of_fold(models, X, folds):
    """Probabilities of each row by a model of the other folds.

    Returns
    -------
    probabilities : iterable of ndarray of shape (n_rows, n_classes)
    rows : ndarray of shape (n_samples,)
        The order in which the rows come.
    """
    tests = [test for _, test in folds]
    blocks = [
        model._probabilities(X[test]) for model, test in zip(models, tests, strict=True)
    ]
    return _Chain(blocks), np.concatenate(tests)


class _Chain:
    """Blocks of several iterables one after the other, any number of times."""

    def __init__(self, iterables):
        self._iterables = iterables

    def __iter__(self):
        return chain.from_iterable(self._iterables)


def _indicator(target):
    ones = np.ones(len(target.columns))
    return sparse.csr_array((ones, target.columns, target.indptr), target.shape)
