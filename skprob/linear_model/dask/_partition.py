"""Functions of one partition of the rows of a fit, which run on its worker."""

import re
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ..._utils.checks import (
    check_squares,
    check_target,
    fill_unknown,
    naming,
    refuse_unreadable_numbers,
    without_duplicates,
)
from ..._utils.compat import check_weights
from ...data import LocalBlocks, as_design
from ...objective import split_rows
from ...targets import (
    encode_rows,
    infer_target_type,
    mean_weights,
    smoothed_target,
    unique_labels,
)
from ._collections import in_collection_order


class CheckedRows(NamedTuple):
    """Checked rows of a partition, or the error of the check."""

    X: Any
    y: Any
    weight: Any
    error: Exception | None = None


class EncodedRows(NamedTuple):
    """Rows of a partition that have a target, and the number of its other rows."""

    X: Any
    target: Any
    weight: np.ndarray
    n_unlabelled: int


class Summary(NamedTuple):
    """Properties of y that its encoding needs."""

    n_rows: int
    n_columns: int  #: Number of columns of y; 0 for labels.
    target_type: str
    labels: np.ndarray | None  #: Sorted labels; None for other targets.
    n_unlabelled: int  #: Number of rows of label sets without a label.


@contextmanager
def _rows_of_a_partition():
    """Context that adds to an error with a number of a row where it is counted."""
    try:
        yield
    except ValueError as error:
        if re.search(r"\brow \d", str(error)) is None:
            raise
        raise ValueError(f"{error} Rows are counted in their partition.") from None


def checked_rows(X, y, weight, names, dtype, n_features, estimator_name):
    """The :class:`CheckedRows` of a partition.

    Parameters
    ----------
    X, y, weight : object
        The rows, as the collections have them.
    names : pair of list of str or None
        Names of the columns of the collections X and y.
    dtype : dtype
        Type of the collection X.
    n_features : int
    estimator_name : str
        Name that errors give the estimator.
    """
    try:
        checked = _checked(X, y, weight, names, dtype, n_features, estimator_name)
        return CheckedRows(*checked)
    except (TypeError, ValueError) as error:
        # It is raised later, so that the caller gets the error of the first partition.
        return CheckedRows(None, None, None, error)


def _checked(X, y, weight, names, dtype, n_features, estimator_name):
    X, y = in_collection_order("X", X, names[0]), in_collection_order("y", y, names[1])
    if not X.shape[0]:
        if np.shape(y)[0]:
            raise ValueError(
                f"y must have no rows where X has none; got {np.shape(y)[0]}."
            )
        return X, None, None
    with naming("X", X):
        refuse_unreadable_numbers(X)
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            estimator=estimator_name,
            input_name="X",
        )
    if X.shape[1] != n_features or X.dtype.itemsize > dtype.itemsize:
        raise ValueError(
            f"X must have {n_features} columns of {dtype} in all partitions, as the "
            f"collection says; got {X.shape[1]} of {X.dtype}."
        )
    if sparse.issparse(X):
        X = without_duplicates(X)
    check_squares(X)
    y = check_partition_target(y, X)
    with naming("sample_weight"):
        refuse_unreadable_numbers(weight)
        weight = check_weights(weight, X, may_be_zero=True)
    return X.astype(dtype, copy=False), y, weight


def check_partition_target(y, X):
    """The target of a partition as an array or CSR matrix, whose entries are known."""
    with _rows_of_a_partition():
        y = check_target(y, "y", len_of=X, may_have_unknown=True)
    known = fill_unknown(y)[1] if y.ndim == 2 else None
    if known is not None:
        raise ValueError(
            "y must be labels, a 0/1 indicator or distributions without NaN in Dask "
            f"collections; a partition contains NaN in {np.count_nonzero(~known)} "
            "entries. Labels of a set that are not known need X and y in memory: give "
            "X.compute() and y.compute()."
        )
    return y


def some_rows(rows):
    """The :class:`CheckedRows` in a block, or no block for a partition without rows."""
    if rows.error is not None:
        raise rows.error
    return LocalBlocks([rows] if rows.X.shape[0] else [])


def summary(rows, target_type):
    """The :class:`Summary` of a partition."""
    y, labels = rows.y, None
    if target_type == "auto":
        target_type = infer_target_type(y)
    if target_type == "class":
        with _rows_of_a_partition():
            labels = unique_labels(y)
    n_columns = y.shape[1] if y.ndim == 2 and target_type != "class" else 0
    n_unlabelled = 0
    if target_type == "label_set":
        n_unlabelled = np.count_nonzero(np.asarray((y != 0).sum(axis=1)) == 0)
    return Summary(y.shape[0], n_columns, target_type, labels, n_unlabelled)


def combined(summaries):
    """The :class:`Summary` of all rows."""
    if not summaries:
        raise ValueError(
            "X must be finite numbers, dense or sparse, of shape (n_samples, "
            "n_features). Found array with 0 sample(s)."
        )
    target_types = {some.target_type for some in summaries}
    if target_types == {"label_set", "distribution"}:
        # Rows of zeros and ones are distributions as well.
        target_types = {"distribution"}
    widths = sorted({some.n_columns for some in summaries})
    if len(target_types) > 1 or len(widths) > 1:
        raise ValueError(
            "y must be of one target type and width in all partitions; got "
            f"{', '.join(sorted(target_types))} of {widths} columns."
        )
    n_rows, labels = sum(some.n_rows for some in summaries), None
    (target_type,) = target_types
    n_unlabelled = sum(some.n_unlabelled for some in summaries)
    if target_type == "class":
        each = [some.labels for some in summaries]
        if len({labels.dtype.kind in "biuf" for labels in each}) > 1:
            raise ValueError(
                "y must be labels, all strings, all booleans or all whole numbers; "
                "some partitions have strings and others numbers."
            )
        labels = np.unique(np.concatenate(each))
        if len(labels) < 2:
            raise ValueError(
                "y must have at least 2 classes, but the data contains only one class: "
                f"{labels.tolist()[0]!r}."
            )
    return Summary(n_rows, widths[0], target_type, labels, n_unlabelled)


def encode(rows, target_type, classes, polytope, has_none):
    """The :class:`EncodedRows` of checked rows."""
    X, y, weight, _ = rows
    with _rows_of_a_partition():
        encoded = encode_rows(y, target_type, X.dtype, classes, polytope, has_none)
    labelled, n_unlabelled = encoded.labelled, 0
    if labelled is not None:
        n_unlabelled = np.count_nonzero(~labelled)
        X, weight = X[labelled], weight[labelled]
    return EncodedRows(X, encoded.target, weight, n_unlabelled)


def target_totals(rows):
    """Sums of the target, without and with weights; number of rows without a label."""
    _, target, weight, n_unlabelled = rows
    sums = target.class_totals(np.ones_like(weight)), target.class_totals(weight)
    return *sums, n_unlabelled


def _weight(rows, class_weights):
    if class_weights is None:
        return rows.weight
    return rows.weight * mean_weights(class_weights, rows.target)


def total_weight(rows, class_weights):
    """Sum of the weights of rows and classes, as a tuple."""
    return (_weight(rows, class_weights).sum(),)


def is_sparse(rows):
    """Whether the partition is a sparse matrix."""
    return sparse.issparse(rows.X)


def moments_of_rows(rows, class_weights):
    """Sum of the weights, and weighted mean and deviation of each feature."""
    return as_design(rows.X).moments(_weight(rows, class_weights))


def weighted_mean(moments):
    """Sum of the weights, and the mean of each feature times this sum."""
    total, mean, _ = moments
    return total, total * mean


def variance(moments, mean):
    """Weighted sum of the squared deviations from a mean."""
    total, block_mean, deviation = moments
    return (total * (deviation**2 + (block_mean - mean) ** 2),)


def target_error(rows, loss, smoothing, polytope):
    """The error of a target of the partition, or None."""
    try:
        loss.check_target(smoothed_target(rows.target, smoothing, polytope))
    except ValueError as error:
        return error
    return None


def first_rows(rows):
    """At most 64 rows of the features."""
    return rows.X[:64]


def blocks_of(rows, transform, class_weights, smoothing, polytope, total, tuning):
    """The blocks of a partition, for an objective; see :meth:`DaskRows.blocks`."""
    if not rows.X.shape[0]:
        return LocalBlocks([])
    target = smoothed_target(rows.target, smoothing, polytope)
    X = rows.X if transform is None else transform(rows.X)
    weight = _weight(rows, class_weights)
    return split_rows(X, target, weight, total=total, tuning=tuning)
