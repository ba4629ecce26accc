"""The size of the support of each row, and rows whose support is a single class."""

import numpy as np

from ..._utils.arrays import rows_of


def count_positive(x):
    """Number of positive entries of each row, as a column."""
    # Sums of small integers are faster.
    dtype = np.int8 if x.shape[1] <= np.iinfo(np.int8).max else np.intp
    return np.add.reduce((x > 0).view(np.int8), axis=1, dtype=dtype, keepdims=True)


def solve_mixed(x, solve):
    """Probabilities and potential of all rows, some of which need no computation.

    A row with a single positive entry is its own probabilities and has the potential
    zero. At the end of a fit most rows are such rows.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_classes)
        From 0 to 1, the largest of each row 1; overwritten.
    solve : callable
        ``solve(rows, size)`` returns probabilities and potential of the other rows. It
        may overwrite them; `size` is the number of positive entries of each.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
    potential : ndarray of shape (n_samples,)
    """
    size = count_positive(x)
    mixed = (size > 1).nonzero()[0]
    if 2 * len(mixed) > len(x):
        return solve(x, size)
    potential = np.zeros(len(x), dtype=x.dtype)
    x[mixed], potential[mixed] = solve(rows_of(x, mixed), size[mixed])
    return x, potential
