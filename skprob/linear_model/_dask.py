"""Dask collections: the rows of a fit on the workers, and predictions that are lazy."""

import copy
from contextlib import contextmanager
from typing import Any, NamedTuple

import dask
import dask.array
import numpy as np
from dask import delayed
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight

from .._validation import naming
from ..data import Cluster, DaskBlocks, LocalBlocks, Partition, as_design, wait_for
from ..objective import split_rows
from ..targets import (
    check_target,
    column_names,
    encode_rows,
    infer_target_type,
    mean_weights,
    unique_labels,
    weights_of_classes,
)
from ._checks import check_squares, check_X, is_dask, trial_scores
from ._given import NOTHING
from ._known_threshold import is_fitted_to_rows, known_threshold
from ._rows import smoothed


@contextmanager
def dask_rows(estimator, X, y, sample_weight):
    """The checked rows of Dask collections, which are on the workers inside."""
    pieces = _partitioned(X, y, sample_weight)
    dtype = _check_columns(estimator, X)
    expected = dtype, estimator.n_features_in_, type(estimator).__name__
    blocks, release = _computed(
        [
            delayed(_check_partition)(*piece, *expected)
            for piece in zip(*pieces, strict=True)
        ]
    )
    try:
        rows = DaskRows(estimator, blocks, dtype, y)
        rows.data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        yield rows
    finally:
        release()


class DaskRows:
    """Rows in the partitions of Dask collections; see :class:`RowsInMemory`.

    Parameters
    ----------
    estimator : estimator
    blocks : DaskBlocks or LocalBlocks
        Of `CheckedRows`, one in each partition.
    dtype : dtype
        Of X.
    y : Dask collection, or array in memory
        The names of its columns are those of the classes.
    """

    given = NOTHING

    def __init__(self, estimator, blocks, dtype, y):
        # Errors come first, and partitions without rows go.
        blocks = blocks.split(_some_rows)
        found = _combined(blocks.collect(_summary, estimator.target_type))
        self.dtype, self.kind = dtype, found.kind
        polytope, self._smoothing = estimator._polytope, estimator.label_smoothing
        if polytope == "cube" and self.kind != "label_set":
            raise ValueError(
                "y must be label sets, a 0/1 indicator of shape (n_samples, n_labels), "
                "for a mapping to marginals such as sigmoid; got "
                f"target_type={self.kind!r}."
            )
        _check_threshold(estimator, self.kind)
        shape = found.n_rows, found.n_columns
        names = column_names(_columns_of(y), shape, estimator.class_names)
        self.classes = found.labels
        if self.kind != "class":
            self.classes = np.arange(found.n_columns) if names is None else names
        some_empty = self.kind == "label_set" and found.n_unlabelled > 0
        is_share = estimator.none_class and polytope == "simplex"
        self.has_none = is_share and some_empty
        self.n_scores = len(self.classes) + self.has_none
        how = self.kind, self.classes, polytope, self.has_none
        self._encoded = blocks.map(_encode, *how)
        sums = self._encoded.sum(_target_totals)
        self.class_totals, totals, n_unlabelled = sums
        self.n_rows, self.n_unlabelled = found.n_rows, int(n_unlabelled)
        if not self.class_totals[: len(self.classes)].any():
            raise ValueError(
                f"y must have a label in at least one row; got {self.n_rows} without."
            )
        self._class_weights = None
        if estimator.class_weight is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                self._class_weights = weights_of_classes(
                    estimator.class_weight, self.classes, totals
                )
        (total,) = self._encoded.sum(_total_weight, self._class_weights)
        self.total_weight = float(total)

    @property
    def labels(self):
        """See :class:`RowsInMemory`."""
        return self.classes

    def beside_X(self, array):
        """The array itself: coefficients are NumPy's."""
        return array

    def blocks(self, inputs, polytope):
        """See :meth:`RowsInMemory.blocks`."""
        how = inputs, self._class_weights, self._smoothing, polytope
        return self._encoded.split(_blocks_of, *how, self.total_weight)

    @property
    def is_sparse(self):
        """See :attr:`RowsInMemory.is_sparse`."""
        return any(self._encoded.collect(_is_sparse))

    def moments(self):
        """See :meth:`RowsInMemory.moments`."""
        moments = self._encoded.map(_moments, self._class_weights)
        total, mean = moments.sum(_weighted_mean)
        mean = mean / total
        (variance,) = moments.sum(_variance, mean)
        return mean, np.sqrt(variance / total)

    def check_target(self, loss):
        """See :meth:`RowsInMemory.check_target`."""
        how = self._smoothing, loss.polytope
        for error in self._encoded.collect(_target_error, loss, *how):
            if error is not None:
                raise error

    def trial_scores(self, inputs, polytope):
        """See :meth:`RowsInMemory.trial_scores`."""
        first = [rows for rows in self._encoded.collect(_first_rows) if rows.shape[0]]
        stack = sparse.vstack if sparse.issparse(first[0]) else np.vstack
        X = stack(first)[:64]
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        return trial_scores(inputs(X), self.n_scores, polytope)

    def threshold_rule(self, estimator, mapping):
        """See :meth:`RowsInMemory.threshold_rule`."""
        cuts = known_threshold(estimator.threshold, len(self.classes))
        return lambda probabilities: cuts


def _check_threshold(estimator, kind):
    if kind == "label_set" and is_fitted_to_rows(estimator.threshold):
        raise ValueError(
            "threshold must be a number, one for each label or 'support' for a fit of "
            f"Dask collections to label sets; got {estimator.threshold!r}, which is "
            "fitted to the probabilities of rows in memory. After the fit, "
            "set_threshold(rule, X, y) takes such a rule with some of the rows."
        )


# From collections to partitions.


def _partitioned(X, y, sample_weight):
    """Partitions of X, y and the weights that belong together, as delayed objects."""
    if not is_dask(X):
        raise ValueError(
            "X must be a Dask collection where y or sample_weight is one; got "
            f"{type(X).__name__}. Give them all in memory, or all as collections."
        )
    lengths = None
    if isinstance(X, dask.array.Array):
        X = _with_whole_rows(X)
        lengths = _known(X.chunks[0])
    pieces = _delayed("X", X)
    divisions = getattr(X, "divisions", None)
    n_pieces = len(pieces)
    y = _aligned("y", y, lengths, divisions, n_pieces)
    if sample_weight is None:
        return pieces, y, [None] * n_pieces
    weight = _aligned("sample_weight", sample_weight, lengths, divisions, n_pieces)
    return pieces, y, weight


def _with_whole_rows(X):
    """A Dask array whose chunks are not divided across columns."""
    if X.ndim != 2:
        raise ValueError(
            "X must be finite numbers, dense or sparse, of shape (n_samples, "
            f"n_features). Expected 2D array, got {X.ndim}D array instead."
        )
    if np.isnan(X.shape[1]):
        raise ValueError("X must have a known number of columns; got an unknown one.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _known(lengths):
    """Lengths of partitions, or None where one is not known."""
    return None if np.isnan(lengths).any() else tuple(map(int, lengths))


def _delayed(name, collection):
    if not hasattr(collection, "to_delayed"):
        raise ValueError(
            f"{name} must be a Dask array, DataFrame or Series where it is a Dask "
            f"collection; got {type(collection).__name__}."
        )
    # X and y that are optimised apart would read their source twice, and Dask would
    # make fewer partitions of columns that are narrow.
    return list(np.ravel(collection.to_delayed(optimize_graph=False)))


def _aligned(name, data, lengths, divisions, n_pieces):
    """Partitions of y or the weights, which have the rows of those of X."""
    if not is_dask(data):
        return _cut(name, data, lengths)
    if isinstance(data, dask.array.Array):
        if data.ndim == 2:
            data = data if data.numblocks[1] == 1 else data.rechunk({1: -1})
        own = _known(data.chunks[0])
        if lengths is not None and own is not None and own != lengths:
            if sum(own) != sum(lengths):
                raise ValueError(
                    f"{name} must have one entry for each of the {sum(lengths)} rows; "
                    f"got {sum(own)}."
                )
            data = data.rechunk({0: lengths})
    else:
        own = getattr(data, "divisions", None)
        known = all(d is not None and None not in d for d in (own, divisions))
        if known and own != divisions:
            raise ValueError(
                f"X and {name} must have the same divisions; got {divisions} and {own}."
                f" Use {name}.repartition(divisions=X.divisions)."
            )
    pieces = _delayed(name, data)
    if len(pieces) != n_pieces:
        raise ValueError(
            f"X and {name} must have the same partitions; got {n_pieces} and "
            f"{len(pieces)}. Take both from one collection, or rechunk arrays of known "
            "lengths."
        )
    return pieces


def _cut(name, data, lengths):
    """Data in memory, cut as X is."""
    if lengths is None:
        raise ValueError(
            f"{name} must be a Dask collection with the partitions of X, whose lengths "
            f"are not known; got {type(data).__name__}. (X.compute_chunk_sizes() finds "
            "them for an array.)"
        )
    n_rows = sum(lengths)
    if not (sparse.issparse(data) or hasattr(data, "iloc")):
        data = np.asarray(data)
    shape = np.shape(data) if not sparse.issparse(data) else data.shape
    if not shape or shape[0] != n_rows:
        raise ValueError(
            f"{name} must have one entry for each of the {n_rows} rows; got shape "
            f"{shape}."
        )
    data = data.iloc if hasattr(data, "iloc") else data
    ends = np.cumsum((0, *lengths)).tolist()
    return [data[slice(*ends[i : i + 2])] for i in range(len(lengths))]


def _check_columns(estimator, X):
    """Check the columns of X without its rows; returns the dtype to compute with."""
    return check_X(estimator, _example(X), reset=True).dtype


def _example(X):
    """One row or a few in memory with the columns and dtypes of a collection."""
    if not isinstance(X, dask.array.Array):
        if not hasattr(X, "_meta_nonempty") or X.ndim != 2:
            raise ValueError(
                "X must be a Dask array or DataFrame of shape (n_samples, n_features); "
                f"got {type(X).__name__} with {getattr(X, 'ndim', 0)} dimension(s)."
            )
        return X._meta_nonempty
    return np.zeros((1, int(_with_whole_rows(X).shape[1])), X.dtype)


def _columns_of(y):
    """What knows the columns of y, without its rows."""
    is_frame = is_dask(y) and not isinstance(y, dask.array.Array)
    return y._meta if is_frame and hasattr(y, "_meta") else y


def _computed(partitions):
    """Blocks of delayed partitions, where Dask computes them; and how to free them."""
    client = _client()
    if client is None:
        return LocalBlocks(dask.compute(*partitions)), lambda: None
    futures = client.compute([delayed(Partition)(rows) for rows in partitions])
    cluster = Cluster(client, futures)
    try:
        wait_for(client, futures)
    except BaseException:
        cluster.release()
        raise
    return DaskBlocks(cluster), cluster.release


def _client():
    """The active client, unless another scheduler of Dask's has been chosen."""
    if dask.config.get("scheduler", None) not in (None, "dask.distributed"):
        return None
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


# Functions of a partition.


class CheckedRows(NamedTuple):
    """Rows that have been checked where they are; or the error."""

    X: Any
    y: Any
    weight: Any
    error: Exception | None = None


class EncodedRows(NamedTuple):
    """Rows that carry a target, and how many did not."""

    X: Any
    target: Any
    weight: np.ndarray
    n_unlabelled: int


class Summary(NamedTuple):
    """What is to be known of y before it can be encoded."""

    n_rows: int
    n_columns: int  #: Of y; 0 for labels.
    kind: str
    labels: np.ndarray | None  #: Sorted, if that is the kind.
    n_unlabelled: int  #: Rows of a label set without a label.


def _check_partition(X, y, weight, *expected):
    try:
        return CheckedRows(*_checked(X, y, weight, *expected))
    except (TypeError, ValueError) as error:
        # To be raised later: the caller is to get that of the first such partition.
        return CheckedRows(None, None, None, error)


def _checked(X, y, weight, dtype, n_features, name):
    if not X.shape[0]:
        if np.shape(y)[0]:
            raise ValueError(f"y must have the 0 rows of X; got {np.shape(y)[0]}.")
        return X, None, None
    with naming("X"):
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            estimator=name,
            input_name="X",
        )
    if X.shape[1] != n_features or X.dtype.itemsize > dtype.itemsize:
        raise ValueError(
            f"X must have {n_features} columns of {dtype} in all partitions, as the "
            f"collection says; got {X.shape[1]} of {X.dtype}."
        )
    check_squares(X)
    y = check_target(y, "y", len_of=X)
    with naming("sample_weight"):
        weight = _check_sample_weight(
            weight,
            X,
            dtype=np.float64,
            ensure_non_negative=True,
            allow_all_zero_weights=True,
        )
    return X.astype(dtype, copy=False), y, weight


def _some_rows(rows):
    if rows.error is not None:
        raise rows.error
    return LocalBlocks([rows] if rows.X.shape[0] else [])


def _summary(rows, target_type):
    y, labels = rows.y, None
    kind = infer_target_type(y) if target_type == "auto" else target_type
    if kind == "class":
        labels = unique_labels(y)
    n_columns = y.shape[1] if y.ndim == 2 and kind != "class" else 0
    n_unlabelled = 0
    if kind == "label_set":
        n_unlabelled = np.count_nonzero(np.asarray((y != 0).sum(axis=1)) == 0)
    return Summary(y.shape[0], n_columns, kind, labels, n_unlabelled)


def _combined(summaries):
    """The :class:`Summary` of all rows."""
    if not summaries:
        raise ValueError(
            "X must be finite numbers, dense or sparse, of shape (n_samples, "
            "n_features). Found array with 0 sample(s)."
        )
    kinds = {some.kind for some in summaries}
    if kinds == {"label_set", "distribution"}:
        # Rows of zeros and ones are distributions as well.
        kinds = {"distribution"}
    widths = sorted({some.n_columns for some in summaries})
    if len(kinds) > 1 or len(widths) > 1:
        raise ValueError(
            "y must be of one kind and width in all partitions; got "
            f"{', '.join(sorted(kinds))} of {widths} columns."
        )
    n_rows, (kind,), labels = sum(some.n_rows for some in summaries), kinds, None
    n_unlabelled = sum(some.n_unlabelled for some in summaries)
    if kind == "class":
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
    return Summary(n_rows, widths[0], kind, labels, n_unlabelled)


def _encode(rows, *how):
    X, y, weight, _ = rows
    kind, *how = how
    encoded = encode_rows(y, kind, X.dtype, *how)
    labelled, n_unlabelled = encoded.labelled, 0
    if labelled is not None:
        n_unlabelled = np.count_nonzero(~labelled)
        X, weight = X[labelled], weight[labelled]
    return EncodedRows(X, encoded.target, weight, n_unlabelled)


def _target_totals(rows):
    """Sums of the target, without weights and with them, and rows without a label."""
    _, target, weight, n_unlabelled = rows
    sums = target.class_totals(np.ones_like(weight)), target.class_totals(weight)
    return *sums, n_unlabelled


def _weight(rows, class_weights):
    if class_weights is None:
        return rows.weight
    return rows.weight * mean_weights(class_weights, rows.target)


def _total_weight(rows, class_weights):
    return (_weight(rows, class_weights).sum(),)


def _is_sparse(rows):
    return sparse.issparse(rows.X)


def _moments(rows, class_weights):
    """Sum of the weights, and weighted mean and deviation of each feature."""
    return as_design(rows.X).moments(_weight(rows, class_weights))


def _weighted_mean(moments):
    total, mean, _ = moments
    return total, total * mean


def _variance(moments, mean):
    """About a mean, times the sum of the weights."""
    total, own, deviation = moments
    return (total * (deviation**2 + (own - mean) ** 2),)


def _target_error(rows, loss, smoothing, polytope):
    """What is wrong with a target of the partition, or None."""
    try:
        loss.check_target(smoothed(rows.target, smoothing, polytope))
    except ValueError as error:
        return error
    return None


def _first_rows(rows):
    return rows.X[:64]


def _blocks_of(rows, inputs, class_weights, smoothing, polytope, total):
    if not rows.X.shape[0]:
        return LocalBlocks([])
    target = smoothed(rows.target, smoothing, polytope)
    return split_rows(inputs(rows.X), target, _weight(rows, class_weights), total)


# Predictions.


def lazily(model, method, X):
    """The result of a method for a Dask collection, as a Dask array."""
    model, example = copy.copy(model), _example(X)
    # What is wrong with the columns is said before any row is read.
    empty = getattr(model, method)(example)[:0]
    if not isinstance(X, dask.array.Array):
        pieces = [
            dask.array.from_delayed(
                delayed(_predicted)(piece, model, method, empty),
                shape=(np.nan, *empty.shape[1:]),
                meta=empty,
            )
            for piece in _delayed("X", X)
        ]
        return dask.array.concatenate(pieces)
    shape = {"drop_axis": 1} if empty.ndim == 1 else {}
    X = _with_whole_rows(X)
    chunks = (X.chunks[0], *((n,) for n in empty.shape[1:]))
    return X.map_blocks(
        _predicted, model, method, empty, chunks=chunks, meta=empty, **shape
    )


def score(model, X, y, sample_weight):
    """Mean of the partitions' scores, weighted as their rows are."""
    pieces = _partitioned(X, y, sample_weight)
    check_X(model, _example(X), reset=False)
    partitions = [
        delayed(_scored)(model, *piece) for piece in zip(*pieces, strict=True)
    ]
    scores, weights = np.array(dask.compute(*partitions)).T
    if not weights.sum() > 0:
        raise ValueError("sample_weight must have a positive sum, and X some rows.")
    return float(scores @ weights / weights.sum())


def _predicted(X, model, method, empty):
    return getattr(model, method)(X) if X.shape[0] else empty


def _scored(model, X, y, weight):
    total = X.shape[0] if weight is None else float(np.sum(weight))
    return (model.score(X, y, weight), total) if total > 0 else (0.0, 0.0)
