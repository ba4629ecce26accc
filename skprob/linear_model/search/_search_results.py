"""Results of the fits of a search, and the pair with the highest mean score."""

from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._utils.warnings import warn


class Results(NamedTuple):
    """Results of the fits of a search, or of one fold; NaN for fits that are not done.

    Attributes
    ----------
    scores : ndarray of shape (..., n_values, n_Cs)
    coefs : ndarray of shape (..., n_values, n_Cs, M, n_features)
    intercepts : ndarray of shape (..., n_values, n_Cs, M)
    converged : ndarray of bool of shape (..., n_values, n_Cs)
    n_iter : ndarray of int of shape (..., n_values, n_Cs)
        -1 for fits that are not done.
    """

    scores: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray
    n_iter: np.ndarray

    @classmethod
    def unknown(cls, shape, coef_shape, dtype):
        """Results for which no fit has been done."""
        return cls(
            scores=np.full(shape, np.nan),
            coefs=np.full((*shape, *coef_shape), np.nan, dtype),
            intercepts=np.full((*shape, coef_shape[0]), np.nan, dtype),
            converged=np.zeros(shape, dtype=bool),
            n_iter=np.full(shape, -1),
        )

    def of_fold(self, number):
        """Views of the results of a fold."""
        return Results(*(array[number] for array in self))


def best_pair(grid, scores, scoring):
    """The pair with the highest mean score and this score, by attribute.

    Parameters
    ----------
    grid : Grid
    scores : ndarray of shape (n_folds, n_values, n_Cs)
    scoring : object
        The parameter, for errors and warnings.

    Returns
    -------
    place : tuple of int
        Its row and column in the grid.
    choice : dict
    """
    with np.errstate(invalid="ignore"):
        mean = scores.mean(axis=0)
    unknown = np.isnan(mean)
    if unknown.all():
        raise ValueError(f"scoring={scoring!r} is NaN for every model, in some fold.")
    if unknown.any():
        warn(
            f"scoring={scoring!r} is NaN for {np.isnan(scores).sum()} of the "
            f"{scores.size} fits; their pairs of {grid.parameter} and C, "
            f"{unknown.sum()} of {unknown.size}, are not chosen.",
        )
    best = np.argwhere(mean == np.nanmax(mean))
    rank = np.argsort(grid.order)
    # The first value stands for all: Cs in one column weigh alike.
    i, j = min(best, key=lambda place: (grid.Cs[0, place[1]], rank[place[0]]))
    value = grid.values[i]
    return (i, j), {
        f"{grid.parameter}_": float(value) if isinstance(value, float) else value,
        "C_": float(grid.Cs[i, j]),
        "best_score_": float(mean[i, j]),
    }


def warn_of_failed_fits(results, max_iter, tol):
    """Warn if fits of a search did not converge."""
    failed = np.count_nonzero(~results.converged)
    if failed:
        warn(
            f"{failed} of the {results.scores.size} fits of the search did not "
            f"converge. Increase max_iter (now {max_iter}) or tol (now {tol:.3g}), "
            "or lower Cs.",
            ConvergenceWarning,
        )
