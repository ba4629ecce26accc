"""Checks of class labels."""

from numbers import Real

import numpy as np
from sklearn.utils.validation import column_or_1d


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
        If `y` is anything but strings, booleans or whole numbers.

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
    found = ""
    if y.dtype == object:
        types = {type(label) for label in y}
        if all(issubclass(t, str) for t in types):
            return y
        found = f"objects of type {', '.join(sorted(t.__name__ for t in types))}"
        if all(issubclass(t, (Real, np.bool_)) for t in types):
            y = np.array(y.tolist())
    if y.dtype.kind in "biuU":
        return y
    if y.dtype.kind == "f":
        whole = np.isfinite(y) & (y == np.floor(y))
        if whole.all():
            return y
        found = f"continuous, {y[np.argmin(whole)]} in row {np.argmin(whole)}"
    raise ValueError(
        "y must be labels, all strings, all booleans or all whole numbers. Unknown "
        f"label type: {found or f'dtype {y.dtype}'}."
    )
