"""Precision at k: the share of true labels among those with the highest scores."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from .._utils.arrays import dense, weighted_mean
from .._utils.checks import (
    as_real,
    check_indicator,
    check_sample_weight,
    is_integer,
    is_number,
    series_in_order,
)
from .._utils.typing import Array, ArrayLike, MatrixLike
from ..mappings import top_k
from ._lined_up import names_in_order
from ._truth import as_array, true_indicator

# Most numbers of a dense block of rows.
_BLOCK_SIZE = 1 << 20


def precision_at_k(
    y_true: MatrixLike,
    scores: MatrixLike,
    *,
    k: int = 1,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean share of true labels among the k labels with the highest scores.

    For classes, k times the precision is the top-k accuracy. Labels that are not known,
    NaN in `y_true`, are left out of the ranking of their row.

    Parameters
    ----------
    y_true : array-like or sparse matrix
        Labels of shape (n_samples,), or a 0/1 indicator of label sets of shape
        (n_samples, n_classes).
    scores : array-like or sparse matrix of shape (n_samples, n_classes)
        Probabilities or other scores. Ties go to the first columns.
        Columns of DataFrames are matched by name.
    k : int, default=1
        Number of labels, from 1 to n_classes.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns; needed if some of them are not in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the rows; 1 if not given.

    Returns
    -------
    precision : float
        From 0 to 1. It is 1 only if each row has k true labels or more.

    Raises
    ------
    ValueError
        If k is not from 1 to n_classes, fewer than k labels of a row are known, or an
        argument has another shape.

    See Also
    --------
    skprob.decision.TopK : The sets of the k labels.
    propensity_scored_precision_at_k : The same with more weight for rare labels.

    Examples
    --------
    >>> from skprob.metrics import precision_at_k
    >>> y_true = [[1, 0, 1], [0, 1, 0]]
    >>> precision_at_k(y_true, [[0.5, 0.1, 0.4], [0.3, 0.4, 0.3]], k=2)
    0.75
    """
    true, scores, known = true_indicator(y_true, classes, scores=scores)
    weight = check_sample_weight(sample_weight, scores)
    scores = _with_unknown_last(scores, known, k, weight)
    gains = _gains(true, scores, k, np.ones(true.shape[1]))
    return weighted_mean(gains / k, weight)


def propensity_scored_precision_at_k(
    y_true: MatrixLike,
    scores: MatrixLike,
    propensities: ArrayLike,
    *,
    k: int = 1,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Precision at k in which a true label counts one over its propensity.

    The propensity of a label is the probability that it is recorded where it is true.
    The sum over the rows is divided by the largest sum that any scores could have, as
    in published results. Labels that are not known, NaN in `y_true`, are left out of
    the ranking of their row.

    Parameters
    ----------
    y_true : array-like or sparse matrix
        Labels of shape (n_samples,), or a 0/1 indicator of label sets of shape
        (n_samples, n_classes).
    scores : array-like or sparse matrix of shape (n_samples, n_classes)
        Probabilities or other scores. Ties go to the first columns.
        Columns of DataFrames are matched by name.
    propensities : array-like of shape (n_classes,)
        Larger than 0 and at most 1, such as those of :func:`label_propensities`. A
        pandas Series is matched with the labels by name.
    k : int, default=1
        Number of labels, from 1 to n_classes.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns; needed if some of them are not in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights of the rows; 1 if not given.

    Returns
    -------
    precision : float
        From 0 to 1; NaN if no row has a label.

    Raises
    ------
    ValueError
        If k is not from 1 to n_classes, fewer than k labels of a row are known, or an
        argument has another shape or values that are not allowed.

    See Also
    --------
    precision_at_k : Counts all labels the same.
    label_propensities : The propensities of labels.

    References
    ----------
    H. Jain, Y. Prabhu and M. Varma, "Extreme multi-label loss functions for
    recommendation, tagging, ranking and other missing label applications", KDD 2016.

    Examples
    --------
    >>> from skprob.metrics import propensity_scored_precision_at_k
    >>> y_true = [[1, 0, 1], [0, 1, 0]]
    >>> scores = [[0.5, 0.1, 0.4], [0.4, 0.3, 0.3]]
    >>> propensities = [1.0, 0.5, 0.25]
    >>> precision = propensity_scored_precision_at_k(y_true, scores, propensities, k=1)
    >>> print(f"{precision:.3f}")  # 1 of 4 + 2
    0.167
    """
    if hasattr(propensities, "iloc"):
        names = names_in_order(classes, y_true, scores=scores)
        if names is not None:
            propensities = series_in_order("propensities", propensities, names)
    true, scores, known = true_indicator(y_true, classes, scores=scores)
    weight = check_sample_weight(sample_weight, scores)
    propensities = as_real("propensities", propensities)
    # One over a smaller number overflows.
    inside = (propensities >= np.finfo(np.float64).tiny) & (propensities <= 1)
    if propensities.shape != true.shape[1:] or not inside.all():
        raise ValueError(
            f"propensities must be {true.shape[1]} numbers, larger than 0 and at most "
            f"1; got shape {propensities.shape}, numbers from "
            f"{propensities.min(initial=1):.6g} to {propensities.max(initial=0):.6g}."
        )
    scores = _with_unknown_last(scores, known, k, weight)
    worth = 1 / propensities.astype(np.float64)
    gains = _gains(true, scores, k, worth)
    best = _gains(true, true.multiply(worth).tocsr(), k, worth)
    if not best[weight > 0].any():
        return float("nan")
    return weighted_mean(gains, weight) / weighted_mean(best, weight)


def label_propensities(y: MatrixLike, *, a: float = 0.55, b: float = 1.5) -> Array:
    r"""Propensities of labels by how often they occur in the training rows.

    .. math:: p_k = 1 / (1 + C (N_k + b)^{-a}), \quad C = (\log N - 1)(b + 1)^a

    for N rows, of which :math:`N_k` have the label k.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_samples, n_labels)
        0/1 indicator of the label sets of the training rows.
    a, b : float, default=0.55, 1.5
        Parameters of the model, not negative; b is positive if a label has no row. Jain
        et al. use 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    Returns
    -------
    propensities : ndarray of shape (n_labels,)
        Larger than 0 and at most 1.

    Raises
    ------
    ValueError
        If y is no such indicator of at least 3 rows, or a or b is not allowed.

    See Also
    --------
    propensity_scored_precision_at_k : The measure that weights labels by them.

    References
    ----------
    H. Jain, Y. Prabhu and M. Varma, "Extreme multi-label loss functions for
    recommendation, tagging, ranking and other missing label applications", KDD 2016.

    Examples
    --------
    >>> from skprob.metrics import label_propensities
    >>> label_propensities([[1, 0], [1, 0], [1, 0], [1, 1]]).round(3)
    array([0.8  , 0.721])
    """
    y = as_array("y", y) if sparse.issparse(y) else as_real("y", y)
    check_indicator("y", y)
    if y.shape[0] < 3:
        raise ValueError(
            f"y must be a 0/1 indicator with at least 3 rows; got {y.shape[0]}."
        )
    for name, number in ("a", a), ("b", b):
        if not (is_number(number) and 0 <= number < np.inf):
            raise ValueError(
                f"a and b must be finite and not negative; got {name}={number!r}."
            )
    counts = np.asarray(y.sum(axis=0), dtype=np.float64).ravel()
    if b == 0 and a > 0 and counts.min(initial=1) == 0:
        raise ValueError(
            "b must be positive, because a label without rows has the propensity zero "
            f"otherwise; got b={b!r}, and label {counts.argmin()} has no row."
        )
    # Powers of a quotient do not overflow.
    c = np.log(y.shape[0]) - 1
    return 1 / (1 + c * ((b + 1) / (counts + b)) ** a)


def _with_unknown_last(scores, known, k, weight):
    """Scores by which labels that are not known are the last ones of their row."""
    if known is None:
        return scores
    n_known = np.where(weight > 0, known.sum(axis=1), known.shape[1])
    if is_integer(k) and n_known.min() < k <= known.shape[1]:
        raise ValueError(
            "y_true must have k known labels or more in each row of positive weight, "
            f"for k={k}; got {n_known.min()} in row {n_known.argmin()}. Give the row "
            "weight 0, or a smaller k."
        )
    return np.where(known, dense(scores), -np.inf)


def _gains(true, scores, k, worth):
    """Worth of the true labels among the k with the highest scores, for each row."""
    n_rows, n_classes = true.shape
    if not is_integer(k) or not 1 <= k <= n_classes:
        raise ValueError(f"k must be an integer from 1 to {n_classes}; got {k!r}.")
    gains = np.empty(n_rows)
    for rows in gen_batches(n_rows, max(_BLOCK_SIZE // n_classes, 1)):
        chosen = top_k(dense(scores[rows]), int(k))
        gains[rows] = true[rows].multiply(chosen) @ worth
    return gains
