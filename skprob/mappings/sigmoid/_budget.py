"""The threshold that keeps the sum of marginals within a budget."""

import numpy as np

# The search for a threshold ends where the sum is off by so many times the rounding of
# each label.
_ROUNDING = 2
# Newton's steps; the interval is halved instead where they are not half as long as the
# last one. Six are usual.
_MOST_STEPS = 400


def within_budget(scores, total, pairs, alpha, least, most):
    """Scores whose marginals sum to a number within bounds.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
    total : ndarray of shape (n_samples,)
        What the marginals of a row sum to without a budget.
    pairs : callable
        ``pairs(scores)`` are the marginals without a budget, and a function of no
        arguments that gives their derivatives.
    alpha : float
    least, most : float
        Bounds of the sum of a row.

    Returns
    -------
    shifted : ndarray of shape (n_samples, n_labels)
        The scores less the threshold of their row.
    threshold : ndarray of shape (n_samples,), float64
    bound : ndarray of shape (n_samples,), float64
        What a row sums to because of the budget; NaN where no bound is active.

    Raises
    ------
    ValueError
        If a row has fewer labels than the least sum.
    """
    n_available = np.count_nonzero(scores > -np.inf, axis=1)
    if n_available.min(initial=scores.shape[1]) < least:
        row = int(np.argmin(n_available))
        raise ValueError(
            f"budget must not ask for more labels than are available: its lower bound "
            f"is {least:g}, and row {row} has {n_available[row]} available labels."
        )
    bound = np.full(len(scores), np.nan)
    bound[total > most], bound[total < least] = most, least
    if least == most:
        bound[:] = most
    rows = np.flatnonzero(~np.isnan(bound))
    shifted, threshold = np.array(scores), np.zeros(len(scores))
    if len(rows) == 0:
        return shifted, threshold, bound
    some, level = scores[rows].astype(np.float64, order="C"), bound[rows]
    pivot = some.min(axis=1, where=some > -np.inf, initial=np.inf)
    # A sum of as many as there are takes a one for each.
    every = level == n_available[rows]
    room = 64 * np.maximum(1, np.finfo(float).eps * np.abs(pivot))
    root = np.where(every, -room, 0.0)
    for b in np.unique(level[~every]):
        of_level = ~every & (level == b)
        # The threshold is near the first score that the sum has no one for: less that
        # score, those that share the rest are not rounded.
        pivot[of_level] = -np.sort(-some[of_level], axis=1)[:, int(b)]
        near = some[of_level] - pivot[of_level, None]
        root[of_level] = _root(near, pairs, alpha, b)
    shifted[rows] = some - pivot[:, None] - root[:, None]
    threshold[rows] = pivot + root
    return shifted, threshold, bound


def _root(scores, pairs, alpha, bound):
    """Where the marginals of ``scores - root`` sum to a bound, row by row."""
    low, high = _bracket(scores, alpha, bound)
    root, left, last = low / 2 + high / 2, np.arange(len(scores)), high - low
    rounding = _ROUNDING * scores.shape[1] * np.finfo(float).eps
    for _ in range(_MOST_STEPS):
        here = root[left]
        p, derivative = pairs(scores[left] - here[:, None])
        excess = p.sum(axis=1) - bound
        low = np.where(excess > 0, here, low)
        high = np.where(excess > 0, high, here)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = excess / derivative().sum(axis=1)
        there, middle = here + step, low / 2 + high / 2
        is_newton = (low < there) & (there < high) & (np.abs(step) <= last / 2)
        done = (np.abs(excess) <= rounding) | (middle <= low) | (middle >= high)
        there = np.where(is_newton, there, middle)
        root[left] = np.where(done, here, there)
        last = np.abs(there - here)
        left, low, high, last = (a[~done] for a in (left, low, high, last))
        if len(left) == 0:
            break
    return root


def _bracket(scores, alpha, bound):
    """Thresholds below and above that of a bound, from the order of the scores.

    The j largest marginals are at least the j-th, and sum to more than a bound b where
    that is more than b/j; the others are at most the next, and all sum to less where
    that is less than (b - j) / (n - j).
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
