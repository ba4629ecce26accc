"""The largest numbers of each row, a fixed number of them."""

import numpy as np


def top_k(values, k):
    """Boolean indicator of the k largest numbers of each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Of equal numbers the first ones are taken.
    k : int
        At least 1; all numbers are taken if there are fewer.

    Returns
    -------
    chosen : ndarray of bool of the shape of `values`

    Examples
    --------
    >>> import numpy as np
    >>> from skprob._utils.top_k import top_k
    >>> top_k(np.array([[0.2, 0.4, 0.2, 0.2]]), 2)
    array([[ True,  True, False, False]])
    """
    k = min(int(k), values.shape[1])  # Unsigned integers have no negative one.
    smallest = np.partition(values, -k, axis=1)[:, [-k]]
    above, tied = values > smallest, values == smallest
    n_left = k - above.sum(axis=1, keepdims=True)
    return above | (tied & (np.cumsum(tied, axis=1) <= n_left))
