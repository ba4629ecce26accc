"""Class labels of any type, as an array that can be sorted."""

from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from .._utils.labels import types_of_objects


def as_labels(y):
    """Labels as a one-dimensional array whose entries can be sorted.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, 1)

    Returns
    -------
    labels : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If `y` is anything but strings, booleans, whole numbers, dates or durations.

    Examples
    --------
    >>> from skprob.targets import as_labels
    >>> as_labels([2.0, 0.0])
    array([2., 0.])
    >>> as_labels([2.5, 0.0])
    Traceback (most recent call last):
        ...
    ValueError: y must be labels, ... Unknown label type: continuous, 2.5 in row 0.
    """
    if not isinstance(y, np.ndarray) or y.ndim != 1:
        y = column_or_1d(y, warn=True)
    description = ""
    if y.dtype == object:
        types = {type(label) for label in y}
        if all(issubclass(t, str) for t in types):
            return y
        description = types_of_objects(y)
        if all(issubclass(t, (Real, np.bool_)) for t in types):
            y = np.array(y.tolist())
            if y.dtype == object:
                description = "whole numbers of more than 64 bits"
    if y.dtype.kind in "biuU":
        return y
    if y.dtype.kind in "mM":
        is_missing = np.isnat(y)
        if not is_missing.any():
            return y
        description = f"NaT in row {np.argmax(is_missing)}"
    if y.dtype.kind == "f":
        whole = np.isfinite(y) & (y == np.floor(y))
        if whole.all():
            return y
        description = f"continuous, {y[np.argmin(whole)]} in row {np.argmin(whole)}"
    raise ValueError(
        "y must be labels, all strings, all booleans, all whole numbers, all dates or "
        f"all durations. Unknown label type: {description or f'dtype {y.dtype}'}."
    )


def labels_of(y):
    """The labels in the rows of an array or sparse matrix of target type "class"."""
    if sparse.issparse(y):
        raise ValueError("target_type='class' needs labels, got a sparse y.")
    if y.ndim == 2 and y.shape[1] != 1:
        raise ValueError(
            f"target_type='class' needs y of shape (n_samples,), got {y.shape}."
        )
    return as_labels(y)


def unique_labels(y):
    """The classes among labels, sorted.

    Parameters
    ----------
    y : ndarray of shape (n_samples,) or (n_samples, 1)

    Returns
    -------
    classes : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        As for :func:`as_labels`.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import unique_labels
    >>> unique_labels(np.array([3, 1, 3]))
    array([1, 3])
    """
    return np.unique(labels_of(y))
