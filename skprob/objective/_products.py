"""The two products with a block of rows, in the shapes that BLAS is fastest at.

With few outputs a product is as long as X takes to be read, and OpenBLAS would spend
as much again on packing its operands. It leaves that out for small matrices; so tall
ones are multiplied as a stack of small ones. With many classes a mapping with exact
zeros leaves most of the residual zero, and its non-zeros alone are multiplied.
"""

import math

import numpy as np
from scipy import sparse

# A product of so many multiplications is small for OpenBLAS, a tile of so many bytes
# of X stays in a core's own cache, and one of fewer rows is not worth its own product.
_SMALL = 10**6
_IN_CACHE = 400_000
_FEWEST_ROWS = 16
# With more outputs, and coefficients, packing is little beside the arithmetic.
_FEW_OUTPUTS = 16
_FEW_COEFFICIENTS = 4000
# From so many features on, outputs row by row are so much faster than one after the
# other that they pay for the transposition ...
_WIDE = 64
# ... and a weighted sum of all rows is faster than the sum of those of tiles.
_VERY_WIDE = 200
# From so many outputs on, and for dense X so many features, it pays to look for the
# zeros of the residual, and to leave them out if no more than this share is not zero.
_MANY_OUTPUTS = 64
_MANY_FEATURES = 128
_FEW_NON_ZEROS = 0.1
_FEW_NON_ZEROS_BESIDE_CSR = 0.03


def outputs(X, coef):
    """W x of each row, with the outputs laid out one after the other.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
    coef : ndarray of shape (n_outputs, n_features)
        Fastest in Fortran order.

    Returns
    -------
    outputs : ndarray of shape (n_rows, n_outputs)
        In Fortran order if X is dense: the kernels that follow are faster so.
    """
    if sparse.issparse(X):
        if not coef.any():  # Where a fit begins.
            return np.zeros((X.shape[0], len(coef)), np.result_type(X, coef))
        return X @ coef.T
    tile = _tile(X, len(coef))
    if tile == 0:
        return (coef @ X.T).T
    n_rows, n_outputs = len(X), len(coef)
    tiles, rest = _cut(X, tile)
    n_tiled = n_rows - len(rest)
    dtype = np.result_type(X, coef)
    if X.shape[1] < _WIDE:
        by_output = np.empty((n_outputs, n_rows), dtype=dtype)
        tiled = by_output[:, :n_tiled].reshape(n_outputs, -1, tile).swapaxes(0, 1)
        np.matmul(coef, tiles.swapaxes(1, 2), out=tiled)
        np.matmul(coef, rest.T, out=by_output[:, n_tiled:])
        return by_output.T
    by_row = np.empty((n_rows, n_outputs), dtype=dtype)
    columns = np.ascontiguousarray(coef.T)
    np.matmul(tiles, columns, out=by_row[:n_tiled].reshape(-1, tile, n_outputs))
    np.matmul(rest, columns, out=by_row[n_tiled:])
    return np.asfortranarray(by_row)


def weighted_sum(X, residual):
    """Σ_i residual_i x_iᵀ, of shape (n_outputs, n_features).

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
    residual : ndarray of shape (n_rows, n_outputs)
    """
    n_outputs = residual.shape[1]
    if sparse.issparse(X):
        if n_outputs >= _MANY_OUTPUTS:
            few = _as_csr_if_few(residual.T, _FEW_NON_ZEROS_BESIDE_CSR)
            if few is not None:
                return (few @ X).toarray()
        transposed = compressed(sparse.csc_array, X.shape[::-1], X.data, X)
        return (transposed @ residual).T
    if n_outputs >= _MANY_OUTPUTS and X.shape[1] >= _MANY_FEATURES:
        few = _as_csr_if_few(residual.T, _FEW_NON_ZEROS)
        if few is not None:
            return few @ X
    tile = _tile(X, n_outputs) if X.shape[1] < _VERY_WIDE else 0
    if tile == 0:
        return residual.T @ X
    tiles, rest = _cut(X, tile)
    n_tiled = len(X) - len(rest)
    factors = residual[:n_tiled].T.reshape(n_outputs, -1, tile).swapaxes(0, 1)
    total = np.matmul(factors, tiles).sum(axis=0)
    if len(rest):
        total += residual[n_tiled:].T @ rest
    return total


def compressed(kind, shape, data, pattern):
    """A CSR or CSC array of these numbers where another has its own.

    Its arrays are filled in: the constructors would copy small parts of an array.
    """
    array = kind(shape, dtype=data.dtype)
    array.data, array.indices, array.indptr = data, pattern.indices, pattern.indptr
    return array


def _as_csr_if_few(dense, share):
    """A matrix as CSR array, or None if a larger share of it is not zero."""
    nonzero = dense != 0
    if np.count_nonzero(nonzero) > share * dense.size:
        return None
    n_rows, n_columns = dense.shape
    place = np.flatnonzero(nonzero)
    indptr = np.searchsorted(place, np.arange(n_rows + 1) * n_columns)
    values = dense.reshape(-1)[place]
    return sparse.csr_array((values, place % n_columns, indptr), shape=dense.shape)


def _tile(X, n_outputs):
    """Rows of a small product; 0 where the product is better done at once."""
    n_rows, n_features = X.shape
    size = n_outputs * n_features
    few = n_outputs <= _FEW_OUTPUTS or size <= _FEW_COEFFICIENTS
    by_rows = X.strides[1] == X.itemsize
    if n_outputs == 1 or not (few and by_rows):
        return 0
    small = _SMALL // max(size, 1)
    in_cache = _IN_CACHE // max(X.itemsize * n_features, 1)
    if min(small, in_cache, n_rows) < _FEWEST_ROWS:
        return 0
    # Of equal sizes, lest many rows be left.
    return n_rows // max(math.ceil(n_rows / small), round(n_rows / in_cache))


def _cut(X, tile):
    """Views of X: a stack of tiles, and the rows that are left."""
    n_tiled = len(X) - len(X) % tile
    return X[:n_tiled].reshape(-1, tile, X.shape[1]), X[n_tiled:]
