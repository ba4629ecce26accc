"""Entmax for alpha > 2: the support by sorting, then its smallest probability.

Here p_i = [u_i - tau]+^(1/beta) with u = beta d and beta = alpha - 1 > 1: the slope
is infinite at the edge of the support, and Newton's method in tau would have to be
bracketed. Instead, with u sorted in descending order, k classes are in the support
as long as

    sum_{i < k} (u_i - u_k)^(1/beta) < 1,

whose left side grows with k. The smallest probability t of the k is the root of

    phi(t) = sum_{i <= k} (t^beta + u_i - u_k)^(1/beta) = 1.

Each term is a beta-norm of (t, .), so that phi is convex and increasing, and Newton's
steps from t = 1/k descend to the root without passing it. Nothing is subtracted but
the scores, so that the answer is the exact one for scores a few ulp away.
"""

import numpy as np

_MAX_STEPS = 200
# How far rounding may leave a sum of probabilities from one.
_ROUNDING = 8 * np.finfo(np.float64).eps


def by_sorting(scores, alpha):
    """Entmax for alpha > 2, computed in float64.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Standard scores; overwritten.
    alpha : float

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
    potential : ndarray of shape (n_samples,)
    """
    beta = alpha - 1
    with np.errstate(over="ignore"):
        u = np.multiply(scores, beta, dtype=np.float64)
    # Scores that far down have no probability; this keeps differences finite.
    np.maximum(u, -2, out=u)
    ordered = -np.sort(-u, axis=1)
    size = _support_size(ordered, beta)
    edge = np.take_along_axis(ordered, size - 1, axis=1)
    above = u - edge
    inside = above >= 0
    np.maximum(above, 0, out=above)

    t = 1 / size
    for _ in range(_MAX_STEPS):
        p, slope, x = _norms(t, above, beta)
        p *= inside
        slope *= inside
        total = p.sum(axis=1, keepdims=True)
        far = total - 1 > _ROUNDING
        if not far.any():
            break
        step = (total - 1) / slope.sum(axis=1, keepdims=True)
        t = np.where(far, np.maximum(t - step, 0), t)
    p /= total
    lam = -np.expm1(beta * np.log(p.max(axis=1))) / beta
    potential = lam + (np.einsum("nk,nk->n", p, x) - 1) / alpha
    return p.astype(scores.dtype, copy=False), potential.astype(scores.dtype)


def _support_size(ordered, beta):
    """How many classes of each row, in descending order, are in the support."""
    n_samples, n_classes = ordered.shape
    low = np.ones((n_samples, 1), dtype=np.intp)
    high = np.full((n_samples, 1), n_classes)
    while (low < high).any():
        middle = (low + high + 1) // 2
        head = ordered[:, : middle.max()]
        gap = head - np.take_along_axis(ordered, middle - 1, axis=1)
        total = _root(np.maximum(gap, 0, out=gap), beta).sum(axis=1, keepdims=True)
        low = np.where(total < 1, middle, low)
        high = np.where(total < 1, high, middle - 1)
    return low


def _norms(t, gap, beta):
    """The norms p = (t^beta + gap)^(1/beta), their slopes dp/dt and p^beta."""
    x = t**beta + gap
    p = _root(x, beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = t ** (beta - 1) * (p / x)
    # Exact, and free of the underflow of t^beta, for the smallest of the support.
    edge = gap == 0
    return np.where(edge, t, p), np.where(edge, 1, slope), x


def _root(x, beta):
    with np.errstate(divide="ignore"):
        y = np.log(x)
    y /= beta
    return np.exp(y, out=y)
