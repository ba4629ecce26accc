"""X and sample_weight of other kinds than a plain array: their conversion.

Errors name the argument.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from ..arrays import (
    is_foreign,
    namespace,
    numpy_dtype,
    real_dtypes,
    to_numpy,
)
from ..compat import check_weights
from .arguments import SHARE_OF_SQUARES, has_small_squares
from .matrices import (
    refuse_dask,
    refuse_unreadable,
    refuse_unreadable_numbers,
    without_duplicates,
)
from .messages import naming
from .tensors import check_tensor


def converted_X(estimator, X, reset):
    """`X` as a float array or CSR matrix: see :func:`check_X`."""
    refuse_dask("X", X)
    convert = _checked_tensor if is_foreign(X) else _checked_matrix
    return convert(estimator, X, reset)


def _checked_tensor(estimator, X, reset):
    """`X` of another array library, with numbers of a real type."""
    check_tensor("X", X)
    with naming("X", X):
        if namespace(X).isdtype(X.dtype, "complex floating"):
            raise ValueError("Complex numbers were found.")
        refuse_unreadable(X)
        X = validate_data(
            estimator, X, accept_sparse="csr", dtype=real_dtypes(X), reset=reset
        )
    if reset:
        check_squares(X)
    return X


def _checked_matrix(estimator, X, reset):
    """`X` as an array of NumPy or a CSR matrix."""
    with naming("X", X):
        refuse_unreadable_numbers(X)
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=reset,
            # At fit the sum of squares is finite only if all numbers are.
            ensure_all_finite=not reset,
        )
        if not reset:
            return X
        if sparse.issparse(X):
            X = without_duplicates(X)
        if has_small_squares(X):
            return X
        assert_all_finite(X, estimator_name=type(estimator).__name__, input_name="X")
    check_squares(X)
    return X


def check_squares(X):
    """Raise where the squares of the entries of a matrix overflow, or their sums."""
    dtype, values = numpy_dtype(X), X.data if sparse.issparse(X) else X
    limit = np.sqrt(SHARE_OF_SQUARES * np.finfo(dtype).max)
    if isinstance(values, np.ndarray):
        largest = max(values.max(initial=0), -values.min(initial=0))
    else:
        xp = namespace(values)
        largest = float(xp.maximum(xp.max(values), -xp.min(values)))
    if largest > limit:
        raise ValueError(
            f"X must not exceed {limit:.1g} in absolute value, or the squares of "
            f"{dtype} overflow; got {largest:.1g}. Scale the features."
        )


def converted_weights(sample_weight, X):
    """Weights that a user gives, as a NumPy array of shape (n_samples,)."""
    with naming("sample_weight"):
        if is_foreign(sample_weight):
            check_tensor("sample_weight", sample_weight)
            sample_weight = to_numpy(sample_weight)
        refuse_unreadable_numbers(sample_weight)
        if np.asarray(sample_weight).dtype.kind == "c":
            raise ValueError("Complex numbers were found.")
        if is_foreign(X):  # The weights are a NumPy array in any case.
            X = np.empty((X.shape[0], 0))
        return check_weights(sample_weight, X)
