"""Parts of NumPy's matrices, and weighted means."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=16)
def upper_triangle(n):
    """Rows and columns of the upper triangle of a matrix, and the index of each entry.

    The index, of shape (n, n), is the position of each entry of a symmetric matrix in
    the triangle.
    """
    first, second = np.triu_indices(n)
    number = np.empty((n, n), dtype=int)
    number[first, second] = number[second, first] = np.arange(len(first))
    return first, second, number


def columns_of(array, columns):
    """Some columns of NumPy's matrix, given by their numbers, in its memory order."""
    if array.flags.c_contiguous:
        return array.take(columns, axis=1)
    return array.T.take(columns, axis=0).T


def rows_of(array, rows):
    """Some rows of NumPy's matrix, given by their numbers, in its memory order."""
    return columns_of(array.T, rows).T


def weighted_mean(values, weight):
    """Mean of NumPy's arrays by non-negative weights, not all zero, as a float.

    It does not depend on the unit of the weights: their sum may overflow, and a product
    with a tiny one may be zero.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob._utils.arrays import weighted_mean
    >>> weighted_mean(np.array([0.0, 3.0]), np.array([5e-324, 1e-323]))
    2.0
    """
    return float(np.average(values, weights=weight / weight.max()))
