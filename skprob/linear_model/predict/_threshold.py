"""Thresholds of label sets that are fitted to probabilities and labels of rows."""

import warnings
from functools import cached_property
from itertools import chain

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from ..._utils.arrays import take, to_numpy
from ..._utils.checks import is_integer
from ..._utils.parts import Repeatable
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

# Three folds chose cuts as good as five or ten did, on emotions, scene, birds and
# CAL500, and they cost the least.
_N_FOLDS = 3
# With more rows, the model's own probabilities of training rows are close to those of
# new rows; with fewer, a cut that is chosen by them is too high.
_ROWS_ENOUGH = 5000
#: The rule of "auto" where it is fitted to the model's own training rows.
_IN_SAMPLE = LabelCuts("micro")
# Blocks of fewer probabilities are joined to blocks of at least so many (128 KiB): a
# search over label sets of 75 rows takes 0.8 times as long.
_LARGE_BLOCK = 1 << 14
# Most labels for which "auto" corrects the probabilities of labels by each other. Time
# grows with the third power of the number of labels, memory with the second.
_MOST_STACKED = 1000


class LabelledRows:
    """Rows with known labels, by which thresholds of label sets are chosen.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    labels : CSR array of shape (n_samples, n_labels)
        Indicator.
    weight : ndarray of shape (n_samples,)
        Positive; weights of the rows in the F1 score.
    polytope : {"simplex", "cube"}
        The polytope of the probabilities.
    has_none : bool
        Whether there is a class for rows without a label.
    any_empty : bool, default=False
        Whether there were rows without a label that are not among these.
    known : ndarray of bool of shape (n_samples, n_labels), default=None
        Which entries of the labels are known; None if all are.
    """

    def __init__(
        self, X, labels, weight, polytope, has_none, any_empty=False, known=None
    ):
        if not labels.nnz:
            raise ValueError(
                "y must have a label in at least one row of positive weight; it has "
                "none."
            )
        self.X, self.labels, self.weight, self.known = X, labels, weight, known
        self._polytope, self._has_none = polytope, has_none
        self._may_be_empty = any_empty or has_empty(labels, known)

    def threshold(self, threshold, blocks, order):
        """The threshold with the best score by probabilities of rows.

        Parameters
        ----------
        threshold : str or DecisionRule
        blocks : iterable of ndarray of shape (n_rows, n_labels)
            The probabilities; it can be iterated over any number of times.
        order : ndarray of int or slice
            The numbers of the rows, in the order in which they come.

        Returns
        -------
        threshold : float or DecisionRule
        """
        labels, weight = self.labels[order], self.weight[order]
        known = None if self.known is None else self.known[order]
        if threshold == "cv":
            return best_threshold(known_only(blocks, known), labels, weight)

        def sizes():
            return self._expected_size, self._expected_size.out_of_fold[order]

        if isinstance(threshold, str) and threshold == "auto":
            is_small = self.labels.shape[1] <= _MOST_STACKED
            threshold = "micro" if is_small else LabelCuts("micro")
        sample = Sample(
            blocks,
            labels,
            weight,
            sizes,
            self._polytope,
            self._may_be_empty,
            self._has_none,
            known,
        )
        return get_rule(threshold).fit_sample(sample)

    @cached_property
    def _expected_size(self):
        X = to_numpy(self.X)
        return expected_size(X, self.labels, self.weight, self._has_none)


def threshold_rule(threshold, rows, numbers, fit_weight, given, folds):
    """How the threshold of a fit to label sets is chosen.

    Parameters
    ----------
    threshold : str or DecisionRule
        One that is fitted to rows.
    rows : LabelledRows
        The rows of the fit with a positive weight.
    numbers : ndarray of int of shape (n_samples,)
        Their numbers among the rows with a target.
    fit_weight : ndarray of shape (n_samples,)
        Their weights in the fit.
    given : Given
        Available classes and offsets of these rows.
    folds : SeparateFolds
        ``folds.models(X, labels, weight, folds, given)`` iterates over models that are
        fitted to each fold's training rows.

    Returns
    -------
    choose_threshold : callable
        ``choose_threshold(probabilities, left_out=None, start=None)`` is the threshold
        of a model whose probabilities, as blocks of rows, are
        ``probabilities(X, given)``. ``left_out(rows)`` is an array of the probabilities
        of the rows of these numbers, each by the model without the row. If it is None,
        models are fitted to folds, from the ``LastFit`` `start` of all rows if it is
        given.
    """
    n_folds = min(_N_FOLDS, n_labelled(rows.labels))
    if n_folds == 1 or (threshold == "auto" and len(rows.weight) > _ROWS_ENOUGH):
        if threshold == "auto":
            threshold = _IN_SAMPLE
        return lambda probabilities, **near: rows.threshold(
            threshold, probabilities(rows.X, given).on_host(), slice(None)
        )
    chosen = {}

    def cross_validated(probabilities, left_out=None, start=None):
        p = None if left_out is None else left_out(numbers)
        if p is not None:
            return rows.threshold(threshold, [p], slice(None))
        # Without a start it does not depend on the model, so that callbacks can call
        # this function at every step.
        key = start is None
        if key not in chosen:
            splits = _splits(n_folds, rows.labels)
            in_loss = given
            if rows.known is not None:
                in_loss = given.with_known(rows.known)
            started = folds if start is None else folds.starting_from(start)
            models = started.models(rows.X, rows.labels, fit_weight, splits, in_loss)
            blocks, order = _out_of_fold(models, rows.X, splits, given)
            chosen[key] = rows.threshold(threshold, blocks, order)
        return chosen[key]

    return cross_validated


def changed_threshold(threshold, model, rows, given, splits, folds):
    """The threshold of a fitted model that is chosen for other rows.

    Parameters
    ----------
    threshold : str or DecisionRule
        A rule that is fitted to rows.
    model : FittedModel
    rows : LabelledRows
    given : Given
        Available classes and offsets of these rows.
    splits : list of (train, test) or None
        Folds by whose models the probabilities are computed; None stands for those of
        the fitted model.
    folds : SeparateFolds or None
        Fits their models; None with the splits.

    Returns
    -------
    threshold : float, ndarray of shape (n_classes,) or DecisionRule
    """
    if splits is None:
        blocks = model.probabilities(rows.X, given).on_host()
        return rows.threshold(threshold, blocks, slice(None))
    spec, weight = folds.spec, rows.weight
    encoded = spec.encoded(rows.labels, weight.dtype, to_numpy(model.classes))
    fit_weight = weight.copy()
    labelled = slice(None) if encoded.labelled is None else encoded.labelled
    fit_weight[labelled] *= class_weight_factors(
        spec.class_weight, encoded, weight[labelled]
    )
    models = folds.models(rows.X, rows.labels, fit_weight, splits, given)
    blocks, order = _out_of_fold(models, rows.X, splits, given)
    return rows.threshold(threshold, blocks, order)


def splits_of(cv, labels):
    """The folds of `set_threshold`; None without them."""
    if cv is None:
        return None
    n_rows = n_labelled(labels)
    if not is_integer(cv) or not 2 <= cv <= n_rows:
        raise ValueError(
            "cv must be None or an integer of at least 2, and at most the "
            f"{n_rows} rows of X with a label; got {cv!r}."
        )
    return _splits(cv, labels)


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
    return chained(blocks), np.concatenate(tests)


def chained(iterables):
    """Blocks of several iterables one after the other, any number of times."""
    return Repeatable(_large_blocks, iterables)


def _large_blocks(iterables):
    """Blocks one after the other; small ones are joined.

    With few rows, calls take longer than the arithmetic.
    """
    parts, size = [], 0
    for block in chain.from_iterable(iterables):
        parts.append(block)
        size += block.size
        if size >= _LARGE_BLOCK:
            yield _joined(parts)
            parts, size = [], 0
    if parts:
        yield _joined(parts)


def _joined(parts):
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
