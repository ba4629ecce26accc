"""Checks of the classes that are available to each row."""

import numpy as np

from .._utils.arrays import is_foreign, to_numpy
from .._utils.checks import as_dense
from ._indicator import other_than_0_and_1


def check_available(available, shape):
    """The classes that are available to each row, as a checked array of booleans.

    Parameters
    ----------
    available : array-like of bool of shape (n_samples, n_classes)
        Booleans, or numbers that are zero or one.
    shape : tuple
        The shape that it must have.

    Returns
    -------
    available : ndarray of bool

    Raises
    ------
    ValueError
        If it has another shape, other values, or a row without classes.
    """
    if is_foreign(available):
        available = to_numpy(available)
    is_available = as_dense("available", available)
    if is_available.shape != tuple(shape):
        raise ValueError(
            "available must be booleans of shape (n_samples, n_classes), "
            f"{tuple(shape)}; got shape {is_available.shape}."
        )
    if is_available.dtype != bool:
        dtype, other = is_available.dtype, []
        if dtype.kind in "iuf":
            other = other_than_0_and_1(is_available)
        if dtype.kind not in "iuf" or other:
            raise ValueError(
                f"available must be booleans, or numbers that are 0 or 1; got dtype "
                f"{dtype}{f', with the values {other}' * bool(other)}."
            )
        is_available = is_available.astype(bool)
    without = ~is_available.any(axis=1)
    if without.any():
        raise ValueError(
            "available must have a class for each row; row "
            f"{without.argmax()} has none."
        )
    return is_available


def check_target_available(target, available, rows, classes):
    """Raise if a target has a class that is not available.

    Errors name the row by its number in `rows`, and the class by its name.
    """
    wrong = (target.to_dense(np.float64) > 0) & ~available
    if wrong.any():
        row = int(wrong.any(axis=1).argmax())
        raise ValueError(
            f"The target of row {rows[row]} is not available: y has class "
            f"{classes[wrong[row].argmax()]!r}, for which available is False."
        )
