"""Checked scores for kernels, and the scores of two classes by their difference."""

import numpy as np

from .arrays import all_finite, concat, copied, row_max, to_numpy

#: Largest number of classes for which a copy in Fortran order is faster than reductions
#: over rows of contiguous scores.
FEW_CLASSES = 64


class BadScores(ValueError):
    """A row of scores for which there are no probabilities."""

    def __init__(self, row, holds, where=None):
        self.row, self.holds = row, holds
        super().__init__(
            "scores must be finite, or -inf for classes that are not available, "
            "with at least one available class in each row; "
            f"{where or f'row {row}'} holds {holds}."
        )


def standard_scores(scores, shift, first_row=0):
    """A copy of scores that kernels accept: checked, and shifted if `shift`.

    Raises ValueError if a row has NaN or +inf, or only -inf; rows are counted from
    `first_row`.
    """
    standard = laid_out(scores)
    top = row_max(standard)
    if not all_finite(top):
        top = to_numpy(top)
        row = int(np.argmin(np.isfinite(top)))
        holds = {np.inf: "+inf", -np.inf: "nothing but -inf"}.get(top[row, 0], "NaN")
        raise BadScores(first_row + row, holds)
    if shift:
        with np.errstate(over="ignore"):
            standard -= top
    return standard


def laid_out(block):
    """A copy in the memory order that is the fastest for NumPy's kernels."""
    if not isinstance(block, np.ndarray):
        return copied(block)
    order = "F" if block.shape[1] <= FEW_CLASSES else "C"
    return np.array(block, order=order)


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
