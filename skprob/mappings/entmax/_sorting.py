"""Entmax for alpha > 2: the support by sorting, then its smallest probability.

With u = beta d and beta = alpha - 1 > 1, p_i = [u_i - tau]+^(1/beta). The slope is
infinite at the edge of the support, so Newton's method in tau would need a bracket.
Instead, with u sorted in descending order, k classes are in the support if

    sum_{i < k} (u_i - u_k)^(1/beta) < 1,

whose left side grows with k. The smallest probability t of the k is the root of

    phi(t) = sum_{i <= k} (t^beta + u_i - u_k)^(1/beta) = 1.

Each term is a beta-norm of (t, .), so phi is convex and increasing, and Newton's steps
from above do not pass the root. Only scores are subtracted, so the result is exact for
scores that differ by a few ulp.
"""

import numpy as np

_MAX_STEPS = 100
# Largest rounding error of a sum of probabilities.
_ROUNDING = 8 * np.finfo(np.float64).eps
# Bounds of the positive x.
_TINY, _LARGE = np.finfo(np.float64).tiny, 4.0


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
    # Lower scores have probability zero; clipping keeps differences finite.
    u = np.clip(scores, -2 / beta, 0, dtype=np.float64)
    u *= beta
    ordered = np.sort(u, axis=1)[:, ::-1]
    size = _support_size(ordered, beta)
    edge = np.take_along_axis(ordered, size - 1, axis=1)
    smallest = _smallest(ordered[:, : size.max(initial=1)] - edge, size, beta)

    u -= edge
    inside = u >= 0
    tied = u == 0
    x = np.clip(u, 0, _LARGE, out=u)
    x += smallest**beta
    p = _root(x, inside, beta)
    # This is exact, and the power of the smallest probability may underflow.
    np.copyto(p, smallest, where=tied)
    p /= p.sum(axis=1, keepdims=True)
    lam = -np.expm1(beta * np.log(p.max(axis=1))) / beta
    potential = lam + (np.einsum("nk,nk->n", p, x) - 1) / alpha
    return p.astype(scores.dtype, copy=False), potential.astype(scores.dtype)


def _support_size(ordered, beta):
    """Number of classes in the support of each row, from scores in descending order."""
    n_samples, n_classes = ordered.shape
    low = np.ones((n_samples, 1), dtype=np.intp)
    high = np.full((n_samples, 1), n_classes)
    while (low < high).any():
        middle = (low + high + 1) // 2
        gap = ordered[:, : middle.max()] - np.take_along_axis(ordered, middle - 1, 1)
        total = _root(gap, gap > 0, beta).sum(axis=1, keepdims=True)
        low = np.where(total < 1, middle, low)
        high = np.where(total < 1, high, middle - 1)
    return low


def _smallest(gap, size, beta):
    """The root t of phi, from the gaps u_i - u_k of the leading classes."""
    above = gap > 0
    tied = size - above.sum(axis=1, keepdims=True)
    # A norm of (t, r) is at least r, and at least 2^(1/beta - 1) (t + r).
    mass = _root(gap, above, beta).sum(axis=1, keepdims=True)
    h = 2 ** (1 / beta - 1)
    t = np.minimum((1 - mass) / tied, (1 - h * mass) / (tied + h * (size - tied)))
    np.maximum(t, 0, out=t)
    for _ in range(_MAX_STEPS):
        x = gap + t**beta
        p = _root(x, above, beta)
        excess = p.sum(axis=1, keepdims=True) + tied * t - 1
        if excess.max(initial=0) <= _ROUNDING:
            break
        np.divide(p, x, out=p, where=above)
        slope = p.sum(axis=1, keepdims=True) * t ** (beta - 1) + tied
        # A positive step is a rounding error.
        t = np.maximum(t - np.maximum(excess, 0) / slope, 0)
    return t


def _root(x, chosen, beta):
    """x^(1/beta) if `chosen`, which implies a positive x; else 0."""
    # Logarithms of zero are slow on some machines, and give a warning.
    root = np.clip(x, _TINY, _LARGE)
    np.log(root, out=root)
    root /= beta
    np.exp(root, out=root)
    root *= chosen
    return root
