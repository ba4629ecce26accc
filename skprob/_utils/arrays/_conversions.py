"""Arrays in the library, on the device and in the type of others."""

import numpy as np
from scipy import sparse
from sklearn.externals.array_api_compat import is_array_api_obj
from sklearn.utils._array_api import _max_precision_float_dtype

from ._libraries import is_foreign, is_host, namespace, numpy_dtype, to_numpy


def asarray_like(array, other):
    """The array in the library and on the device of another, as in ``np.asarray``.

    Real numbers get the type of the other array, too, if it has a real type.
    """
    if is_host(other):
        return to_numpy(array)
    xp = namespace(other)
    if is_on_device_of(array, other):
        return array
    array = to_numpy(array)
    if not array.flags.writeable or min(array.strides, default=0) < 0:
        array = array.copy()  # torch needs an array that can be changed.
    is_real = array.dtype.kind == "f" and xp.isdtype(other.dtype, "real floating")
    dtype = other.dtype if is_real else None
    return xp.asarray(array, dtype=dtype, device=other.device)


def moved(array, other):
    """A NumPy array in the library and on the device of another, which keeps its type.

    Real numbers are rounded to the widest type of the device.
    """
    if is_host(other):
        return array
    wide = numpy_dtype(widened(other[:0, ...]))
    if array.dtype.kind == "f":
        array = array.astype(min(array.dtype, wide), copy=False)
    return namespace(other).asarray(array, device=other.device)


def is_on_device_of(array, other):
    """Whether an array has the library and the device of another."""
    if isinstance(array, np.ndarray) or not is_array_api_obj(array):
        return False
    same = namespace(array) is namespace(other)
    return same and array.device == other.device


def widened(array):
    """An array in the widest type of real numbers that its device has."""
    if is_host(array):
        return array.astype(np.float64, copy=False)
    xp = namespace(array)
    dtype = _max_precision_float_dtype(xp, array.device)
    return xp.astype(array, dtype, copy=False)


def real_dtypes(array):
    """The supported types of real numbers, the widest first."""
    xp = namespace(array)
    if _max_precision_float_dtype(xp, array.device) == xp.float32:
        return [xp.float32]
    return [xp.float64, xp.float32]


def take(array, rows):
    """Some rows, given by a slice or by their numbers."""
    if is_host(array):
        return array[rows]
    if isinstance(rows, slice):
        return array[slice(*rows.indices(array.shape[0])), ...]
    return namespace(array).take(array, asarray_like(rows, array), axis=0)


def on_host(data):
    """Array-like data as a NumPy array, those of another library copied to the host."""
    return to_numpy(data) if is_foreign(data) else np.asarray(data)


def dense(array):
    """A sparse matrix as a NumPy array; other arrays themselves."""
    return array.toarray() if sparse.issparse(array) else array
