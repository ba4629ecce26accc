"""Arrays of other libraries than NumPy: those of the array API standard.

With scikit-learn's setting ``array_api_dispatch`` they are used without conversion.
Otherwise they are converted to NumPy arrays, or refused, as in scikit-learn. Code for
both takes its functions from :func:`namespace`.
"""

from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.externals.array_api_compat import (
    array_namespace,
    is_array_api_obj,
    is_dask_array,
    is_writeable_array,
)
from sklearn.utils._array_api import (
    _convert_to_numpy,
    _max_precision_float_dtype,
    get_namespace,
)

_NUMPY = np.ndarray, np.generic


def namespace(array):
    """The module whose functions take an array: NumPy, or one of the array API."""
    return np if isinstance(array, _NUMPY) else array_namespace(array)


def is_foreign(data):
    """Whether data are an array of another library that is used without conversion."""
    if isinstance(data, _NUMPY) or sparse.issparse(data):
        return False
    if not (get_config()["array_api_dispatch"] and is_array_api_obj(data)):
        return False
    if is_dask_array(data):
        return False
    if not is_writeable_array(data):
        raise ValueError(
            "Arrays must be of a library that can change them in place; got one of "
            f"type {type(data).__module__}.{type(data).__name__}. Convert it, for "
            "instance by np.asarray(array)."
        )
    # This raises an error if SCIPY_ARRAY_API was not set.
    return get_namespace(data)[1]


def is_host(data):
    """Whether data are an array of NumPy or a sparse matrix of SciPy."""
    return isinstance(data, np.ndarray) or sparse.issparse(data)


def is_dask(data):
    """Whether data are a Dask collection; Dask is not imported."""
    return hasattr(type(data), "__dask_graph__")


def check_tensor(name, array):
    """Raise if a tensor of torch is sparse, or requires gradients.

    Few functions of torch take a sparse one, and no gradients are computed.
    """
    if getattr(array, "requires_grad", False) is True:
        raise ValueError(
            f"{name} must not require gradients, which are not propagated; got a "
            f"tensor with requires_grad=True. Give {name}.detach()."
        )
    layout = str(getattr(array, "layout", ""))
    if layout.startswith("torch.sparse"):
        raise ValueError(
            f"{name} must be a dense tensor; got one with layout={layout}. Give "
            f"{name}.to_dense(), or a sparse matrix of SciPy."
        )


def to_numpy(array):
    """An array of any library as a NumPy array, in the memory of the host."""
    return array if is_host(array) else _convert_to_numpy(array, namespace(array))


def on_host(data):
    """Array-like data as a NumPy array, those of another library copied to the host."""
    return to_numpy(data) if is_foreign(data) else np.asarray(data)


def dense(array):
    """A sparse matrix as a NumPy array; other arrays themselves."""
    return array.toarray() if sparse.issparse(array) else array


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


def as_type(array, dtype):
    """An array in a type of its library; itself if it has that."""
    if isinstance(array, np.ndarray):
        return array.astype(dtype, copy=False)
    return namespace(array).astype(array, dtype, copy=False)


def numpy_dtype(array):
    """The type of an array of real numbers, as NumPy's."""
    if is_host(array):
        return array.dtype
    xp = namespace(array)
    return np.dtype(np.float32 if array.dtype == xp.float32 else np.float64)


@lru_cache
def precision(dtype):
    """Relative rounding error of a type of numbers: 2^-52 for float64."""
    return float(np.finfo(dtype).eps)


def zeros(shape, other):
    """Zeros of the library, device and type of another array."""
    xp = namespace(other)
    if xp is np:
        return np.zeros(shape, other.dtype)
    return xp.zeros(shape, dtype=other.dtype, device=other.device)


def copied(array):
    """A copy; for NumPy arrays in the same memory order."""
    if isinstance(array, np.ndarray):
        return array.copy(order="K")
    return namespace(array).asarray(array, copy=True)


def positive_part(array, out=None):
    """The larger of an array and zero; for NumPy arrays written to `out`, if given."""
    if isinstance(array, np.ndarray):
        return np.maximum(array, 0, out=out)
    return namespace(array).clip(array, 0)


def one_hot(columns, n_columns):
    """Booleans with one true entry in each row, in the given column."""
    xp = namespace(columns)
    where = {} if xp is np else {"device": columns.device}
    return xp.arange(n_columns, dtype=columns.dtype, **where) == columns[:, None]


def take(array, rows):
    """Some rows, given by a slice or by their numbers."""
    if is_host(array):
        return array[rows]
    if isinstance(rows, slice):
        return array[slice(*rows.indices(array.shape[0])), ...]
    return namespace(array).take(array, beside(rows, array), axis=0)


def concat(arrays, axis=0):
    """Concatenated arrays of one library."""
    xp = namespace(arrays[0])
    return (np.concatenate if xp is np else xp.concat)(arrays, axis=axis)


def flatnonzero(mask):
    """Indices of the true entries of a vector, in its library and on its device."""
    if isinstance(mask, np.ndarray):
        return np.flatnonzero(mask)
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


def row_max(array):
    """The largest entry of each row, as a column."""
    if isinstance(array, np.ndarray):  # The method calls this from Python.
        return np.maximum.reduce(array, axis=1, keepdims=True)
    return namespace(array).max(array, axis=1, keepdims=True)


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
    dtype = widened(array[:0, ...]).dtype
    return to_numpy(xp.sum(array, axis=0, dtype=dtype)).astype(np.float64)


def reshape(array, shape):
    """An array in another shape; a copy only if necessary."""
    if isinstance(array, np.ndarray):
        return array.reshape(shape)
    return namespace(array).reshape(array, shape)


def all_finite(array):
    """Whether there is neither NaN nor infinity."""
    if isinstance(array, np.ndarray):  # A method takes half as long as the function.
        return bool(np.isfinite(array).all())
    xp = namespace(array)
    return bool(xp.all(xp.isfinite(array)))


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


@lru_cache(maxsize=16)
def upper_triangle(n):
    """Rows and columns of the upper triangle of a matrix, and the index of each entry.

    The index, of shape (n, n), is the position of each entry of a symmetric matrix in
    the triangle.
    """
    first, second = np.triu_indices(n)
    number = np.empty((n, n), dtype=int)
    number[first, second] = number[second, first] = np.arange(len(first))
    return first, second, number


def columns_of(array, columns):
    """Some columns of NumPy's matrix, given by their numbers, in its memory order."""
    if array.flags.c_contiguous:
        return array.take(columns, axis=1)
    return array.T.take(columns, axis=0).T


def rows_of(array, rows):
    """Some rows of NumPy's matrix, given by their numbers, in its memory order."""
    return columns_of(array.T, rows).T
