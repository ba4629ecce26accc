"""The threshold with which the sum of marginals is within a budget."""

import numpy as np

# Error of the sum at which the search for a threshold ends, in rounding errors for each
# label.
_ROUNDING = 2
# Most steps of Newton's method, usually six. If a step is not at most half of the last
# one, the interval is halved instead.
_MOST_STEPS = 400


def within_budget(scores, total, pairs, alpha, least, most):
    """Shifted scores, whose marginals have a sum within bounds.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
    total : ndarray of shape (n_samples,)
        Sum of the marginals of each row without a budget.
    pairs : callable
        ``pairs(scores)`` returns the marginals without a budget, and a function without
        arguments that returns their derivatives.
    alpha : float
    least, most : float
        Bounds of the sum of a row.

    Returns
    -------
    shifted : ndarray of shape (n_samples, n_labels)
        The scores minus the threshold of their row.
    threshold : ndarray of shape (n_samples,), float64
    bound : ndarray of shape (n_samples,), float64
        The active bound of each row; NaN if no bound is active.

    Raises
    ------
    ValueError
        If a row has fewer labels than the lower bound.
    """
    n_available = np.count_nonzero(scores > -np.inf, axis=1)
    if n_available.min(initial=scores.shape[1]) < least:
        row = int(np.argmin(n_available))
        raise ValueError(
            "budget must have a lower bound of at most the number of available labels; "
            f"it is {least:g}, and row {row} has {n_available[row]} available labels."
        )
    bound = np.full(len(scores), np.nan)
    bound[total > most], bound[total < least] = most, least
    if least == most:
        bound[:] = most
    rows = np.flatnonzero(~np.isnan(bound))
    shifted, threshold = np.array(scores), np.zeros(len(scores))
    if len(rows) == 0:
        return shifted, threshold, bound
    row_scores, level = scores[rows].astype(np.float64, order="C"), bound[rows]
    pivot = row_scores.min(axis=1, where=row_scores > -np.inf, initial=np.inf)
    # If the bound is the number of labels, all marginals are one.
    is_full = level == n_available[rows]
    margin = 64 * np.maximum(1, np.finfo(float).eps * np.abs(pivot))
    root = np.where(is_full, -margin, 0.0)
    for b in np.unique(level[~is_full]):
        has_level = ~is_full & (level == b)
        # The threshold is close to the first score without a marginal of one. Subtract
        # this score first, so that scores close to it are not rounded.
        pivot[has_level] = -np.sort(-row_scores[has_level], axis=1)[:, int(b)]
        shifted_scores = row_scores[has_level] - pivot[has_level, None]
        root[has_level] = _root(shifted_scores, pairs, alpha, b)
    shifted[rows] = row_scores - pivot[:, None] - root[:, None]
    threshold[rows] = pivot + root
    return shifted, threshold, bound


def _root(scores, pairs, alpha, bound):
    """Root of each row: the marginals of ``scores - root`` sum to the bound."""
    low, high = _bracket(scores, alpha, bound)
    root, open_rows, last_step = low / 2 + high / 2, np.arange(len(scores)), high - low
    rounding = _ROUNDING * scores.shape[1] * np.finfo(float).eps
    for _ in range(_MOST_STEPS):
        current = root[open_rows]
        p, derivative = pairs(scores[open_rows] - current[:, None])
        excess = p.sum(axis=1) - bound
        low = np.where(excess > 0, current, low)
        high = np.where(excess > 0, high, current)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = excess / derivative().sum(axis=1)
        trial, middle = current + step, low / 2 + high / 2
        is_newton = (low < trial) & (trial < high) & (np.abs(step) <= last_step / 2)
        is_done = (np.abs(excess) <= rounding) | (middle <= low) | (middle >= high)
        trial = np.where(is_newton, trial, middle)
        root[open_rows] = np.where(is_done, current, trial)
        last_step = np.abs(trial - current)
        open_rows, low, high, last_step = (
            a[~is_done] for a in (open_rows, low, high, last_step)
        )
        if len(open_rows) == 0:
            break
    return root


def _bracket(scores, alpha, bound):
    """Thresholds below and above that of a bound, from the order of the scores.

    The j largest marginals are at least the j-th. If the j-th is more than b/j, the sum
    is more than the bound b. The other marginals are at most the (j+1)-th. If it is
    less than (b - j) / (n - j), the sum is less than b.
    """
    ordered = -np.sort(-scores, axis=1)
    n_available = np.count_nonzero(scores > -np.inf, axis=1)[:, None]
    j = np.arange(scores.shape[1] + 1)
    above, before = j[j > bound], j[j < bound]
    low = ordered[:, above - 1] - _score_of(bound / above, alpha)
    share = np.minimum((bound - before) / np.maximum(n_available - before, 1), 1)
    high = ordered[:, before] - _score_of(share, alpha)
    high[np.broadcast_to(before >= n_available, high.shape)] = np.inf
    return low.max(axis=1), high.min(axis=1)


def _score_of(p, alpha):
    """The score whose marginal is p."""
    with np.errstate(divide="ignore"):
        logs = np.log(p), np.log1p(-p)
    if alpha == 1:
        return logs[0] - logs[1]
    first, second = (np.expm1((alpha - 1) * log) for log in logs)
    return (first - second) / (alpha - 1)
