"""The classes with the largest scores of each row, found without sorting it."""

import numpy as np

# Scores of a row that are put in order at first, to find how many make up a mass.
_FIRST = 64


def largest(scores, k):
    """Which entries are the k largest of their row; of equal ones, the first.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        No NaN; -inf is never among the largest.
    k : int
        At least 1; may exceed n_classes.

    Returns
    -------
    kept : ndarray of bool of shape (n_samples, n_classes)
    """
    n_classes = scores.shape[1]
    if k >= n_classes:
        return scores > -np.inf
    place = n_classes - k
    last = np.partition(scores, place, axis=1)[:, place]
    return _kept(scores, last, np.full(len(scores), k))


def largest_with_mass(scores, share):
    """Which entries make up the smallest leading set whose softmax mass is `share`.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        No NaN; in each row something above -inf.
    share : float
        Above 0 and below 1. A mass that misses it by rounding has reached it.

    Returns
    -------
    kept : ndarray of bool of shape (n_samples, n_classes)
    """
    n_samples, n_classes = scores.shape
    top = scores.max(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        enough = np.exp(scores - top).sum(axis=1, dtype=np.float64)
    enough *= share * (1 - 8 * np.finfo(scores.dtype).eps)
    count = np.empty(n_samples, dtype=np.intp)
    last = np.empty(n_samples, dtype=scores.dtype)
    open_rows, width = np.arange(n_samples), _FIRST
    while open_rows.size:
        head = _descending(scores[open_rows], min(width, n_classes))
        with np.errstate(over="ignore"):
            mass = np.exp(head - top[open_rows]).cumsum(axis=1, dtype=np.float64)
        needed = (mass < enough[open_rows, None]).sum(axis=1)
        np.minimum(needed, n_classes - 1, out=needed)
        found = needed < head.shape[1]
        rows = open_rows[found]
        count[rows] = needed[found] + 1
        last[rows] = head[found, needed[found]]
        open_rows = open_rows[~found]
        width *= 8
    return _kept(scores, last, count)


def _kept(scores, last, count):
    """Which entries are the first `count` of their row, `last` being the least."""
    last = last[:, None]
    kept = scores > last
    ties = scores == last
    left = count - kept.sum(axis=1)
    kept |= ties
    crowded = np.flatnonzero(ties.sum(axis=1) > left)
    ties = ties[crowded]
    kept[crowded] &= ~ties | (ties.cumsum(axis=1) <= left[crowded, None])
    kept &= scores > -np.inf
    return kept


def _descending(scores, k):
    """The k largest scores of each row, the largest first."""
    n_classes = scores.shape[1]
    if k < n_classes:
        scores = np.partition(scores, n_classes - k, axis=1)[:, n_classes - k :]
    return -np.sort(-scores, axis=1)
