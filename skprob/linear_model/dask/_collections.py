"""Dask collections of X, y and weights, as partitions that belong together."""

from collections import Counter
from itertools import pairwise

import dask.array
import numpy as np
from scipy import sparse

from ..._utils.arrays import is_dask
from ..._utils.checks import check_distinct


def partitioned(X, y, sample_weight):
    """Partitions of X, y and the weights that belong together, as delayed objects."""
    if not is_dask(X):
        raise ValueError(
            "X must be a Dask collection where y or sample_weight is one; got "
            f"{type(X).__name__}. Give them all in memory, or all as collections. "
            "(Transformers of scikit-learn in a pipeline return X in memory: apply "
            "them to each partition, by map_blocks or map_partitions.)"
        )
    lengths = None
    if isinstance(X, dask.array.Array):
        X = with_whole_rows(X)
        lengths = _known(X.chunks[0])
    pieces = delayed_pieces("X", X)
    divisions = getattr(X, "divisions", None)
    n_pieces = len(pieces)
    y = _aligned("y", y, lengths, divisions, n_pieces)
    if sample_weight is None:
        return pieces, y, [None] * n_pieces
    weight = _aligned("sample_weight", sample_weight, lengths, divisions, n_pieces)
    return pieces, y, weight


def refuse_for_dask(**given):
    """Raise where an argument with a value for each row comes with Dask collections."""
    for name, array in given.items():
        if array is not None:
            raise ValueError(
                f"{name} must be None for Dask collections; got "
                f"{type(array).__name__}. Give X, y and {name} in memory, for instance "
                "by compute()."
            )


def with_whole_rows(X):
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
    """Lengths of partitions; None if one of them is not known."""
    return None if np.isnan(lengths).any() else tuple(map(int, lengths))


def delayed_pieces(name, collection):
    """The partitions of a collection, as delayed objects."""
    # A Delayed object has an attribute of any name.
    if not hasattr(type(collection), "to_delayed"):
        raise ValueError(
            f"{name} must be a Dask array, DataFrame or Series where it is a Dask "
            f"collection; got {type(collection).__name__}."
        )
    # Graphs of X and y that are optimised separately would read their source twice, and
    # Dask would join partitions of narrow columns.
    return list(np.ravel(collection.to_delayed(optimize_graph=False)))


def _aligned(name, data, lengths, divisions, n_pieces):
    """Partitions of y or the weights, which have the rows of those of X."""
    if not is_dask(data):
        return _cut(name, data, lengths)
    if isinstance(data, dask.array.Array):
        data = _with_lengths(name, data, lengths)
    else:
        _check_divisions(name, getattr(data, "divisions", None), divisions)
    pieces = delayed_pieces(name, data)
    if len(pieces) != n_pieces:
        raise ValueError(
            f"X and {name} must have the same partitions; got {n_pieces} and "
            f"{len(pieces)}. Take both from one collection, or rechunk arrays of known "
            "lengths."
        )
    return pieces


def _with_lengths(name, data, lengths):
    """A Dask array in chunks of whole rows, of these lengths if all are known."""
    if data.ndim == 2 and data.numblocks[1] > 1:
        data = data.rechunk({1: -1})
    of_data = _known(data.chunks[0])
    if lengths is None or of_data is None or of_data == lengths:
        return data
    if sum(of_data) != sum(lengths):
        raise ValueError(
            f"{name} must have one entry for each of the {sum(lengths)} rows; "
            f"got {sum(of_data)}."
        )
    return data.rechunk({0: lengths})


def _check_divisions(name, of_data, of_X):
    """Raise if the divisions of two dataframes are known and differ."""
    are_known = all(d is not None and None not in d for d in (of_data, of_X))
    if are_known and of_data != of_X:
        raise ValueError(
            f"X and {name} must have the same divisions; got {of_X} and {of_data}. "
            f"Use {name}.repartition(divisions=X.divisions)."
        )


def _cut(name, data, lengths):
    """Data in memory, divided into partitions of the lengths of those of X."""
    if lengths is None:
        raise ValueError(
            f"{name} must be a Dask collection with the partitions of X, whose lengths "
            f"are not known; got {type(data).__name__}. Take {name} from the same "
            "collection as X, or compute the lengths: X.compute_chunk_sizes() for an "
            "array, X.to_dask_array(lengths=True) for a dataframe."
        )
    n_rows = sum(lengths)
    if not (sparse.issparse(data) or hasattr(data, "iloc")):
        data = np.asarray(data)
    shape = data.shape
    if not shape or shape[0] != n_rows:
        raise ValueError(
            f"{name} must have one entry for each of the {n_rows} rows; got shape "
            f"{shape}."
        )
    rows = data.iloc if hasattr(data, "iloc") else data
    ends = np.cumsum((0, *lengths)).tolist()
    return [rows[start:end] for start, end in pairwise(ends)]


def example_of(X):
    """One row in memory with the columns and dtypes of a collection."""
    if not isinstance(X, dask.array.Array):
        if not hasattr(X, "_meta_nonempty") or X.ndim != 2:
            raise ValueError(
                "X must be a Dask array or DataFrame of shape (n_samples, n_features); "
                f"got {type(X).__name__} with {getattr(X, 'ndim', 0)} dimension(s)."
            )
        # The other rows of this example have missing values in nullable columns.
        return X._meta_nonempty.head(1)
    return np.zeros((1, int(with_whole_rows(X).shape[1])), X.dtype)


def dask_columns(data):
    """Names of the columns of a Dask dataframe; None for other data."""
    columns = getattr(data, "columns", None) if _is_frame(data) else None
    return None if columns is None else list(columns)


def in_collection_order(name, rows, names):
    """Rows of a partition, with the columns in the order of the collection's names.

    Without names, of the collection or the partition, the order stays the same.
    """
    columns = list(getattr(rows, "columns", [])) if names is not None else []
    if columns == names or not (columns and rows.shape[0]):
        return rows
    check_distinct(name, names)
    missing = list((Counter(names) - Counter(columns)).elements())
    other = list((Counter(columns) - Counter(names)).elements())
    if missing or other:
        raise ValueError(
            f"{name} must have the columns of the collection in all partitions; one "
            f"lacks {missing} and has {other} besides."
        )
    return rows[names]


def without_rows(y):
    """An object with the columns of y and no rows."""
    return y._meta if _is_frame(y) and hasattr(y, "_meta") else y


def _is_frame(data):
    return is_dask(data) and not isinstance(data, dask.array.Array)
