"""Coverage and mean size of sets of classes."""

from __future__ import annotations

import numpy as np

from .._utils.arrays import weighted_mean
from .._utils.checks import check_indicator, check_sample_weight
from .._utils.typing import ArrayLike, MatrixLike
from ._truth import as_array, true_indicator


def set_coverage(
    y_true: MatrixLike,
    sets: MatrixLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the sets that contain the truth.

    For label sets it is the mean, over the rows with a label, of the share of the true
    labels that are in the set (the recall). Labels that are not known, NaN in `y_true`,
    are left out.

    Parameters
    ----------
    y_true : array-like or sparse matrix
        Labels of shape (n_samples,), or a 0/1 indicator of label sets of shape
        (n_samples, n_classes).
    sets : array-like or sparse matrix of shape (n_samples, n_classes)
        0/1 indicator of the sets. Columns of DataFrames are matched by name.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns; needed if some of them are not in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the rows; 1 if not given.

    Returns
    -------
    coverage : float
        From 0 to 1; NaN if no row has a label.

    Raises
    ------
    ValueError
        If an argument has another shape, or `sets` is not 0 or 1.

    See Also
    --------
    mean_set_size : A small size and a high coverage are wanted together.
    skprob.decision.ConformalSets : Sets with a chosen coverage.

    Examples
    --------
    >>> from skprob.metrics import mean_set_size, set_coverage
    >>> sets = [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    >>> print(f"{set_coverage(['a', 'b', 'b'], sets, classes=['a', 'b', 'c']):.2f}")
    0.67
    >>> print(f"{mean_set_size(sets):.2f}")
    1.33
    """
    true, sets, _ = true_indicator(y_true, classes, sets=sets)
    sets = _checked_sets(sets)
    weight = check_sample_weight(sample_weight, sets)
    n_true = np.diff(true.indptr)
    n_covered = np.asarray(true.multiply(sets).sum(axis=1)).ravel()
    counted = (n_true > 0) & (weight > 0)
    if not counted.any():
        return float("nan")
    shares = n_covered[counted] / n_true[counted]
    return weighted_mean(shares, weight[counted])


def mean_set_size(sets: MatrixLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean number of classes in a set.

    Parameters
    ----------
    sets : array-like or sparse matrix of shape (n_samples, n_classes)
        0/1 indicator of the sets.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the rows; 1 if not given.

    Returns
    -------
    size : float

    Raises
    ------
    ValueError
        If `sets` is not a matrix of 0 and 1 with rows.

    See Also
    --------
    set_coverage : How often the sets contain the truth.
    mean_support_size : The same for probabilities.

    Examples
    --------
    >>> from skprob.metrics import mean_set_size
    >>> mean_set_size([[1, 0, 0], [1, 1, 0]])
    1.5
    """
    sets = _checked_sets(sets)
    weight = check_sample_weight(sample_weight, sets)
    sizes = np.asarray(sets.sum(axis=1), dtype=np.float64).ravel()
    return weighted_mean(sizes, weight)


def _checked_sets(sets):
    sets = as_array("sets", sets)
    check_indicator("sets", sets)
    return sets
