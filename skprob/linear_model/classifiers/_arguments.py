"""The arguments of `fit`, checked."""

import functools
from contextlib import contextmanager

import numpy as np

from ..._utils.arrays import is_foreign, moved, numpy_dtype
from ..._utils.columns import in_order
from ...targets import column_names
from .._checks import check_fit_data, check_X, has_dask, refuse_for_dask
from .._given import Given
from ..fit._rows import RowsInMemory
from ..fit._training_data import TrainingData


@contextmanager
def training_rows(estimator, spec, X, y, sample_weight, available, offset):
    """The checked rows of a user's arguments of `fit`, in memory or on workers."""
    if has_dask(X, y, sample_weight, available, offset):
        from ..dask._rows import dask_rows

        refuse_for_dask(available=available, offset=offset)
        check_columns = functools.partial(check_X, estimator, reset=True)
        with dask_rows(spec, check_columns, X, y, sample_weight) as rows:
            yield rows
        return
    data, encoded = checked_data(
        estimator, spec, X, y, sample_weight, available, offset
    )
    rows = RowsInMemory(spec, data, encoded)
    metadata = Given(available, offset).arguments
    metadata |= {"sample_weight": data.sample_weight}
    rows.data = {"X": data.X, "y": data.y, "metadata": metadata}
    if is_foreign(y) and rows.classes.dtype.kind in "biuf":
        rows.labels = moved(rows.classes, y)
    yield rows


def checked_data(estimator, spec, X, y, sample_weight, available, offset):
    """A user's arguments of `fit` in memory, checked, and the encoded target.

    Returns
    -------
    data : TrainingData
    encoded : EncodedTarget
    """
    if spec.class_names is not None:
        y = in_order("y", y, np.asarray(spec.class_names))
    as_given = y
    X, y, sample_weight = check_fit_data(estimator, X, y, sample_weight)
    names = column_names(as_given, y.shape, spec.class_names)
    dtype = numpy_dtype(X)
    encoded = spec.encoded(y, dtype, names)
    is_pair = spec.is_pair(encoded)
    about = {"kind": encoded.kind, "is_pair": is_pair, "dtype": dtype}
    rows = X.shape[0], encoded.classes
    given = Given.checked(available, offset, *rows, **about)
    known = given, encoded.classes, encoded.has_none
    return TrainingData(X, y, sample_weight, *known), encoded
