"""Entmax of every alpha as nodes of a graph, by a fixed number of Newton steps."""

import math

import numpy as np

# With an alpha this close to 1 entmax and softmax agree within 1e-8.
_AS_SOFTMAX = 1e-8


def softmax(scores):
    """Softmax of each row."""
    weights = (scores - scores.max()).exp()
    return weights / weights.sum()


def entmax(scores, alpha, n_classes):
    """Entmax of each row.

    Parameters
    ----------
    scores : Tensor of shape (..., n_classes)
    alpha : float
        Positive.
    n_classes : int

    Returns
    -------
    probabilities : Tensor of the shape of `scores`
    """
    beta = float(alpha) - 1
    if abs(beta) < _AS_SOFTMAX:
        return softmax(scores)
    if beta < 0:
        return _by_tails(scores - scores.max(), -beta, n_classes)
    # Scores at a distance of 1/beta or more from the largest have probability zero.
    u = ((scores - scores.max()) * beta).maximum(-1)
    if beta <= 1:
        return _by_threshold(u, beta, n_classes)
    return _by_smallest(u, beta, n_classes)


def _by_threshold(u, beta, n_classes):
    """The root p = x^(1/beta), with x = [1 + u - step - ...]+, for beta <= 1.

    Newton's method solves the equation that the 1/beta-norm of x is one. Its steps
    never pass the root. Their number is three more than the most difficult rows of a
    search needed, with 2 to 30,000 classes.
    """
    x = u + 1
    for _ in range(6 + math.ceil(math.log2(n_classes))):
        tail = _power(x, 1 / beta - 1)
        total = (tail * x).sum()
        rise = total - _power(total, 1 - beta)
        # A negative step is a rounding error.
        x = (x - (rise / tail.sum()).maximum(0)).maximum(0)
    p = _power(x, 1 / beta - 1) * x
    # Near alpha = 1 the high power multiplies the rounding error of x: the sum was
    # 1e-9 from one at alpha = 1 + 1e-7.
    return p / p.sum()


def _by_tails(d, gamma, n_classes):
    """The root p = (1 + v)^(-1/gamma), with v = gamma (lambda - d), for alpha < 1.

    Newton's method is applied to the power mean of 1 + v. Its steps never pass the
    root. The most difficult rows of a search needed eight steps, with 1,000 classes.
    """
    y = 1 - d * gamma
    for _ in range(6 + math.ceil(math.log2(n_classes))):
        p = y ** (-1 / gamma)
        total = p.sum()
        rise = total ** (1 + gamma) - total
        # A negative step is a rounding error.
        y = y + (rise / (p / y).sum()).maximum(0)
    p = y ** (-1 / gamma)
    return p / p.sum()


def _by_smallest(u, beta, n_classes):
    """The root by the smallest probability t of the support, for beta > 1.

    For beta > 1 the slope of p^beta in the threshold is steep. But t is the root of the
    convex equation sum (t^beta + u_i - u_k)^(1/beta) = 1 over the support 1, ..., k,
    which Newton's method solves.
    """
    ordered, _ = u.largest(n_classes)
    edge = _edge_of_support(ordered, beta, n_classes)
    gap = ordered - edge
    is_above, is_tied = gap > 0, (gap >= 0).astype(np.float64)
    is_tied = is_tied - is_above.astype(np.float64)
    mass = _root(gap, is_above, beta).sum()
    n_tied, n_above = is_tied.sum(), is_above.astype(np.float64).sum()
    # A norm of (t, r) is at least r, and at least 2^(1/beta - 1) (t + r).
    h = 2 ** (1 / beta - 1)
    t = ((1 - mass) / n_tied).minimum((1 - mass * h) / (n_tied + n_above * h))
    t = t.maximum(0)
    for _ in range(8 + math.ceil(math.log2(n_classes))):
        x = gap + t**beta
        p = _root(x, is_above, beta)
        excess = p.sum() + n_tied * t - 1
        slope = (p / x.where(is_above, 1)).sum() * t ** (beta - 1) + n_tied
        t = (t - excess.maximum(0) / slope).maximum(0)
    gap = u - edge
    p = _root(gap + t**beta, gap > 0, beta)
    return p.where(gap > 0, t.where(gap >= 0))


def _edge_of_support(ordered, beta, n_classes):
    """The smallest score with a positive probability, from scores in falling order.

    The method is bisection: k classes are in the support if the sum of (u_i -
    u_k)^(1/beta) is less than one.
    """
    low = (ordered.columns([0]) * 0).astype(np.int64)
    high = low + (n_classes - 1)
    for _ in range(math.ceil(math.log2(n_classes))):
        middle = (low + high + 1) // 2
        gap = ordered - ordered.take(middle)
        is_in = _root(gap, gap > 0, beta).sum() < 1
        low, high = middle.where(is_in, low), high.where(is_in, middle - 1)
    return ordered.take(low)


def _root(x, chosen, beta):
    """x^(1/beta) where `chosen`, else zero."""
    return (x.where(chosen, 1) ** (1 / beta)).where(chosen)


def _power(x, exponent):
    """x^exponent of x >= 0, with zero for x = 0 and any exponent."""
    if exponent == 0:
        return (x > 0).astype(np.float64)
    if exponent == 0.5:
        return x.sqrt()
    if exponent == int(exponent) and exponent <= 3:
        result = x
        for _ in range(int(exponent) - 1):
            result = result * x
        return result
    return x**exponent
