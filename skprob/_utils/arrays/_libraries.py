"""Which library an array is of, and arrays of any library as NumPy's."""

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.externals.array_api_compat import (
    array_namespace,
    is_array_api_obj,
    is_dask_array,
    is_writeable_array,
)
from sklearn.utils._array_api import _convert_to_numpy, get_namespace

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


def to_numpy(array):
    """An array of any library as a NumPy array, in the memory of the host."""
    return array if is_host(array) else _convert_to_numpy(array, namespace(array))


def numpy_dtype(array):
    """The type of an array of real numbers, as NumPy's."""
    if is_host(array):
        return array.dtype
    xp = namespace(array)
    return np.dtype(np.float32 if array.dtype == xp.float32 else np.float64)
