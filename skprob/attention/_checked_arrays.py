"""Checked arguments of attention: arrays that fit together, and the scale."""

import numpy as np

from .._utils.checks import RealInterval, as_real
from .._utils.names import did_you_mean


def checked_arrays(query, key, value):
    """The three arrays as finite numbers that fit, up to their leading axes.

    Returns
    -------
    query : ndarray of shape (..., n_queries, d)
    key : ndarray of shape (..., n_keys, d)
    value : ndarray of shape (..., n_keys, d_value)
    """
    named = {"query": query, "key": key, "value": value}
    query, key, value = (checked_numbers(name, array) for name, array in named.items())
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "query and key must have the same last axis; got shapes "
            f"{query.shape} and {key.shape}."
        )
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            "key and value must have the same number of rows; got shapes "
            f"{key.shape} and {value.shape}."
        )
    return query, key, value


def checked_numbers(name, array):
    """`array` as finite numbers of shape (..., n_rows, n_columns)."""
    array = as_real(name, array)
    if array.ndim < 2 or array.shape[-1] == 0:
        raise ValueError(
            f"{name} must have shape (..., n_rows, n_columns) with at least one "
            f"column; got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers.")
    return array


def common_leading_axes(**arrays):
    """The leading axes to which those of all arrays are broadcast.

    Examples
    --------
    >>> common_leading_axes(query=np.ones((5, 1, 7, 2)), key=np.ones((3, 9, 2)))
    (5, 3)
    """
    leading = {name: array.shape[:-2] for name, array in arrays.items()}
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        raise ValueError(
            f"The leading axes of {', '.join(leading)} must broadcast; got "
            f"{', '.join(map(str, leading.values()))}."
        ) from None


def with_leading_axes(array, axes):
    """A view of an array with its leading axes broadcast."""
    return np.broadcast_to(array, (*axes, *array.shape[-2:]))


def checked_scale(scale, names):
    """A scale that is one of the names or a finite number."""
    if isinstance(scale, str) and scale in names:
        return scale
    if RealInterval(None, None, closed="neither").is_satisfied_by(scale):
        return float(scale)
    raise ValueError(
        f"scale must be {', '.join(map(repr, names))} or a finite number; got "
        f"{scale!r}.{did_you_mean(scale, names)}"
    )
