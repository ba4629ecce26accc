"""The rows that a fit is given: what is learnt from them, and the blocks they make."""

import warnings
from contextlib import contextmanager

import numpy as np

from ..objective import split_rows
from ..targets import (
    ChoiceSetTarget,
    SmoothedTarget,
    check_available,
    check_target_available,
    class_weight_factors,
    column_names,
)
from ._checks import check_fit_data, is_dask, refuse_for_dask, trial_scores
from ._threshold import threshold_rule


@contextmanager
def training_rows(estimator, X, y, sample_weight, available=None):
    """The checked rows of a user's arguments of `fit`, wherever they are."""
    if any(is_dask(data) for data in (X, y, sample_weight, available)):
        from ._dask import dask_rows

        refuse_for_dask(available)
        with dask_rows(estimator, X, y, sample_weight) as rows:
            yield rows
        return
    given = y
    X, y, sample_weight = check_fit_data(estimator, X, y, sample_weight)
    names = column_names(given, y.shape, estimator.class_names)
    encoded = estimator._encoded(y, X.dtype, names)
    metadata = {"sample_weight": sample_weight}
    if available is not None:
        metadata["available"] = available
        available = _choice_sets(available, X.shape[0], encoded)
    rows = RowsInMemory(estimator, X, encoded, sample_weight, available)
    rows.data = {"X": X, "y": y, "metadata": metadata}
    yield rows


def _choice_sets(available, n_samples, encoded):
    """The classes that each labelled row may choose from, its target among them."""
    shape = n_samples, len(encoded.classes)
    available, rows = check_available(available, shape), np.arange(n_samples)
    if encoded.labelled is not None:
        available, rows = available[encoded.labelled], rows[encoded.labelled]
    if encoded.has_none:
        # Every row may have no label.
        available = np.append(available, np.ones((n_samples, 1), dtype=bool), axis=1)
    check_target_available(encoded.target, available, rows)
    return available


class RowsInMemory:
    """Rows in memory.

    Parameters
    ----------
    estimator : estimator
        Its ``class_weight`` and ``label_smoothing`` are read.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    encoded : EncodedTarget
        Of the same rows.
    sample_weight : ndarray of shape (n_samples,)
    available : ndarray of bool of shape (n_labelled, n_scores), default=None
        The classes that each row with a target may choose from.

    Attributes
    ----------
    has_choice_sets : bool
        Whether there are such.
    kind, classes, has_none, n_scores
        As of the encoded target.
    dtype : dtype
        Of X.
    n_rows, n_unlabelled : int
        Rows in all, and of these the ones that carry no target, and are left out.
    class_totals : ndarray of shape (n_scores,)
        Sum of the target, class by class.
    total_weight : float
        Sum of the weights of the others, classes' weights included.
    """

    def __init__(self, estimator, X, encoded, sample_weight, available=None):
        self.kind, self.classes, self.dtype = encoded.kind, encoded.classes, X.dtype
        self.has_none, self.n_scores = encoded.has_none, encoded.n_scores
        rows, self.n_rows, self.n_unlabelled = encoded.labelled, X.shape[0], 0
        if rows is not None:
            self.n_unlabelled = np.count_nonzero(~rows)
            X, sample_weight = X[rows], sample_weight[rows]
        self._smoothing, self._available = estimator.label_smoothing, available
        self.has_choice_sets = available is not None
        self._X, self._target, self._sample_weight = X, encoded.target, sample_weight
        with np.errstate(over="ignore", invalid="ignore"):
            factors = class_weight_factors(
                estimator.class_weight, encoded, sample_weight
            )
            self._weight = sample_weight * factors
            self.total_weight = self._weight.sum()

    @property
    def class_totals(self):
        return self._target.class_totals(np.ones(self._target.shape[0]))

    def blocks(self, inputs, polytope):
        """Blocks of the rows that a function makes of those of X."""
        return split_rows(inputs(self._X), self._learnt(polytope), self._weight)

    def check_target(self, loss):
        """Raise where the loss does not allow the target of a row."""
        loss.check_target(self._learnt(loss.polytope))

    def _learnt(self, polytope):
        """The target with label smoothing, among the classes that are available."""
        how = self._smoothing, polytope
        if self.has_choice_sets:
            return ChoiceSetTarget.smoothed(self._target, self._available, *how)
        return smoothed(self._target, *how)

    def trial_scores(self, inputs, polytope):
        """Scores of some rows under random coefficients."""
        X = inputs(self._X[:64])
        return trial_scores(X, self.n_scores, polytope)

    def threshold_rule(self, estimator, mapping, path=None):
        """How the threshold of a fit to label sets is found."""
        data = self._X, self._target, self._sample_weight, self._weight
        n_labels, available = len(self.classes), self._available
        return threshold_rule(
            estimator,
            mapping,
            *data,
            n_labels=n_labels,
            any_empty=self.n_unlabelled > 0,
            path=path,
            available=None if available is None else available[:, :n_labels],
        )


def smoothed(target, amount, polytope):
    """A target with so much label smoothing, which may be none."""
    return SmoothedTarget(target, amount, polytope) if amount else target


def warn_of_lost_labels(rows):
    """Tell of rows without a label, and of labels without a row, in a fit."""
    if rows.n_unlabelled:
        warnings.warn(
            f"{rows.n_unlabelled} of {rows.n_rows} rows have no label; they carry no "
            "target and are left out of the fit.",
            UserWarning,
            stacklevel=4,
        )
    absent = []
    if rows.kind == "label_set":
        absent = np.flatnonzero(rows.class_totals[: len(rows.classes)] == 0)
    if len(absent):
        shown = f"{absent[:5].tolist()}{' and so on' if len(absent) > 5 else ''}"
        warnings.warn(
            f"{len(absent)} of {len(rows.classes)} labels are in no row (columns "
            f"{shown} of y); they are kept, with the target zero.",
            UserWarning,
            stacklevel=4,
        )
