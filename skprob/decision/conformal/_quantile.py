"""The quantile of calibration scores, with the rows that a coverage needs."""

import math

import numpy as np

# Relative rounding error of coverage * (n + 1) and of sums of weights.
_ROUNDING = 1e-12


def rows_needed(coverage):
    """Least number of calibration rows at which a coverage can be guaranteed.

    With n rows the highest rank is n of n + 1, so that n / (n + 1) is the highest
    coverage.

    Examples
    --------
    >>> rows_needed(0.9), rows_needed(0.95)
    (9, 19)
    """
    return max(1, math.ceil(coverage / (1 - coverage) * (1 - _ROUNDING)))


def conformal_quantile(scores, weight, coverage, rows="rows"):
    """The score of rank coverage * (n + 1), rounded up, of n calibration scores.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,)
    weight : ndarray of shape (n_scores,)
        Positive weights, whose sum is n: a score of weight 2 counts as two scores.
    coverage : float
        Between 0 and 1.
    rows : str, default="rows"
        Name of the calibration rows in the error.

    Returns
    -------
    quantile : float

    Raises
    ------
    ValueError
        If there are too few rows for the coverage.

    Examples
    --------
    >>> scores = np.arange(1.0, 10.0)
    >>> conformal_quantile(scores, np.ones(9), 0.9)
    9.0
    >>> conformal_quantile(scores, np.ones(9), 0.5)
    5.0
    """
    n_rows = float(weight.sum())
    rank = coverage * (n_rows + 1) * (1 - _ROUNDING)
    if rank > n_rows:
        raise ValueError(
            f"coverage={coverage} needs at least {rows_needed(coverage)} calibration "
            f"{rows}; got n_samples = {n_rows:.6g}. Give more rows, or a lower "
            "coverage. A row of weight w counts as w rows."
        )
    order = np.argsort(scores, kind="stable")
    total = np.cumsum(weight[order])
    # The last sum may be less than n by rounding.
    position = min(np.searchsorted(total, rank), len(order) - 1)
    return float(scores[order[position]])
