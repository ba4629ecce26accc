"""Results of the fits of a search, and the choice with the highest mean score."""

from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._utils.warnings import warn


class Results(NamedTuple):
    """Results of the fits of a search, or of one fold; NaN for fits that are not done.

    Attributes
    ----------
    scores : ndarray of shape (..., n_values, n_l1_ratios, n_Cs)
    coefs : ndarray of shape (..., n_values, n_l1_ratios, n_Cs, M, n_features)
    intercepts : ndarray of shape (..., n_values, n_l1_ratios, n_Cs, M)
    converged : ndarray of bool of shape (..., n_values, n_l1_ratios, n_Cs)
    n_iter : ndarray of int of shape (..., n_values, n_l1_ratios, n_Cs)
        -1 for fits that are not done.
    left_out : ndarray of object of shape (..., n_values, n_l1_ratios, n_Cs)
        Raw predictions of left-out rows, where they are scored after all fits; or None.
    """

    scores: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    converged: np.ndarray
    n_iter: np.ndarray
    left_out: np.ndarray

    @classmethod
    def unknown(cls, shape, coef_shape, dtype):
        """Results for which no fit has been done."""
        return cls(
            scores=np.full(shape, np.nan),
            coefs=np.full((*shape, *coef_shape), np.nan, dtype),
            intercepts=np.full((*shape, coef_shape[0]), np.nan, dtype),
            converged=np.zeros(shape, dtype=bool),
            n_iter=np.full(shape, -1),
            left_out=np.full(shape, None),
        )

    def of_fold(self, number):
        """Views of the results of a fold."""
        return Results(*(array[number] for array in self))

    def without_ratios(self):
        """Views of the results for the only l1_ratio, without that axis."""
        return Results(*(array[:, :, 0] for array in self))


def attributes_of_search(grid, results, without_ratios):
    """The grid and the results as fitted attributes, by name.

    Parameters
    ----------
    grid : Grid
    results : Results
        Of all folds. The attributes are views, which see what is filled in later.
    without_ratios : bool
        Whether the axis of the only l1_ratio is left out.
    """
    Cs = grid.Cs
    if without_ratios:
        results, Cs = results.without_ratios(), Cs[:, 0]
    attributes = {
        f"{grid.parameter}s_": grid.values,
        "l1_ratios_": grid.l1_ratios,
        "Cs_": Cs,
        "scores_": results.scores,
        "coefs_paths_": results.coefs,
        "intercepts_paths_": results.intercepts,
        "n_iter_": results.n_iter,
    }
    if without_ratios:
        del attributes["l1_ratios_"]
    return attributes


def best_choice(grid, scores, scoring):
    """The parameters with the highest mean score and this score, by attribute.

    Parameters
    ----------
    grid : Grid
    scores : ndarray of shape (n_folds, n_values, n_l1_ratios, n_Cs)
    scoring : object
        The parameter, for errors and warnings.

    Returns
    -------
    place : tuple of int
        Place in the grid.
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
            f"{scores.size} fits; their parameters, {unknown.sum()} of "
            f"{unknown.size}, are not chosen.",
        )
    best = np.argwhere(mean == np.nanmax(mean)).tolist()
    rank = np.argsort(grid.order)

    def preference(place):
        i, r, j = place
        # The first path stands for all: Cs in one column weigh alike.
        return grid.Cs[0, 0, j], -grid.l1_ratios[r], rank[i]

    place = tuple(min(best, key=preference))
    i, r, _ = place
    value = grid.values[i]
    return place, {
        f"{grid.parameter}_": float(value) if isinstance(value, float) else value,
        "l1_ratio_": float(grid.l1_ratios[r]),
        "C_": float(grid.Cs[place]),
        "best_score_": float(mean[place]),
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
