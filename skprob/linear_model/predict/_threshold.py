"""Thresholds of label sets that are fitted to probabilities and labels of rows."""

import warnings
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold

from ..._utils.arrays import take, to_numpy
from ...decision import (
    LabelCuts,
    Sample,
    best_threshold,
    expected_size,
    get_rule,
    has_empty,
    known_only,
    n_labelled,
)
from ...targets import class_weight_factors
from .._known_threshold import (
    is_fitted_to_rows,
    known_threshold,
)

# Three folds chose cuts as good as five or ten did, on emotions, scene, birds and
# CAL500, and they cost the least.
_N_FOLDS = 3
# With more rows, the model's own probabilities of training rows are close to those of
# new rows; with fewer, a cut that is chosen by them is too high.
_ROWS_ENOUGH = 5000
#: The rule of "auto" where it is fitted to the model's own training rows.
_IN_SAMPLE = LabelCuts("micro")
# Most labels for which "auto" corrects the probabilities of labels by each other. Time
# grows with the third power of the number of labels, memory with the second.
_MOST_STACKED = 1000


def threshold_rule(
    threshold,
    polytope,
    X,
    target,
    sample_weight,
    weight,
    *,
    n_labels,
    any_empty,
    given,
    folds,
    known=None,
):
    """How the threshold of a fit to label sets is found.

    Parameters
    ----------
    threshold : float, array-like, str or DecisionRule
        The parameter of the classifier.
    polytope : {"simplex", "cube"}
        Of the probabilities.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    target : SparseTarget of shape (n_samples, n_labels)
        Or of one more column, that of the class for rows without a label.
    sample_weight : ndarray of shape (n_samples,)
        Weights of the rows in the F1 score.
    weight : ndarray of shape (n_samples,)
        Their weights in the fit, of which rows of weight zero are no part.
    n_labels : int
    any_empty : bool
        Whether there were rows without a label that are not among these.
    given : Given
        Of the rows.
    folds : SeparateFolds or PathFolds
        ``folds.models(X, labels, weight, folds, given)`` iterates over models that are
        fitted to each fold's training rows, and ``folds.sizes(make)`` is what
        ``make()`` returned the first time.
    known : ndarray of bool of shape (n_samples, n_labels), default=None
        Which entries of the target are known; None if all are.

    Returns
    -------
    choose_threshold : callable
        ``choose_threshold(probabilities, start=None)`` is the threshold of a model
        whose probabilities, as blocks of rows, are ``probabilities(X, given)``. Fits to
        folds start from the ``LastFit`` `start` of all rows, if it is given.

    Raises
    ------
    ValueError
        If the threshold is not allowed.
    """
    if not is_fitted_to_rows(threshold):
        cuts = known_threshold(threshold, n_labels)
        return lambda probabilities, start=None: cuts
    labels = _indicator(target)[:, :n_labels]
    fit_weight, weight = weight, sample_weight
    has_none = target.shape[1] > n_labels
    fitted = fit_weight > 0
    if not fitted.all():  # All rows need no copy, which may not fit.
        labels, given = labels[fitted], given.of(fitted)
        known = None if known is None else known[fitted]
        X = take(X, np.flatnonzero(fitted))
        fit_weight, weight = fit_weight[fitted], weight[fitted]
    check_some_label(labels)
    any_empty = any_empty or has_empty(labels, known)
    about = polytope, any_empty, has_none, folds, known
    data = _Data(X, labels, weight, *about)
    n_folds = min(_N_FOLDS, n_labelled(labels))
    if n_folds == 1 or (threshold == "auto" and len(weight) > _ROWS_ENOUGH):
        if threshold == "auto":
            threshold = _IN_SAMPLE
        return lambda probabilities, start=None: data.chosen(
            threshold, probabilities(X, given).on_host(), slice(None)
        )
    chosen = {}

    def cross_validated(probabilities, start=None):
        # Without a start it does not depend on the model, so that callbacks can ask at
        # every step.
        key = start is None
        if key not in chosen:
            splits = _splits(n_folds, labels)
            in_loss = given.with_known(known)
            begun = folds if start is None else folds.starting_from(start)
            models = begun.models(X, labels, fit_weight, splits, in_loss)
            blocks, order = _out_of_fold(models, X, splits, given)
            chosen[key] = data.chosen(threshold, blocks, order)
        return chosen[key]

    return cross_validated


def changed_threshold(threshold, model, X, labels, weight, given, splits, folds):
    """The threshold of a fitted model that is chosen for other rows.

    Parameters
    ----------
    threshold : str or DecisionRule
        Fitted to rows.
    model : FittedModel
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    labels : CSR array of shape (n_samples, n_classes)
    weight : ndarray of shape (n_samples,)
        Positive.
    given : Given
    splits : list of (train, test) or None
        Folds by whose models the probabilities are computed; None stands for those of
        the fitted model.
    folds : SeparateFolds

    Returns
    -------
    threshold : float, ndarray of shape (n_classes,) or DecisionRule
    """
    if splits is None:
        blocks, rows = model.probabilities(X, given).on_host(), slice(None)
    else:
        spec = folds.spec
        encoded = spec.encoded(labels, weight.dtype, to_numpy(model.classes))
        fit_weight = weight.copy()
        labelled = slice(None) if encoded.labelled is None else encoded.labelled
        fit_weight[labelled] *= class_weight_factors(
            spec.class_weight, encoded, weight[labelled]
        )
        models = folds.models(X, labels, fit_weight, splits, given)
        blocks, rows = _out_of_fold(models, X, splits, given)
    about = model.mapping.traits.polytope, has_empty(labels), model.has_none, folds
    return _Data(X, labels, weight, *about).chosen(threshold, blocks, rows)


def splits_of(cv, labels):
    """The folds of `set_threshold`; None without them."""
    if cv is None:
        return None
    n_rows = n_labelled(labels)
    if not 2 <= cv <= n_rows:
        raise ValueError(
            f"cv must be None or at least 2, and at most the {n_rows} rows of "
            f"X with a label; got {cv!r}."
        )
    return _splits(cv, labels)


def check_some_label(labels):
    """Raise where no row has a label."""
    if not labels.nnz:
        raise ValueError("y must have a label in some row of positive weight.")


class _Data(NamedTuple):
    """Rows that thresholds are fitted to; see :func:`threshold_rule`."""

    X: object
    labels: sparse.csr_array
    weight: np.ndarray
    polytope: str
    may_be_empty: bool
    has_none: bool
    folds: object
    known: np.ndarray | None = None

    def chosen(self, threshold, blocks, rows):
        """The threshold by probabilities of rows that come in an order."""
        labels, weight = self.labels[rows], self.weight[rows]
        known = None if self.known is None else self.known[rows]
        if threshold == "cv":
            return best_threshold(known_only(blocks, known), labels, weight)

        def sizes():
            size = self.folds.sizes(self._expected_size)
            return size, size.out_of_fold[rows]

        if isinstance(threshold, str) and threshold == "auto":
            is_small = self.labels.shape[1] <= _MOST_STACKED
            threshold = "micro" if is_small else LabelCuts("micro")
        rule = get_rule(threshold)
        about = self.polytope, self.may_be_empty, self.has_none
        return rule.fit_sample(Sample(blocks, labels, weight, sizes, *about, known))

    def _expected_size(self):
        X = to_numpy(self.X)
        return expected_size(X, self.labels, self.weight, self.has_none)


def _splits(number, labels):
    """Folds whose training rows have labels; at least two rows have some."""
    labelled = np.diff(labels.indptr) > 0
    shuffled = {"shuffle": True, "random_state": 0}
    if labelled.all():
        return list(KFold(number, **shuffled).split(labelled))
    with warnings.catch_warnings():
        # It warns where there are fewer empty rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        return list(StratifiedKFold(number, **shuffled).split(labelled, labelled))


def _out_of_fold(models, X, splits, given):
    """Probabilities of each row by a model of the other folds.

    Returns
    -------
    probabilities : iterable of ndarray of shape (n_rows, n_classes)
    rows : ndarray of shape (n_samples,)
        The order in which the rows come.
    """
    tests = [test for _, test in splits]
    blocks = [
        model.probabilities(take(X, test), given.of(test)).on_host()
        for model, test in zip(models, tests, strict=True)
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
