"""The classes with the largest scores of each row, without sorting the row."""

import numpy as np

from ._top_k import first_from, top_k

# Number of scores of a row that are sorted first, to find those with a given mass.
_FIRST = 64


def largest(scores, k):
    """Mask of the k largest entries of each row; of equal entries, the first.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Scores without NaN; -inf is never kept.
    k : int
        At least 1; may exceed n_classes.

    Returns
    -------
    kept : ndarray of bool of shape (n_samples, n_classes)
    """
    return top_k(scores, k) & (scores > -np.inf)


def largest_with_mass(scores, share):
    """Mask of the smallest set of largest scores with softmax mass `share`.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Scores without NaN; each row has a score above -inf.
    share : float
        Above 0 and below 1, up to rounding errors of the mass.

    Returns
    -------
    kept : ndarray of bool of shape (n_samples, n_classes)
    """
    n_samples, n_classes = scores.shape
    top = scores.max(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        least_mass = np.exp(scores - top).sum(axis=1, dtype=np.float64)
    least_mass *= share * (1 - 8 * np.finfo(scores.dtype).eps)
    count = np.empty(n_samples, dtype=np.intp)
    last = np.empty(n_samples, dtype=scores.dtype)
    open_rows, width = np.arange(n_samples), _FIRST
    while open_rows.size:
        head = _descending(scores[open_rows], min(width, n_classes))
        with np.errstate(over="ignore"):
            mass = np.exp(head - top[open_rows]).cumsum(axis=1, dtype=np.float64)
        needed = (mass < least_mass[open_rows, None]).sum(axis=1)
        np.minimum(needed, n_classes - 1, out=needed)
        is_done = needed < head.shape[1]
        rows = open_rows[is_done]
        count[rows] = needed[is_done] + 1
        last[rows] = head[is_done, needed[is_done]]
        open_rows = open_rows[~is_done]
        width *= 8
    return first_from(scores, last, count) & (scores > -np.inf)


def _descending(scores, k):
    """The k largest scores of each row, the largest first."""
    n_classes = scores.shape[1]
    if k < n_classes:
        scores = np.partition(scores, n_classes - k, axis=1)[:, n_classes - k :]
    return -np.sort(-scores, axis=1)
