"""The nonconformity of true classes, and its quantile."""

from typing import NamedTuple

import numpy as np

from ..._utils.checks import check_sample_weight
from .._blocks import row_slices
from ._quantile import conformal_quantile

# Rounding errors of the nonconformity of a class, in units of the largest score: the
# same row in another batch may differ by some of them.
_ROUNDING_ERRORS = 64


class ScoresOfTruth(NamedTuple):
    """The nonconformity of pairs of a row and a true class.

    Attributes
    ----------
    scores, weights : ndarray of shape (n_pairs,)
    columns : ndarray of int of shape (n_pairs,)
        The number of the class.
    is_best : ndarray of bool of shape (n_pairs,)
        Whether the class is the best one of the row.
    rounding : float
        Largest change of a score if its row is in another batch of rows.
    """

    scores: np.ndarray
    weights: np.ndarray
    columns: np.ndarray
    is_best: np.ndarray
    rounding: float

    @property
    def accuracy(self):
        """Share of the weight of the pairs whose class is the best one of the row."""
        return float(self.weights @ self.is_best / self.weights.sum())

    def quantile(self, coverage, rows):
        """The score that a share of the pairs does not exceed; errors name the rows."""
        chosen = self.weights > 0
        return conformal_quantile(
            self.scores[chosen], self.weights[chosen], coverage, rows
        )

    def limit(self, quantile):
        """Largest nonconformity in a set: a class at the quantile must be in it."""
        with np.errstate(over="ignore"):
            return np.nextafter(quantile + self.rounding, np.inf)

    def of_class(self, k):
        """The pairs of one class."""
        chosen = self.columns == k
        *of_pairs, rounding = self
        return ScoresOfTruth(*(values[chosen] for values in of_pairs), rounding)


def calibration_weight(sample_weight, n_rows):
    """Weights of the calibration rows, whose sum is the number of rows.

    Raises
    ------
    ValueError
        If a weight is not a non-negative number, or their sum is 0 or infinite.
    """
    weight = check_sample_weight(sample_weight, np.empty((n_rows, 0)))
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total == np.inf:
        raise ValueError(
            "sample_weight must have a finite sum, because a row of weight w counts as "
            f"w rows; the largest weight is {weight.max():.3g}."
        )
    return weight


def scores_of_truth(nonconformity, truth, folds, *, weight, by_class, random):
    """:class:`ScoresOfTruth` of rows whose responses are out of fold.

    Parameters
    ----------
    nonconformity : EntmaxScore, ThresholdScore or AdaptiveScore
    truth : CSR array of shape (n_samples, n_classes)
    folds : iterable of (ndarray of int, Response)
        The rows of each fold, and their responses.
    weight : ndarray of shape (n_samples,)
    by_class : bool
        Whether each true class of a row has the whole weight of the row; otherwise they
        share it, so that a row counts once.
    random : RandomState or None
        Generator for randomised scores; None for all others.
    """
    rounding, scores, weights, columns, is_best = 0.0, [], [], [], []
    for rows, (values, precision, absent) in folds:
        uniform = None if random is None else random.uniform(size=len(rows))
        true_classes, pair_weight = truth[rows], weight[rows]
        if not by_class:
            n_true = np.maximum(np.diff(true_classes.indptr), 1)
            pair_weight = pair_weight / n_true
        for some in row_slices(values.shape):
            block, part = values[some], true_classes[some].tocoo()
            if absent is not None:
                _check_available(absent[some], part, rows[some])
            draws = None if uniform is None else uniform[some]
            scores.append(nonconformity.of_pairs(block, part.row, part.col, draws))
            weights.append(pair_weight[some][part.row])
            columns.append(part.col)
            is_best.append(block.argmax(axis=1)[part.row] == part.col)
        largest = 1.0
        if nonconformity.response == "scores":
            largest = np.abs(values).max(initial=0)
        rounding = max(rounding, _ROUNDING_ERRORS * precision * largest)
    of_pairs = scores, weights, columns, is_best
    pairs = (np.concatenate(parts) for parts in of_pairs)
    return ScoresOfTruth(*pairs, rounding)


def _check_available(absent, truth, rows):
    """Raise where a true class of a row is not available."""
    wrong = absent[truth.row, truth.col]
    if wrong.any():
        raise ValueError(
            "y must hold available classes; the class of row "
            f"{rows[truth.row[wrong.argmax()]]} is not available."
        )


def quantiles_by_class(true_scores, coverage, classes):
    """The quantile of each class, (n_classes,)."""
    return np.array(
        [
            true_scores.of_class(k).quantile(
                coverage, f"rows of class {name!r} for by='class'"
            )
            for k, name in enumerate(np.asarray(classes).tolist())
        ]
    )
