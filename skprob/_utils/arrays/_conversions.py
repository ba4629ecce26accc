"""Arrays in the library, on the device and in the type of others."""

import numpy as np
from sklearn.externals.array_api_compat import is_array_api_obj
from sklearn.utils._array_api import _max_precision_float_dtype

from ._functions import is_host, namespace, numpy_dtype, to_numpy


def beside(array, other):
    """An array of the library, device and, if of real numbers, type of another one."""
    if is_host(other):
        return to_numpy(array)
    xp = namespace(other)
    if is_beside(array, other):
        return array
    array = to_numpy(array)
    if not array.flags.writeable or min(array.strides, default=0) < 0:
        array = array.copy()  # torch needs an array that can be changed.
    is_real = array.dtype.kind == "f" and xp.isdtype(other.dtype, "real floating")
    dtype = other.dtype if is_real else None
    return xp.asarray(array, dtype=dtype, device=other.device)


def moved(array, other):
    """A NumPy array in the library and on the device of another; same type."""
    if is_host(other):
        return array
    wide = numpy_dtype(widened(other[:0, ...]))
    if array.dtype.kind == "f":
        array = array.astype(min(array.dtype, wide), copy=False)
    return namespace(other).asarray(array, device=other.device)


def is_beside(array, other):
    """Whether two arrays are of one library and on one device."""
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
    return namespace(array).take(array, beside(rows, array), axis=0)
