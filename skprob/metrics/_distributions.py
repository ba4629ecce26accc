"""The six measures by which label distributions are compared.

All follow Geng, "Label Distribution Learning", IEEE TKDE 2016, Table 1. A row of the
truth is q, a row of the prediction p; four measures are distances, two similarities.
Columns of two DataFrames are matched by name.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import rel_entr

from .._utils.checks import as_distributions, check_target, is_number, lined_up, naming
from .._utils.typing import ArrayLike, MatrixLike
from ..targets import encode_target
from ._losses import average


def chebyshev_distance(
    y_true: MatrixLike,
    probabilities: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean of the largest difference of a row, :math:`\max |p - q|`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_classes)
        The true distributions: rows of non-negative numbers that sum to one.
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        The predicted distributions, float32 or float64.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    distance : float
        From 0, where all rows agree, to 1.

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    DistributionScorer : The scorer for searches.
    intersection_similarity : Counts the differences of all classes.

    References
    ----------
    Geng, "Label Distribution Learning", IEEE TKDE 2016.

    Examples
    --------
    >>> from skprob.metrics import chebyshev_distance
    >>> chebyshev_distance([[0.5, 0.5, 0.0]], [[0.25, 0.5, 0.25]])
    0.25
    """
    q, p = _checked(y_true, probabilities)
    return average(np.abs(p - q).max(axis=1), sample_weight)


def clark_distance(
    y_true: MatrixLike,
    probabilities: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean Clark distance, :math:`\sqrt{\sum (p - q)^2 / (p + q)^2}`.

    Every class counts by its relative difference, so rare classes weigh as much as
    common ones. A class that is zero in only one of the two counts 1, however small it
    is in the other; a class that is zero in both counts 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_classes)
        The true distributions: rows of non-negative numbers that sum to one.
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        The predicted distributions, float32 or float64.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    distance : float
        From 0, where all rows agree, to the square root of n_classes.

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    DistributionScorer : The scorer for searches.
    canberra_distance : The sum of absolute values in place of the root.

    References
    ----------
    Geng, "Label Distribution Learning", IEEE TKDE 2016.

    Examples
    --------
    >>> from skprob.metrics import clark_distance
    >>> round(clark_distance([[0.5, 0.5, 0.0]], [[0.25, 0.5, 0.25]]), 3)
    1.054
    """
    share = _relative_difference(*_checked(y_true, probabilities))
    return average(np.sqrt(np.square(share).sum(axis=1)), sample_weight)


def canberra_distance(
    y_true: MatrixLike,
    probabilities: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean Canberra distance, :math:`\sum |p - q| / (p + q)`.

    Every class counts by its relative difference, so rare classes weigh as much as
    common ones. A class that is zero in only one of the two counts 1, however small it
    is in the other; a class that is zero in both counts 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_classes)
        The true distributions: rows of non-negative numbers that sum to one.
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        The predicted distributions, float32 or float64.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    distance : float
        From 0, where all rows agree, to n_classes.

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    DistributionScorer : The scorer for searches.
    clark_distance : The root of a sum of squares in place of the sum.

    References
    ----------
    Geng, "Label Distribution Learning", IEEE TKDE 2016.

    Examples
    --------
    >>> from skprob.metrics import canberra_distance
    >>> round(canberra_distance([[0.5, 0.5, 0.0]], [[0.25, 0.5, 0.25]]), 3)
    1.333
    """
    share = _relative_difference(*_checked(y_true, probabilities))
    return average(share.sum(axis=1), sample_weight)


def kullback_leibler_divergence(
    y_true: MatrixLike,
    probabilities: ArrayLike,
    *,
    epsilon: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean divergence of predictions from the truth, :math:`\sum q \log(q / p)`.

    A class with q = 0 does not count. With p = 0 where q is positive the divergence is
    infinite, and so is the mean: a single wrong zero in a data set makes it infinite.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_classes)
        The true distributions: rows of non-negative numbers that sum to one.
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        The predicted distributions, float32 or float64.
    epsilon : float, default=0.0
        Probabilities below epsilon are replaced by epsilon; at least 0 and below 1. The
        default gives the divergence itself. Any other value gives a finite number,
        which depends on epsilon (a wrong zero costs q log(q / epsilon)) and may be as
        low as -n_classes times epsilon: report epsilon with it.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    divergence : float
        In nats; 0 where all rows agree, up to inf.

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    fenchel_young_loss : Finite for every prediction, from the scores.

    References
    ----------
    Geng, "Label Distribution Learning", IEEE TKDE 2016.

    Examples
    --------
    >>> from skprob.metrics import kullback_leibler_divergence
    >>> truth = [[0.5, 0.5, 0.0]]
    >>> round(kullback_leibler_divergence(truth, [[0.25, 0.5, 0.25]]), 3)
    0.347
    >>> kullback_leibler_divergence(truth, [[0.0, 1.0, 0.0]])
    inf
    >>> round(kullback_leibler_divergence(truth, [[0.0, 1.0, 0.0]], epsilon=1e-3), 3)
    2.761
    """
    if not (is_number(epsilon) and 0 <= epsilon < 1):
        raise ValueError(f"epsilon must be a number in [0, 1); got {epsilon!r}.")
    q, p = _checked(y_true, probabilities)
    divergence = rel_entr(q, np.maximum(p, float(epsilon))).sum(axis=1)
    return average(divergence, sample_weight)


def cosine_similarity(
    y_true: MatrixLike,
    probabilities: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean cosine of the angle between two distributions.

    It compares corresponding rows, unlike the function of this name in scikit-learn,
    which compares each row with every other.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_classes)
        The true distributions: rows of non-negative numbers that sum to one.
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        The predicted distributions, float32 or float64.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    similarity : float
        From 0, where no class is in both, to 1, where all rows agree.

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    DistributionScorer : The scorer for searches.
    intersection_similarity : The share that both distributions have in common.

    References
    ----------
    Geng, "Label Distribution Learning", IEEE TKDE 2016.

    Examples
    --------
    >>> from skprob.metrics import cosine_similarity
    >>> round(cosine_similarity([[0.5, 0.5, 0.0]], [[0.25, 0.5, 0.25]]), 3)
    0.866
    """
    q, p = _checked(y_true, probabilities)
    norms = np.linalg.norm(q, axis=1) * np.linalg.norm(p, axis=1)
    return average(np.einsum("nk,nk->n", q, p) / norms, sample_weight)


def intersection_similarity(
    y_true: MatrixLike,
    probabilities: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean share that two distributions have in common, :math:`\sum \min(p, q)`.

    It is one minus their total variation distance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_classes)
        The true distributions: rows of non-negative numbers that sum to one.
    probabilities : {array-like, sparse matrix} of shape (n_samples, n_classes)
        The predicted distributions, float32 or float64.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    similarity : float
        From 0, where no class is in both, to 1, where all rows agree.

    Raises
    ------
    ValueError
        If the arrays are malformed or do not fit together.

    See Also
    --------
    DistributionScorer : The scorer for searches.
    cosine_similarity : Depends mostly on the large shares.

    References
    ----------
    Geng, "Label Distribution Learning", IEEE TKDE 2016.

    Examples
    --------
    >>> from skprob.metrics import intersection_similarity
    >>> intersection_similarity([[0.5, 0.5, 0.0]], [[0.25, 0.5, 0.25]])
    0.75
    """
    q, p = _checked(y_true, probabilities)
    return average(np.minimum(p, q).sum(axis=1), sample_weight)


def _checked(y_true, probabilities):
    """Truth and prediction as float64 distributions of one shape."""
    _, (y_true, probabilities) = lined_up(y_true=y_true, probabilities=probabilities)
    p = as_distributions(probabilities).astype(np.float64, copy=False)
    if sparse.issparse(p):
        # The truth has the same size and is always dense.
        p = p.toarray()
    y_true = check_target(y_true, "y_true", len_of=p)
    with naming("y_true"):
        encoded = encode_target(y_true, "distribution")
    q = encoded.target.to_dense(np.float64)
    if q.shape != p.shape:
        raise ValueError(
            f"y_true and probabilities must have the same shape; got {q.shape} and "
            f"{p.shape}."
        )
    # The truth is normalised, too. Rows of float32 sum to one up to rounding only.
    return q, p / p.sum(axis=1, keepdims=True)


def _relative_difference(q, p):
    difference = np.abs(p - q)
    # If the sum is zero, both numbers are zero, and so is the difference.
    return np.divide(difference, p + q, out=difference, where=difference > 0)
