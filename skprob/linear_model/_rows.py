"""The rows that a fit is given: what is learnt from them, and the blocks they make."""

import warnings
from contextlib import contextmanager

import numpy as np

from .._arrays import beside, is_foreign, numpy_dtype, take, to_numpy
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
    names, given = column_names(y), y
    if is_foreign(X):
        estimator._check_array_api()
    X, y, sample_weight = check_fit_data(estimator, X, y, sample_weight)
    encoded = estimator._encoded(y, numpy_dtype(X), None if y.ndim == 1 else names)
    metadata = {"sample_weight": sample_weight}
    if available is not None:
        metadata["available"] = available
        available = _choice_sets(available, X.shape[0], encoded)
    rows = RowsInMemory(estimator, X, encoded, sample_weight, available)
    rows.data = {"X": X, "y": y, "metadata": metadata}
    if is_foreign(given) and rows.classes.dtype.kind in "biuf":
        rows.labels = beside(rows.classes, given)
    yield rows


def _choice_sets(available, n_samples, encoded):
    """The classes that each labelled row may choose from, its target among them."""
    shape = n_samples, len(encoded.classes)
    available, rows = check_available(available, shape), np.arange(n_samples)
    if encoded.labelled is not None:
        available, rows = available[encoded.labelled], rows[encoded.labelled]
    check_target_available(encoded.target, available, rows)
    return available


class RowsInMemory:
    """Rows in memory.

    Parameters
    ----------
    estimator : estimator
        Its ``class_weight`` and ``label_smoothing`` are read.
    X : array or CSR matrix of shape (n_samples, n_features)
        Of any library.
    encoded : EncodedTarget
        Of the same rows.
    sample_weight : ndarray of shape (n_samples,)
    available : ndarray of bool of shape (n_labelled, n_classes), default=None
        The classes that each row with a target may choose from.

    Attributes
    ----------
    has_choice_sets : bool
        Whether there are such.
    kind, classes
        As of the encoded target.
    labels : array of shape (n_classes,)
        The classes in the library, and on the device, of y.
    dtype : dtype
        Of X.
    n_rows, n_unlabelled : int
        Rows in all, and of these the ones that carry no target, and are left out.
    class_totals : ndarray of shape (n_classes,)
        Sum of the target, class by class.
    total_weight : float
        Sum of the weights of the others, classes' weights included.
    """

    def __init__(self, estimator, X, encoded, sample_weight, available=None):
        self.kind, self.classes = encoded.kind, encoded.classes
        self.labels, self.dtype = encoded.classes, numpy_dtype(X)
        rows, self.n_rows, self.n_unlabelled = encoded.labelled, X.shape[0], 0
        if rows is not None:
            self.n_unlabelled = np.count_nonzero(~rows)
            X, sample_weight = take(X, np.flatnonzero(rows)), sample_weight[rows]
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

    def beside_X(self, array):
        """An array in the library, and on the device, of X."""
        return beside(array, self._X)

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
        X = inputs(to_numpy(take(self._X, slice(64))))
        return trial_scores(X, len(self.classes), polytope)

    def threshold_rule(self, estimator, mapping, path=None):
        """How the threshold of a fit to label sets is found."""
        data = self._X, self._target, self._sample_weight, self._weight
        return threshold_rule(
            estimator,
            mapping,
            *data,
            any_empty=self.n_unlabelled > 0,
            path=path,
            available=self._available,
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
        absent = np.flatnonzero(rows.class_totals == 0)
    if len(absent):
        shown = f"{absent[:5].tolist()}{' and so on' if len(absent) > 5 else ''}"
        warnings.warn(
            f"{len(absent)} of {len(rows.classes)} labels are in no row (columns "
            f"{shown} of y); they are kept, with the target zero.",
            UserWarning,
            stacklevel=4,
        )
