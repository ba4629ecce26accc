"""The argument cv: rows of its folds."""

import numpy as np


def rows_of_folds(folds, n_samples):
    """Numbers of the training and test rows of each fold of a user's `cv`.

    Parameters
    ----------
    folds : list of pair of array-like
        Numbers of rows, or masks of all rows.
    n_samples : int

    Raises
    ------
    ValueError
        If a row is not among those of X, or a fold is no pair.

    Examples
    --------
    >>> rows_of_folds([([True, False], [-1])], 2)
    [(array([0]), array([1]))]
    """
    rows = np.arange(n_samples)
    try:
        return [(rows[train], rows[test]) for train, test in folds]
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            "cv must make pairs of training and test rows, as numbers from 0 to "
            f"{n_samples - 1} or as masks of all {n_samples} rows. {error}"
        ) from error
