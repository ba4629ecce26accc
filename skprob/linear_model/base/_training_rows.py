"""From the arguments of `fit` to the checked rows of a fit."""

import functools
from contextlib import nullcontext

import numpy as np

from ..._utils.arrays import has_dask, is_foreign, moved, numpy_dtype
from ..._utils.checks import (
    check_sample_weight,
    check_target,
    check_X,
    fill_unknown,
    in_order,
)
from ...targets import column_names
from .._given import NOTHING, Given
from .._training_data import TrainingData
from ..fit import RowsInMemory


def training_rows(estimator, spec, X, y, sample_weight, available, offset):
    """The checked rows of a user's arguments of `fit`, in memory or on workers.

    Returns
    -------
    context : context manager
        Its value is a pair: the rows, RowsInMemory or DaskRows, and a dict of the
        checked X, y and metadata for callbacks. At its end rows on workers are freed.
    """
    if has_dask(X, y, sample_weight, available, offset):
        from ..dask import dask_rows, refuse_for_dask

        refuse_for_dask(available=available, offset=offset)
        check_columns = functools.partial(check_X, estimator, reset=True)
        return dask_rows(spec, check_columns, X, y, sample_weight)
    data = checked_data(
        estimator,
        spec,
        X,
        y=y,
        sample_weight=sample_weight,
        available=available,
        offset=offset,
    )
    classes_like_y = data.encoded.classes
    if is_foreign(y) and classes_like_y.dtype.kind in "biuf":
        classes_like_y = moved(classes_like_y, y)
    rows = RowsInMemory(spec, data, classes_like_y)
    metadata = {"sample_weight": data.sample_weight}
    if available is not None:
        metadata["available"] = available
    if offset is not None:
        metadata["offset"] = offset
    return nullcontext((rows, {"X": data.X, "y": data.y, "metadata": metadata}))


def checked_data(estimator, spec, X, y, sample_weight, available, offset):
    """A user's arguments of `fit` in memory, checked: a :class:`TrainingData`."""
    if spec.class_names is not None:
        y = in_order("y", y, np.asarray(spec.class_names))
    as_given = y
    X = check_X(estimator, X, reset=True)
    y = check_target(y, "y", len_of=X, may_have_unknown=True)
    sample_weight = check_sample_weight(sample_weight, X)
    dtype = numpy_dtype(X)
    names = known = None
    if y.ndim == 2 or spec.class_names is not None:
        names = column_names(as_given, y.shape, spec.class_names)
    if y.ndim == 2:
        y, known = fill_unknown(y)
    if known is not None:
        _check_unknown(spec, known)
        # Leave out rows of which no entry is known.
        empty = ~known.any(axis=1)
        known |= empty[:, None]
        sample_weight = np.where(empty, 0.0, sample_weight)
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


def _check_unknown(spec, known):
    """Raise where the loss of a row is not a sum over its labels."""
    traits = spec.mapping.traits
    is_cube, is_sum = traits.polytope == "cube", traits.is_separable
    if is_cube and is_sum and spec.target_type in ("auto", "label_set"):
        return
    advice = "set budget=None" if is_cube and not is_sum else "take SigmoidClassifier"
    raise ValueError(
        "y must be labels, a 0/1 indicator or distributions without NaN for "
        f"{spec.name}; y contains NaN in {np.count_nonzero(~known)} entries. Labels of "
        "a set that are not known are left out of the loss by a mapping to marginals "
        f"without a budget: {advice}."
    )
