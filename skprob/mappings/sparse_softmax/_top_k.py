"""The largest numbers of each row."""

import numpy as np


def top_k(values, k):
    """Boolean indicator of the k largest numbers of each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers without NaN. The first of equal numbers are taken.
    k : int
        At least 1; all numbers are taken if there are fewer.

    Returns
    -------
    chosen : ndarray of bool of the shape of `values`

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.mappings.sparse_softmax import top_k
    >>> top_k(np.array([[0.2, 0.4, 0.2, 0.2]]), 2)
    array([[ True,  True, False, False]])
    """
    n_columns = values.shape[1]
    if k >= n_columns:
        return np.ones(values.shape, dtype=bool)
    place = n_columns - int(k)
    smallest = np.partition(values, place, axis=1)[:, place]
    return first_from(values, smallest, np.full(len(values), k))


def first_from(values, smallest, count):
    """Boolean indicator of the largest numbers of each row, of equal ones the first.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
    smallest : ndarray of shape (n_rows,)
        The smallest number that is taken.
    count : ndarray of int of shape (n_rows,)
        How many numbers are taken.

    Returns
    -------
    chosen : ndarray of bool of the shape of `values`
    """
    smallest = smallest[:, None]
    chosen = values > smallest
    tied = values == smallest
    n_tied = count - chosen.sum(axis=1)
    chosen |= tied
    # Rows with more equal numbers than places.
    rows = np.flatnonzero(tied.sum(axis=1) > n_tied)
    tied = tied[rows]
    chosen[rows] &= ~tied | (tied.cumsum(axis=1) <= n_tied[rows, None])
    return chosen
