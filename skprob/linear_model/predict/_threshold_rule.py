"""Functions that choose the threshold of a fit to label sets."""

from abc import ABC, abstractmethod
from functools import cached_property

from ...decision import LabelCuts, n_labelled
from ._out_of_fold import out_of_fold, splits_with_labels

# Three folds choose cuts as good as those of five or ten folds on emotions, scene,
# birds and CAL500. Two folds take 0.45 times as long on enron and bibtex, and lower the
# micro-F1 of new rows on yeast by 0.2 ± 0.1 points (softmax, ten splits).
_N_FOLDS = 3
# Number of rows above which the model's probabilities of its training rows are close to
# those of new rows. With fewer rows a cut that is chosen from them is too high.
_ENOUGH_ROWS = 5000
#: The rule of "auto" that is fitted to the probabilities of the training rows.
_IN_SAMPLE = LabelCuts("micro")


class ThresholdRule(ABC):
    """A function that chooses the threshold of a model of label sets."""

    @abstractmethod
    def __call__(self, probabilities, left_out=None, start=None):
        """The threshold of a model.

        Callbacks may call it at every iteration, without the last two arguments.

        Parameters
        ----------
        probabilities : callable
            ``probabilities(X, given)`` are those of the model, as blocks of rows.
        left_out : callable, default=None
            ``left_out(numbers)`` is an array of the probabilities of the rows of these
            numbers, each by the model without the row; None where it is not accurate.
        start : LastFit, default=None
            The fit to all rows, from which fits to folds may start.

        Returns
        -------
        threshold : float, ndarray of shape (n_classes,) or DecisionRule
        """


class KnownThreshold(ThresholdRule):
    """A threshold that needs no rows."""

    def __init__(self, threshold):
        self._threshold = threshold

    def __call__(self, probabilities, left_out=None, start=None):
        return self._threshold


class InSampleThreshold(ThresholdRule):
    """A threshold that is fitted to the model's probabilities of its training rows.

    Parameters
    ----------
    threshold : str or DecisionRule
    rows : LabelledRows
    given : Given
        Available classes and offsets of these rows.
    """

    def __init__(self, threshold, rows, given):
        self._threshold, self._rows, self._given = threshold, rows, given

    def __call__(self, probabilities, left_out=None, start=None):
        rows = self._rows
        blocks = probabilities(rows.X, self._given).on_host()
        return rows.fitted_threshold(self._threshold, blocks, slice(None))


class OutOfFoldThreshold(ThresholdRule):
    """A threshold that is fitted to probabilities of rows by models without them.

    The models are fitted to folds, unless the probabilities of left-out rows are given
    and do not reveal the labels of the rows.

    Parameters
    ----------
    threshold, rows, numbers, fit_weight, given, folds
        Arguments of :func:`threshold_rule`.
    n_folds : int
    """

    def __init__(self, threshold, rows, numbers, fit_weight, given, folds, n_folds):
        self._threshold, self._rows, self._numbers = threshold, rows, numbers
        self._fit_weight, self._given = fit_weight, given
        self._folds, self._n_folds = folds, n_folds

    def __call__(self, probabilities, left_out=None, start=None):
        rows, threshold = self._rows, self._threshold
        p = None if left_out is None else left_out(self._numbers)
        if p is not None:
            of_fit = probabilities(rows.X, self._given).on_host()
            if not rows.labels_are_revealed(threshold, p, of_fit):
                return rows.fitted_threshold(threshold, [p], slice(None))
        if start is not None:
            return self._by_models(self._folds.starting_from(start))
        return self._by_folds

    @cached_property
    def _by_folds(self):
        """The threshold by fits to folds that start from zero."""
        return self._by_models(self._folds)

    def _by_models(self, folds):
        rows, given = self._rows, self._given
        splits = splits_with_labels(self._n_folds, rows.labels)
        in_loss = given if rows.known is None else given.with_known(rows.known)
        models = folds.models(rows.X, rows.labels, self._fit_weight, splits, in_loss)
        blocks, order = out_of_fold(models, rows.X, splits, given)
        return rows.fitted_threshold(self._threshold, blocks, order)


def threshold_rule(threshold, rows, numbers, fit_weight, given, folds):
    """The :class:`ThresholdRule` of a fit, for a threshold that is fitted to rows.

    Parameters
    ----------
    threshold : str or DecisionRule
    rows : LabelledRows
        The rows of the fit with a positive weight.
    numbers : ndarray of int of shape (n_samples,)
        Their numbers among the rows with a target.
    fit_weight : ndarray of shape (n_samples,)
        Their weights in the fit.
    given : Given
        Available classes and offsets of these rows.
    folds : SeparateFolds
        ``folds.models(X, labels, weight, splits, given)`` iterates over models that are
        fitted to each fold's training rows.

    Returns
    -------
    rule : ThresholdRule
    """
    n_folds = min(_N_FOLDS, n_labelled(rows.labels))
    if n_folds == 1 or (threshold == "auto" and len(rows.weight) > _ENOUGH_ROWS):
        threshold = _IN_SAMPLE if threshold == "auto" else threshold
        return InSampleThreshold(threshold, rows, given)
    return OutOfFoldThreshold(
        threshold,
        rows,
        numbers,
        fit_weight=fit_weight,
        given=given,
        folds=folds,
        n_folds=n_folds,
    )
