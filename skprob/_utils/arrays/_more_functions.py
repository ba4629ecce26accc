"""Functions of arrays of NumPy or of another library, with a case for each."""

from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.utils._array_api import _max_precision_float_dtype

from ._functions import is_foreign, namespace, to_numpy


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


def on_host(data):
    """Array-like data as a NumPy array, those of another library copied to the host."""
    return to_numpy(data) if is_foreign(data) else np.asarray(data)


def dense(array):
    """A sparse matrix as a NumPy array; other arrays themselves."""
    return array.toarray() if sparse.issparse(array) else array


def as_type(array, dtype):
    """An array in a type of its library; the array itself if it has this type."""
    if isinstance(array, np.ndarray):
        return array.astype(dtype, copy=False)
    return namespace(array).astype(array, dtype, copy=False)


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
    if isinstance(array, np.ndarray):
        return array.reshape(shape)
    return namespace(array).reshape(array, shape)


def all_finite(array):
    """Whether there is neither NaN nor infinity."""
    if isinstance(array, np.ndarray):  # A method takes half as long as the function.
        return bool(np.isfinite(array).all())
    xp = namespace(array)
    return bool(xp.all(xp.isfinite(array)))
