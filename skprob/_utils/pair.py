"""Two classes, where only the difference of the scores matters."""

import numpy as np

from .arrays import concat


def pair_scores(difference):
    """Scores -u/2 and u/2 of two classes that differ by u.

    Parameters
    ----------
    difference : ndarray of shape (n_samples, 1)

    Returns
    -------
    scores : ndarray of shape (n_samples, 2)
        The array is in Fortran order, which is faster for the kernels.
    """
    if not isinstance(difference, np.ndarray):
        return concat([-0.5 * difference, 0.5 * difference], axis=1)
    scores = np.empty((2, len(difference)), dtype=difference.dtype)
    np.multiply(difference[:, 0], -0.5, out=scores[0])
    np.negative(scores[0], out=scores[1])
    return scores.T


def pair_adjoint(array):
    """Adjoint of :func:`pair_scores`: from (n_samples, 2) to (n_samples, 1)."""
    return (array[:, 1:] - array[:, :1]) / 2
