"""The rows of a fit, from a user's arguments to targets, weights and blocks."""

import functools
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._utils.arrays import (
    is_dask,
    is_foreign,
    is_host,
    moved,
    numpy_dtype,
    take,
    to_numpy,
)
from .._utils.checks import check_sample_weight, check_target, check_X, in_order
from .._utils.warnings import warn
from ..data import as_design
from ..objective import split_rows
from ..solvers import Tuning
from ..targets import (
    EncodedTarget,
    class_weight_factors,
    column_names,
    smoothed_target,
)
from ._given import NOTHING, Given
from ._trials import trial_scores


def training_rows(estimator, spec, X, y, sample_weight, available, offset):
    """A context with the checked rows of a user's arguments of `fit`.

    Its value is a RowsInMemory or DaskRows. At its end rows on workers are freed.
    """
    if any(map(is_dask, (X, y, sample_weight, available, offset))):
        from .dask import dask_rows, refuse_for_dask  # Imported when used.

        refuse_for_dask(available=available, offset=offset)
        check_columns = functools.partial(check_X, estimator, reset=True)
        return dask_rows(spec, check_columns, X, y, sample_weight)
    data = checked_data(estimator, spec, X, y, sample_weight, available, offset)
    rows = RowsInMemory(spec, data)
    if is_foreign(y) and rows.classes.dtype.kind in "biuf":
        rows.classes_like_y = moved(rows.classes, y)
    return nullcontext(rows)


def checked_data(estimator, spec, X, y, sample_weight, available, offset):
    """The :class:`TrainingData` of a user's arguments of `fit`, which are checked."""
    if is_foreign(X):
        estimator._check_array_api(spec)
    if spec.class_names is not None:
        y = in_order("y", y, np.asarray(spec.class_names))
    named_y = y  # The check of y drops the names of its columns.
    X = check_X(estimator, X, reset=True)
    y = check_target(y, "y", len_of=X, may_have_unknown=True)
    sample_weight = check_sample_weight(sample_weight, X)
    dtype = numpy_dtype(X)
    names = known = None
    if y.ndim == 2 or spec.class_names is not None:
        names = column_names(named_y, y.shape, spec.class_names)
    if y.ndim == 2:
        from ._unknown_labels import known_labels  # Imported when used.

        y, known, sample_weight = known_labels(spec, y, sample_weight)
    encoded = spec.encoded(y, dtype, names)
    given = NOTHING
    if available is not None or offset is not None:
        given = Given.checked(
            available,
            offset,
            X.shape[0],
            encoded.classes,
            target_type=encoded.target_type,
            is_pair=spec.is_pair(encoded),
            dtype=dtype,
        )
    return TrainingData(X, y, sample_weight, given, encoded, known)


class TrainingData(NamedTuple):
    """Checked data of a fit, or of some of its rows, with their encoded target.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray or CSR array
        Labels, label sets, distributions or candidates, as ``target_type`` says.
    sample_weight : ndarray of shape (n_samples,)
    given : Given
        Available classes and offsets of the rows.
    encoded : EncodedTarget
        The target that `y` stands for, and the classes.
    known : ndarray of bool of shape (n_samples, n_classes) or None
        Which entries of `y` are known; None if all are.
    """

    X: object
    y: object
    sample_weight: np.ndarray
    given: Given
    encoded: EncodedTarget
    known: np.ndarray | None = None

    def take(self, rows):
        """Some of the rows."""
        return TrainingData(
            self.X[rows],
            self.y[rows],
            self.sample_weight[rows],
            given=self.given.of(rows),
            encoded=self.encoded.take(rows),
            known=None if self.known is None else self.known[rows],
        )


class RowsInMemory:
    """Rows in memory.

    Parameters
    ----------
    spec : FitSpec
        Its ``class_weight`` and ``label_smoothing`` are read.
    data : TrainingData
        Its X is an array of any library or a CSR matrix.

    Attributes
    ----------
    data : TrainingData
        All rows, as given.
    given, given_in_loss : Given
        Available classes and offsets of the rows with a target, for n_scores classes.
        In the loss, labels that are not known are not available.
    target_type, classes, has_none, n_scores
        Attributes of the encoded target.
    classes_like_y : array of shape (n_classes,)
        The classes in the library, and on the device, of y.
    dtype : dtype
        Type of X.
    n_rows, n_unlabelled : int
        Number of all rows, and of those without a target, which are left out.
    class_totals : ndarray of shape (n_scores,)
        Sum of the targets of each class.
    is_on_host : bool
        Whether X is NumPy's or sparse.
    X : array or CSR matrix of shape (n_labelled, n_features)
        X of the rows with a target.
    wide_X : ndarray, CSR matrix or None
        The same, if it is on the host and has more columns than rows.
    target : target of shape (n_labelled, n_scores)
        Target of the rows with a target, without label smoothing.
    known : ndarray of bool of shape (n_labelled, n_labels) or None
        Which entries of the target are known; None if all are.
    sample_weight, weight : ndarray of shape (n_labelled,)
        Weights of the rows with a target, without class weights and with them.
    total_weight : float
        Sum of these weights: positive and finite, or ValueError is raised.
    """

    is_remote = False

    def __init__(self, spec, data):
        X, sample_weight, encoded = data.X, data.sample_weight, data.encoded
        self.data = data
        self.n_rows, self.n_unlabelled, self.dtype = X.shape[0], 0, numpy_dtype(X)
        if encoded.labelled is not None:
            self.n_unlabelled = np.count_nonzero(~encoded.labelled)
            X = take(X, np.flatnonzero(encoded.labelled))
            sample_weight = sample_weight[encoded.labelled]
        self.X, self.sample_weight = X, sample_weight
        self.is_on_host = is_host(X)
        is_wide = self.is_on_host and X.shape[0] < X.shape[1]
        self.wide_X = X if is_wide else None

        # The target.
        self.target_type, self.has_none = encoded.target_type, encoded.has_none
        self.classes = self.classes_like_y = encoded.classes
        self.target, self.n_scores = encoded.target, encoded.target.shape[1]
        self._smoothing = spec.label_smoothing

        # Offsets and available classes.
        self.given, self.known = data.given, data.known
        if self.given is not NOTHING:
            self.given = self.given.of_target(encoded)
        self.given_in_loss = self.given
        if self.known is not None:
            # Entries of the target that are not known are only left out of the loss.
            self.given_in_loss = self.given.with_known(self.known)

        # Weights.
        self.weight = sample_weight
        with np.errstate(over="ignore", invalid="ignore"):
            if spec.class_weight is not None:
                factors = class_weight_factors(
                    spec.class_weight, encoded, sample_weight
                )
                self.weight = sample_weight * factors
            self.total_weight = self.weight.sum()
        check_total_weight(self.total_weight)

    @property
    def for_callbacks(self):
        """X, y and metadata of the fit, as scikit-learn's callbacks take them."""
        data = self.data
        metadata = {"sample_weight": data.sample_weight} | data.given.arguments
        return {"X": data.X, "y": data.y, "metadata": metadata}

    @property
    def class_totals(self):
        return self.target.class_totals(np.ones(self.target.shape[0]))

    def blocks(self, polytope, transform=None, tuning=Tuning()):
        """Blocks of rows; a transform is a function of the rows of X."""
        return split_rows(
            self.X if transform is None else transform(self.X),
            self._smoothed_target(polytope),
            self.weight,
            offset=self.given.offset,
            available=self.given_in_loss.available,
            total=self.total_weight,
            tuning=tuning,
        )

    @property
    def is_sparse(self):
        """Whether X is a sparse matrix."""
        return sparse.issparse(self.X)

    def mean_and_deviation(self):
        """Weighted mean and deviation of each feature."""
        return as_design(self.X).moments(self.weight)[1:]

    def check_target(self, loss):
        """Raise where the loss does not allow the target of a row."""
        loss.check_target(self._smoothed_target(loss.traits.polytope))

    def _smoothed_target(self, polytope):
        """The target with label smoothing."""
        if self._smoothing == 0:
            return self.target
        available = self.given_in_loss.available
        return smoothed_target(self.target, self._smoothing, polytope, available)

    def trial_scores(self, polytope, transform=None):
        """Scores of some rows under random coefficients."""
        X = to_numpy(take(self.X, slice(64)))
        X = X if transform is None else transform(X)
        return trial_scores(X, self.n_scores, polytope)


def check_total_weight(total):
    """Raise where the sum of the rows' weights is not positive and finite."""
    if not (0 < total < np.inf):
        raise ValueError(
            "The weights of the rows that are fitted (sample_weight times "
            f"class_weight) must have a positive, finite sum; it is {total:.6g}."
        )


def warn_of_target(rows):
    """Warn of a target that may be a mistake.

    If most classes have a single row, as scikit-learn warns, y may not be labels.
    ``_label_warnings.py`` has the warnings of matrices.
    """
    n_classes = len(rows.classes)
    if rows.target_type != "class":
        from ._label_warnings import warn_of_labels  # Imported when used.

        warn_of_labels(rows)
    elif rows.n_rows > 20 and n_classes > rows.n_rows / 2:
        warn(
            f"y has {n_classes} classes in {rows.n_rows} rows. It may be a target of "
            "regression, or names of rows.",
        )
