"""Operations on arrays of NumPy or of another library.

NumPy has the functions of the array API. Where there is a case for NumPy, it saves
time on little data or gives a better memory order.
"""

from functools import lru_cache

import numpy as np
from sklearn.utils._array_api import _max_precision_float_dtype

from ._libraries import namespace, to_numpy


def as_type(array, dtype):
    """An array in a type of its library; the array itself if it has this type."""
    if isinstance(array, np.ndarray):  # A method takes a fifth of the function's time.
        return array.astype(dtype, copy=False)
    return namespace(array).astype(array, dtype, copy=False)


@lru_cache
def precision(dtype):
    """Relative rounding error of a type of numbers: 2^-52 for float64."""
    return float(np.finfo(dtype).eps)


def zeros(shape, other):
    """Zeros of the library, device and type of another array."""
    return namespace(other).zeros(shape, dtype=other.dtype, device=other.device)


def positive_part(array, out=None):
    """The larger of an array and zero; for NumPy arrays written to `out`, if given."""
    if isinstance(array, np.ndarray):
        return np.maximum(array, 0, out=out)
    return namespace(array).clip(array, 0)


def one_hot(columns, n_columns):
    """Booleans with one true entry in each row, in the given column."""
    like = {"dtype": columns.dtype, "device": columns.device}
    return namespace(columns).arange(n_columns, **like) == columns[:, None]


def concat(arrays, axis=0):
    """Concatenated arrays of one library."""
    return namespace(arrays[0]).concat(arrays, axis=axis)


def flatnonzero(mask):
    """Indices of the true entries of a vector, in its library and on its device."""
    return namespace(mask).nonzero(mask)[0]


def fill(array, mask, value):
    """Set the entries where a mask, of a shape that broadcasts, is true; in place."""
    if isinstance(array, np.ndarray):
        np.copyto(array, value, where=to_numpy(mask))
    else:
        array[namespace(array).broadcast_to(mask, array.shape)] = value


def row_dot(a, b):
    """Inner products of the rows of two arrays, as a column."""
    if isinstance(a, np.ndarray):
        return np.einsum("nk,nk->n", a, b)[:, None]
    return row_sum(a * b)


def dot(a, b):
    """Sum of the products of two arrays, entry by entry, as a number."""
    xp = namespace(a)
    return float(np.einsum("nk,nk->", a, b) if xp is np else xp.sum(a * b))


def row_sum(array):
    """The sum of each row, as a column."""
    if isinstance(array, np.ndarray):
        return np.add.reduce(array, axis=1, keepdims=True)
    return namespace(array).sum(array, axis=1, keepdims=True)


def column_sums(array):
    """Sums of the columns in the widest type, as NumPy's array of float64."""
    if isinstance(array, np.ndarray):
        return array.sum(axis=0, dtype=np.float64)
    xp = namespace(array)
    dtype = _max_precision_float_dtype(xp, array.device)
    return to_numpy(xp.sum(array, axis=0, dtype=dtype)).astype(np.float64)


def reshape(array, shape):
    """An array in another shape; a copy only if necessary."""
    return namespace(array).reshape(array, shape)


def all_finite(array):
    """Whether there is neither NaN nor infinity."""
    if isinstance(array, np.ndarray):  # A method takes half as long as the function.
        return bool(np.isfinite(array).all())
    xp = namespace(array)
    return bool(xp.all(xp.isfinite(array)))


def copied(array):
    """A copy; for NumPy arrays in the same memory order."""
    if isinstance(array, np.ndarray):
        return array.copy(order="K")
    return namespace(array).asarray(array, copy=True)


def row_max(array):
    """The largest entry of each row, as a column."""
    if isinstance(array, np.ndarray):  # The method calls this from Python.
        return np.maximum.reduce(array, axis=1, keepdims=True)
    return namespace(array).max(array, axis=1, keepdims=True)


def identity_like(n, array):
    """Identity matrix (n, n) of the library, device and type of an array.

    NumPy's cannot be written to.
    """
    if isinstance(array, np.ndarray):
        return _identity(n, array.dtype)
    xp = namespace(array)
    return xp.eye(n, dtype=array.dtype, device=array.device)


@lru_cache(maxsize=16)
def _identity(n, dtype):
    identity = np.eye(n, dtype=dtype)
    identity.flags.writeable = False
    return identity


def weighted_one_hot(columns, weights, n_columns):
    """NumPy's array with a weight in each row, in the given column, and zeros."""
    matrix = np.zeros((len(columns), n_columns), weights.dtype)
    matrix[np.arange(len(columns)), columns] = weights
    return matrix
