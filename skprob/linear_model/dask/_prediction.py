"""Predictions and scores of a fitted model for Dask collections."""

import dask
import dask.array
import numpy as np
from dask import delayed

from ._collections import (
    dask_columns,
    delayed_pieces,
    example_of,
    in_collection_order,
    partitioned,
    with_whole_rows,
)
from ._partition import check_partition_target


def lazily(predict, X):
    """The result of a function of rows for a Dask collection, as a Dask array."""
    # Errors about the columns are raised before any row is read.
    empty = predict(example_of(X))[:0]
    names = dask_columns(X)
    if not isinstance(X, dask.array.Array):
        pieces = [
            dask.array.from_delayed(
                delayed(_predicted)(piece, predict, empty, names),
                shape=(np.nan, *empty.shape[1:]),
                meta=empty,
            )
            for piece in delayed_pieces("X", X)
        ]
        return dask.array.concatenate(pieces)
    shape = {"drop_axis": 1} if empty.ndim == 1 else {}
    X = with_whole_rows(X)
    chunks = (X.chunks[0], *((n,) for n in empty.shape[1:]))
    return X.map_blocks(
        _predicted, predict, empty, names, chunks=chunks, meta=empty, **shape
    )


def score(score_rows, check_columns, X, y, sample_weight):
    """Mean of the scores of partitions, weighted by the sums of the rows' weights.

    ``score_rows(X, y, sample_weight)`` is the score of rows in memory.
    """
    pieces = partitioned(X, y, sample_weight)
    check_columns(example_of(X))
    names = dask_columns(X), dask_columns(y)
    partitions = [
        delayed(_scored)(score_rows, names, *piece)
        for piece in zip(*pieces, strict=True)
    ]
    scores, weights = np.array(dask.compute(*partitions)).T
    if not weights.sum() > 0:
        raise ValueError("sample_weight must have a positive sum, and X some rows.")
    return float(scores @ weights / weights.sum())


def _predicted(X, predict, empty, names):
    if not X.shape[0]:
        return empty
    return predict(in_collection_order("X", X, names))


def _scored(score_rows, names, X, y, weight):
    total = X.shape[0] if weight is None else float(np.sum(weight))
    if not total > 0:
        return 0.0, 0.0
    X, y = in_collection_order("X", X, names[0]), in_collection_order("y", y, names[1])
    # Entries that are not known are an error: such a row would have no weight.
    check_partition_target(y, X)
    return score_rows(X, y, weight), total
