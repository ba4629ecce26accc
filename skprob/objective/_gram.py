"""Gram matrices of the features, weighted by the curvature of the loss.

They are what a solver knows of the Hessian at once: its diagonal blocks, class by
class, up to the penalty.
"""

import numpy as np
from scipy import sparse

from ._parallel import sum_over

# Rows are copied, centred and scaled, so many numbers at a time, which stay in cache;
# but enough rows for the products to outweigh adding up the matrices.
_BATCH_SIZE = 1 << 16
_ROWS_PER_FEATURE = 2


def weighted_grams(blocks, weights, mean, scale, fit_intercept):
    """Σ_i weight_ik z_i z_iᵀ for each k, of rows z = (x - mean) / scale.

    Parameters
    ----------
    blocks : sequence of Block
    weights : sequence of ndarray of shape (n_rows, n_grams)
        Of each block. Non-negative; rows that weigh nothing cost nothing.
    mean, scale : ndarray of shape (n_features,)
    fit_intercept : bool
        Whether each z ends with a 1.

    Returns
    -------
    grams : ndarray of shape (n_grams, n_features + fit_intercept, the same)
    """
    n_grams, size = weights[0].shape[1], len(mean) + fit_intercept

    def part(batch):
        # Feature by feature: the factors of the rows run along the memory.
        z = np.empty((size, sum(len(rows) for _, rows in batch)))
        start = 0
        for i, rows in batch:
            X = blocks[i].X
            # Without a copy, where it is all of them.
            X = X if len(rows) == X.shape[0] else X[rows]
            X = X.toarray() if sparse.issparse(X) else X
            z[: len(mean), start : start + len(rows)] = X.T
            start += len(rows)
        z[: len(mean)] -= mean[:, None]
        z[: len(mean)] /= scale[:, None]
        z[len(mean) :] = 1
        weight = np.concatenate([weights[i][rows] for i, rows in batch])
        return (_grams(z, weight),)

    batches = _batches(weights, max(_BATCH_SIZE // size, _ROWS_PER_FEATURE * size))
    return sum_over(batches, part, n_grams * size**2)[0]


def _grams(z, weight):
    """Σ_i weight_ik z_i z_iᵀ for each k, of columns z_i; z may be overwritten."""
    size, n_grams = len(z), weight.shape[1]
    grams = np.empty((n_grams, size, size))
    if 2 * n_grams < size:
        weighted = np.empty_like(z) if n_grams > 1 else z
        for gram, root in zip(grams, np.sqrt(weight).T, strict=True):
            np.multiply(z, root, out=weighted)
            # The product of an array with its own transpose costs half.
            np.matmul(weighted, weighted.T, out=gram)
        return grams
    # One large product of what all the matrices share is faster than many small ones.
    upper = np.triu_indices(size)
    pairs = np.empty((len(upper[0]), z.shape[1]))
    end = 0
    for j, row in enumerate(z):
        start, end = end, end + size - j
        np.multiply(row, z[j:], out=pairs[start:end])
    found = (pairs @ weight).T
    grams[:, *upper] = grams[:, *upper[::-1]] = found
    return grams


def _batches(weights, n_rows):
    """Lists of pairs (block, rows in it) that together have so many rows at most."""
    # No batch at all would have no sum.
    batches, room = [[(0, np.empty(0, dtype=int))]], n_rows
    for i, weight in enumerate(weights):
        rows = np.flatnonzero(weight.any(axis=1))
        while len(rows):
            if room == 0:
                batches.append([])
                room = n_rows
            batches[-1].append((i, rows[:room]))
            rows, room = rows[room:], max(room - len(rows), 0)
    return batches


def systematic_sample(importance, n_drawn):
    """How often each row is drawn if `n_drawn` are, in proportion to an importance.

    Parameters
    ----------
    importance : ndarray of shape (n_rows,)
        Non-negative, with a positive sum.
    n_drawn : int

    Returns
    -------
    counts : ndarray of shape (n_rows,)
        Integers next to ``n_drawn * importance / importance.sum()``.
    """
    reached = np.cumsum(importance)
    reached *= n_drawn / reached[-1]
    return np.diff(np.floor(reached + 0.5), prepend=0.0)
