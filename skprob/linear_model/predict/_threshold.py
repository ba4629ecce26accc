"""Thresholds of label sets that are fitted to probabilities and labels of rows."""

import warnings
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold

from ..._utils.arrays import take, to_numpy
from ..._utils.columns import in_order
from ..._utils.names import check_parameters
from ..._utils.validation import check_sample_weight
from ...decision import (
    DecisionRule,
    LabelCuts,
    LeastCost,
    Sample,
    as_indicator,
    best_threshold,
    expected_size,
    get_rule,
    has_empty,
    n_labelled,
)
from ...targets import check_target, class_weight_factors
from .._checks import check_X
from .._given import NOTHING
from .._known_threshold import (
    check_labels_of_rule,
    checked_rule,
    is_fitted_to_rows,
    known_threshold,
)

_NO_LABEL = "y must have a label in some row of positive weight."
# Three folds chose cuts as good as five or ten did, on emotions, scene, birds and
# CAL500, and they cost the least.
_N_FOLDS = 3
# Fits to folds have this multiple of the tolerance, and at most this tolerance, if the
# objective is convex. With 1e-2 in place of 1e-4 the rules "micro" and "macro" of
# 1.5-entmax had mean F1 scores within 0.1 points of each other over eight label sets.
_LOOSER, _LOOSEST = 100, 1e-2
# With more rows, the model's own probabilities of training rows are close to those of
# new rows; with fewer, a cut that is chosen by them is too high.
_ROWS_ENOUGH = 5000
#: The rule of "auto" where it is fitted to the model's own training rows.
_IN_SAMPLE = LabelCuts("micro")
# Most labels for which "auto" corrects the probabilities of labels by each other. Time
# grows with the third power of the number of labels, memory with the second.
_MOST_STACKED = 1000


def threshold_rule(
    estimator,
    mapping,
    X,
    target,
    sample_weight,
    weight,
    *,
    n_labels,
    any_empty=False,
    path=None,
    given=NOTHING,
):
    """How the threshold of a fit to label sets is found.

    Parameters
    ----------
    estimator : estimator
        Its ``threshold`` says how.
    mapping : Mapping
        From scores to probabilities.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    target : SparseTarget of shape (n_samples, n_labels)
        Or of one more column, that of the class for rows without a label.
    sample_weight : ndarray of shape (n_samples,)
        Weights of the rows in the F1 score.
    weight : ndarray of shape (n_samples,)
        Their weights in the fit, of which rows of weight zero are no part.
    n_labels : int
    any_empty : bool, default=False
        Whether there were rows without a label that are not among these.
    path : object, default=None
        What fits along a path share: ``path.fold_models(estimator, X, labels, weight,
        folds)`` iterates over models that are fitted to each fold's training rows,
        and ``path.sizes(make)`` is what ``make()`` gave the first time. None stands
        for fits from zero.
    given : Given
        Of the rows. Only without `path`.

    Returns
    -------
    rule : callable
        ``rule(probabilities)`` is the threshold of a model whose probabilities, as
        blocks of rows, are ``probabilities(X, given)``.

    Raises
    ------
    ValueError
        If the estimator's threshold is not allowed.
    """
    threshold = estimator.threshold
    if not is_fitted_to_rows(threshold):
        cuts = known_threshold(threshold, n_labels)
        return lambda probabilities: cuts
    labels = _indicator(target)[:, :n_labels]
    fit_weight, weight = weight, sample_weight
    has_none = target.shape[1] > n_labels
    fitted = fit_weight > 0
    if not fitted.all():  # All rows need no copy, which may not fit.
        labels, given = labels[fitted], given.of(fitted)
        X = take(X, np.flatnonzero(fitted))
        fit_weight, weight = fit_weight[fitted], weight[fitted]
    if not labels.nnz:
        raise ValueError(_NO_LABEL)
    path = path or _Alone()
    any_empty = any_empty or has_empty(labels)
    data = _Data(X, labels, weight, mapping.polytope, any_empty, has_none, path)
    n_folds = min(_N_FOLDS, n_labelled(labels))
    if n_folds == 1 or (threshold == "auto" and len(weight) > _ROWS_ENOUGH):
        if threshold == "auto":
            threshold = _IN_SAMPLE
        return lambda probabilities: data.chosen(
            threshold, probabilities(X, given).on_host(), slice(None)
        )
    found = []

    def cross_validated(probabilities):
        # It does not depend on the model, so that callbacks can ask at every step.
        if not found:
            folds = _folds(n_folds, labels)
            models = path.fold_models(estimator, X, labels, fit_weight, folds, given)
            blocks, order = _out_of_fold(models, X, folds, given)
            found.append(data.chosen(threshold, blocks, order))
        return found[0]

    return cross_validated


def changed_threshold(model, threshold, X, y, sample_weight, cv, **given):
    """The threshold that ``set_threshold`` gives a fitted model."""
    kind = model.target_type_
    if isinstance(threshold, LeastCost):
        if X is not None or y is not None:
            raise ValueError(f"threshold={threshold!r} needs no rows: omit X and y.")
        return checked_rule(threshold, model.classes_, kind)
    if kind != "label_set":
        raise ValueError(
            "set_threshold is for models that were fitted to label sets or, with a "
            "LeastCost, to class labels; this one was fitted to "
            f"target_type={kind!r}, and the threshold is {threshold!r}."
        )
    constraints = {"threshold": model._parameter_constraints["threshold"]}
    check_parameters(constraints, {"threshold": threshold}, "set_threshold")
    if (X is None) != (y is None):
        raise ValueError("X and y must be given together, or neither of them.")
    is_rule, n_classes = isinstance(threshold, DecisionRule), model._n_classes
    if not is_fitted_to_rows(threshold) or (is_rule and X is None):
        check_labels_of_rule(threshold, model.classes_)
        return known_threshold(threshold, n_classes)
    if X is None:
        raise ValueError(f"threshold={threshold!r} needs rows: give X and y.")
    X = check_X(model, X, reset=False)
    y = check_target(in_order("y", y, model.classes_), "y", len_of=X)
    labels = as_indicator(y, (X.shape[0], n_classes), name="y")
    weight, given = check_sample_weight(sample_weight, X), model._given(X, **given)
    keep = weight > 0
    labels, weight, given = labels[keep], weight[keep], given.of(keep)
    X = take(X, np.flatnonzero(keep))
    if not labels.nnz:
        raise ValueError(_NO_LABEL)
    if cv is None:
        blocks = model._probabilities(X, **given.arguments).on_host()
        rows = slice(None)
    else:
        n_rows = n_labelled(labels)
        if not 2 <= cv <= n_rows:
            raise ValueError(
                f"cv must be None or at least 2, and at most the {n_rows} rows of "
                f"X with a label; got {cv!r}."
            )
        folds = _folds(cv, labels)
        encoded = model._encoded(labels, weight.dtype, to_numpy(model.classes_))
        fit_weight = weight.copy()
        labelled = slice(None) if encoded.labelled is None else encoded.labelled
        fit_weight[labelled] *= class_weight_factors(
            model.class_weight, encoded, weight[labelled]
        )
        models = _Alone().fold_models(model, X, labels, fit_weight, folds, given)
        blocks, rows = _out_of_fold(models, X, folds, given)
    polytope, has_none = model.mapping_.polytope, model.has_none_class_
    path = _Alone()
    data = _Data(X, labels, weight, polytope, has_empty(labels), has_none, path)
    return data.chosen(threshold, blocks, rows)


def fold_template(estimator):
    """An unfitted classifier for the folds, whose fits may be less accurate."""
    template = estimator._unfitted()
    # The weights of the classes are in those of the rows.
    template.set_params(threshold=0, class_weight=None)
    loss = template._checked_loss(template._checked_mapping())
    if loss.is_convex and template.similarity == "dot":
        template.tol = max(template.tol, min(_LOOSER * template.tol, _LOOSEST))
    return template


class _Data(NamedTuple):
    """Rows that thresholds are fitted to; `path` is as for :func:`threshold_rule`."""

    X: object
    labels: sparse.csr_array
    weight: np.ndarray
    polytope: str
    may_be_empty: bool
    has_none: bool
    path: object

    def chosen(self, threshold, blocks, rows):
        """The threshold by probabilities of rows that come in an order."""
        labels, weight = self.labels[rows], self.weight[rows]
        if threshold == "cv":
            return best_threshold(blocks, labels, weight)

        def sizes():
            size = self.path.sizes(self._expected_size)
            return size, size.out_of_fold[rows]

        if isinstance(threshold, str) and threshold == "auto":
            is_small = self.labels.shape[1] <= _MOST_STACKED
            threshold = "micro" if is_small else LabelCuts("micro")
        rule = get_rule(threshold)
        about = self.polytope, self.may_be_empty, self.has_none
        return rule.fit_sample(Sample(blocks, labels, weight, sizes, *about))

    def _expected_size(self):
        X = to_numpy(self.X)
        return expected_size(X, self.labels, self.weight, self.has_none)


class _Alone:
    """What a single fit uses: nothing is shared with other fits."""

    _known = None

    @staticmethod
    def fold_models(estimator, X, labels, weight, folds, given):
        """Models of the folds, fitted one by one."""
        for train, _ in folds:
            model = fold_template(estimator).set_params(warm_start=False, verbose=0)
            with warnings.catch_warnings():
                # The fit to all rows warns, and a fold may be without a rare label.
                warnings.simplefilter("ignore", UserWarning)
                known = {"sample_weight": weight[train], **given.of(train).arguments}
                model.fit(take(X, train), labels[train], **known)
            yield model

    def sizes(self, make):
        """The result of the first call."""
        if self._known is None:
            self._known = make()
        return self._known


def _folds(number, labels):
    """Folds whose training rows have labels; at least two rows have some."""
    labelled = np.diff(labels.indptr) > 0
    how = {"shuffle": True, "random_state": 0}
    if labelled.all():
        return list(KFold(number, **how).split(labelled))
    with warnings.catch_warnings():
        # It warns where there are fewer empty rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        return list(StratifiedKFold(number, **how).split(labelled, labelled))


def _out_of_fold(models, X, folds, given):
    """Probabilities of each row by a model of the other folds.

    Returns
    -------
    probabilities : iterable of ndarray of shape (n_rows, n_classes)
    rows : ndarray of shape (n_samples,)
        The order in which the rows come.
    """
    tests = [test for _, test in folds]
    blocks = [
        model._probabilities(take(X, test), **given.of(test).arguments).on_host()
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
