"""Gram matrices of the features, weighted by the curvature of the loss.

They are what a solver knows of the Hessian at once: its diagonal blocks, class by
class, up to the penalty.
"""

from functools import cached_property

import numpy as np
from scipy import sparse

from ._parallel import sum_over

# Rows are copied, centred and scaled, so many numbers at a time, which stay in cache;
# but enough rows for the products to outweigh adding up the matrices.
_BATCH_SIZE = 1 << 16
_ROWS_PER_FEATURE = 2


class WeightedGrams:
    """Σ_i weight_ik z_i z_iᵀ for each k, of rows z = (x - mean) / scale.

    The rows z are kept from one call to the next where they are few.

    Parameters
    ----------
    blocks : sequence of Block
    mean, scale : ndarray of shape (n_features,)
    fit_intercept : bool
        Whether each z ends with a 1.
    """

    def __init__(self, blocks, mean, scale, fit_intercept):
        self._blocks = blocks
        self._mean, self._scale = mean, scale
        self._size = len(mean) + fit_intercept
        n_rows = sum(len(block.weight) for block in blocks)
        self._keeps = n_rows * self._size <= _BATCH_SIZE

    def __call__(self, weights, n_drawn=None):
        """The matrices.

        Parameters
        ----------
        weights : list of ndarray of shape (n_rows, n_grams)
            Of the rows of each block, not negative.
        n_drawn : int, default=None
            So many rows are drawn, those that weigh most, unless all are kept; None
            stands for all. Rows that are not drawn, or weigh nothing, cost nothing.

        Returns
        -------
        grams : ndarray of shape (n_grams, size, size)
            size is n_features, plus one if there is an intercept.
        """
        if self._keeps:
            return _grams(self._all_rows.copy(), np.concatenate(weights))
        if n_drawn is not None:
            weights = _drawn(weights, n_drawn)

        def part(batch):
            weight = np.concatenate([weights[i][rows] for i, rows in batch])
            return (_grams(self._rows(batch), weight),)

        n_grams, size = weights[0].shape[1], self._size
        batches = _batches(weights, max(_BATCH_SIZE // size, _ROWS_PER_FEATURE * size))
        return sum_over(batches, part, n_grams * size**2)[0]

    @cached_property
    def _all_rows(self):
        return self._columns([block.X for block in self._blocks])

    def _rows(self, batch):
        """Columns z_i of pairs (block, rows in it)."""
        parts = [(self._blocks[i].X, rows) for i, rows in batch]
        # Without a copy, where it is all of them.
        return self._columns(
            [X if len(rows) == X.shape[0] else X[rows] for X, rows in parts]
        )

    def _columns(self, parts):
        return standardised_columns(parts, self._mean, self._scale, self._size)


def standardised_columns(parts, mean, scale, size):
    """Rows (x - mean) / scale as columns, with ones below them up to a size.

    Parameters
    ----------
    parts : list of ndarray or CSR array of shape (n_rows, n_features)
    mean, scale : ndarray of shape (n_features,)
    size : int
        n_features, plus one if there is an intercept.

    Returns
    -------
    z : ndarray of shape (size, total number of rows)
        In float64. The factors of the rows run along the memory.
    """
    z = np.empty((size, sum(X.shape[0] for X in parts)))
    n_features, start = len(mean), 0
    for X in parts:
        X = X.toarray() if sparse.issparse(X) else X
        z[:n_features, start : start + len(X)] = X.T
        start += len(X)
    z[:n_features] -= mean[:, None]
    z[:n_features] /= scale[:, None]
    z[n_features:] = 1
    return z


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


def _drawn(weights, n_drawn):
    """Weights of a sample of rows, drawn in proportion to what they weigh.

    Parameters
    ----------
    weights : list of ndarray of shape (n_rows, n_grams)
        Of each block.
    n_drawn : int
        Where no more rows weigh anything, they are the sample.

    Returns
    -------
    weights : list of ndarray of shape (n_rows, n_grams)
    """
    importance = np.concatenate([part.sum(axis=1) for part in weights])
    if np.count_nonzero(importance) <= n_drawn:
        return weights
    counts = systematic_sample(importance, n_drawn)
    share = np.divide(
        counts * importance.sum() / n_drawn,
        importance,
        out=np.zeros_like(importance),
        where=counts > 0,
    )
    ends = np.cumsum([len(part) for part in weights])[:-1]
    return [
        part * factor[:, None]
        for part, factor in zip(weights, np.split(share, ends), strict=True)
    ]


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
