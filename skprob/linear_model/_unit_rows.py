"""Rows of norm one, whose inner products are cosines."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from .._arrays import (
    as_type,
    beside,
    concat,
    is_host,
    namespace,
    row_dot,
    row_max,
    zeros,
)


def rows_as_they_are(X):
    """The rows of X."""
    return X


def unit_rows(X):
    """A copy of X with its rows at norm one; rows of zeros stay zeros.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Finite.

    Returns
    -------
    directions : ndarray or CSR matrix of the shape of X

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3e-200, -4e-200], [0.0, 0.0]]))
    array([[ 0.6, -0.8],
           [ 0. ,  0. ]])
    """
    # By the largest entry first: squares of tiny numbers would vanish, and scikit-learn
    # takes a norm below 1e-15 for zero.
    if not is_host(X):
        return _unit_rows_of_any(X)
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        largest = abs(X).max(axis=1).toarray().ravel()
        X.data /= np.repeat(np.where(largest > 0, largest, 1), np.diff(X.indptr))
    else:
        largest = np.abs(X).max(axis=1, keepdims=True)
        X = X / np.where(largest > 0, largest, 1)
    return normalize(X, copy=False)


def _unit_rows_of_any(X):
    xp = namespace(X)
    largest = row_max(abs(X))
    X = X / xp.where(largest > 0, largest, 1.0)
    norm = xp.sqrt(row_dot(X, X))
    return X / xp.where(norm > 0, norm, 1.0)


class StandardUnitRows(NamedTuple):
    """A function: rows of standardised features and a constant, at norm one.

    Examples
    --------
    >>> import numpy as np
    >>> inputs = StandardUnitRows(np.array([10.0]), np.array([2.0]), 2.0)
    >>> inputs(np.array([[13.0], [10.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    mean: np.ndarray
    scale: np.ndarray
    constant: float  #: Zero is no constant.

    def __call__(self, X):
        mean, scale = (as_type(beside(a, X), X.dtype) for a in self[:2])
        if not is_host(X):
            column = zeros((X.shape[0], int(self.constant > 0)), X) + self.constant
            return unit_rows(concat([(X - mean) / scale, column], axis=1))
        is_sparse = sparse.issparse(X)
        if mean.any():
            X = X.toarray() if is_sparse else X
            is_sparse, X = False, X - mean
        if (scale != 1).any():
            X = (X.multiply(1 / scale)).tocsr() if is_sparse else X / scale
        if self.constant:
            column = np.full((X.shape[0], 1), self.constant, dtype=X.dtype)
            X = (
                sparse.hstack([X, column], "csr")
                if is_sparse
                else np.hstack([X, column])
            )
        return unit_rows(X)
