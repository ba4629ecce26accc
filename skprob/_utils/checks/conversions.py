"""X of other kinds than a plain array: its conversion, with errors that name X."""

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from ..arrays import check_tensor, namespace, real_dtypes
from .arguments import check_squares, has_small_squares
from .matrices import refuse_unreadable, without_duplicates
from .messages import naming


def checked_tensor(estimator, X, reset):
    """`X` of another array library: see :func:`check_X`."""
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


def checked_matrix(estimator, X, reset):
    """`X` as an array of NumPy or a CSR matrix: see :func:`check_X`."""
    with naming("X", X):
        refuse_unreadable(X)
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
