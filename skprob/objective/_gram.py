"""Gram matrices of the features, weighted by the curvature of the loss.

They are what a solver knows of the Hessian at once: its diagonal blocks, class by
class, up to the penalty.
"""

import numpy as np
from scipy import sparse

# Dense copies of rows are made so many numbers at a time.
_CHUNK_SIZE = 1 << 18


def block_grams(block, weight, mean, scale, fit_intercept):
    """Σ_i weight_ik z_i z_iᵀ for each k, of rows z = (x - mean) / scale.

    Parameters
    ----------
    block : Block
    weight : ndarray of shape (n_rows, n_grams)
        Non-negative; rows that weigh nothing cost nothing.
    mean, scale : ndarray of shape (n_features,)
    fit_intercept : bool
        Whether each z ends with a 1.

    Returns
    -------
    grams : ndarray of shape (n_grams, n_features + fit_intercept, the same)
    """
    rows = np.flatnonzero(weight.any(axis=1))
    d = len(mean)
    size = d + fit_intercept
    grams = np.zeros((weight.shape[1], size, size))
    step = max(1, _CHUNK_SIZE // size)
    root = np.sqrt(weight)
    for start in range(0, len(rows), step):
        chunk = slice(start, start + step)
        if len(rows) < len(weight):
            chunk = rows[chunk]
        X = block.X[chunk]
        # Feature by feature: the factors of the rows run along the memory.
        z = np.empty((size, X.shape[0]))
        z[:d] = (X.toarray() if sparse.issparse(X) else X).T
        z[:d] -= mean[:, None]
        z[:d] /= scale[:, None]
        z[d:] = 1
        weighted = np.empty_like(z) if len(grams) > 1 else z
        for gram, factor in zip(grams, root[chunk].T, strict=True):
            np.multiply(z, factor, out=weighted)
            # The product of an array with its own transpose costs half.
            gram += weighted @ weighted.T
    return grams


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
