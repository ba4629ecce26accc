"""Results of the fits of a search, and the choice with the highest mean score."""

from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._utils.warnings import warn


class Results(NamedTuple):
    """Results of the fits of a search, or of one fold; NaN for fits that have not run.

    Attributes
    ----------
    scores : ndarray of shape (..., n_values, n_l1_ratios, n_Cs)
    coefs : ndarray of shape (..., n_values, n_l1_ratios, n_Cs, M, n_features)
    intercepts : ndarray of shape (..., n_values, n_l1_ratios, n_Cs, M)
    converged : ndarray of bool of shape (..., n_values, n_l1_ratios, n_Cs)
    n_iter : ndarray of int of shape (..., n_values, n_l1_ratios, n_Cs)
        Number of iterations; -1 for fits that have not run.
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


class Choice(NamedTuple):
    """A place in the grid, its parameters and its mean score.

    Attributes
    ----------
    place : tuple of int
    params : dict
        The parameter of the mapping, l1_ratio and C, by name.
    score : float
    """

    place: tuple[int, ...]
    params: dict
    score: float

    def attributes(self, has_ratios):
        """Fitted attributes, with an l1_ratio if the search has several."""
        attributes = {
            f"{name}_": value
            for name, value in self.params.items()
            if has_ratios or name != "l1_ratio"
        }
        return attributes | {"best_score_": self.score}


def attributes_of_search(grid, results, has_ratios):
    """The grid and the results as fitted attributes, by name.

    Parameters
    ----------
    grid : Grid
    results : Results
        The results of all folds. The attributes are views, which show later results.
    has_ratios : bool
        Whether there is an axis of l1_ratios.
    """
    Cs, ratios = grid.Cs, {"l1_ratios_": grid.l1_ratios}
    if not has_ratios:
        results, Cs, ratios = results.without_ratios(), Cs[:, 0], {}
    return ratios | {
        f"{grid.parameter}s_": grid.values,
        "Cs_": Cs,
        "scores_": results.scores,
        "coefs_paths_": results.coefs,
        "intercepts_paths_": results.intercepts,
        "n_iter_": results.n_iter,
    }


def best_choice(grid, scores, scoring):
    """The :class:`Choice` with the highest mean score.

    Parameters
    ----------
    grid : Grid
    scores : ndarray of shape (n_folds, n_values, n_l1_ratios, n_Cs)
    scoring : object
        The parameter, for errors and warnings.

    Returns
    -------
    choice : Choice
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
        # The values of C have the same order in all paths.
        return grid.Cs[0, 0, j], -grid.l1_ratios[r], rank[i]

    place = tuple(min(best, key=preference))
    params = {
        name: float(value) if isinstance(value, float) else value
        for name, value in grid.params(*place).items()
    }
    return Choice(place, params, float(mean[place]))


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
