"""Entmax for arrays of any library that follows the array API standard.

The functions use the methods of the modules for NumPy arrays, which have the formulas:
`_threshold.py`, `_tails.py` and `_sorting.py`. No argument is overwritten.
"""

import math

from ..._utils.arrays import namespace, row_sum, widened
from .._array_api import power
from ._threshold import NEAR_SOFTMAX

# Most Newton steps of a row, and largest rounding error of a sum of probabilities.
_MAX_STEPS = 100
_ROUNDING = 8 * 2.0**-52


def entmax(scores, alpha):
    """Probabilities and potential of standard scores, for any alpha but 1."""
    if alpha < 1:
        return _by_tails(scores, alpha)
    return _by_steps(scores, alpha) if alpha <= 2 else _by_sorting(scores, alpha)


def _by_steps(scores, alpha):
    """Newton's method as in `by_threshold`, for alpha up to 2.

    For alpha 2 the steps are those of `by_projection`.
    """
    xp, beta = namespace(scores), alpha - 1
    info, exponent = xp.finfo(scores.dtype), 1 / beta - 1
    offset = 1 if alpha < NEAR_SOFTMAX else 0
    lowest = 0.0
    if offset:
        tiny = beta / (1 - beta) * math.log(info.smallest_normal)
        lowest = max(info.eps / 2 - 1, math.expm1(tiny))
    share = info.eps / scores.shape[1] / 16
    short = min(beta * share**0.5, share**beta)

    def tails(x):
        if offset:
            return xp.exp(exponent * xp.log1p(x))
        return x if exponent == 1 else power(x, exponent)

    x = xp.clip(beta * scores + (1 - offset), lowest, 1.0)
    climbed = 0.0
    for _ in range(_MAX_STEPS):
        tail = tails(x)
        slope = row_sum(tail)
        total = row_sum(tail * x) + offset * slope
        rise = -total * xp.expm1(-beta * xp.log(total))
        step = rise / slope
        # The last step is taken on p: one more step on x would not be more accurate.
        if xp.all((step <= short) | (rise <= 8 * beta * info.eps)):
            break
        # A negative step is a rounding error. It would return classes to the support.
        step = xp.clip(step, 0.0)
        x = xp.clip(x - step, lowest, 1.0)
        climbed = climbed + step

    if offset:
        tail = xp.where(x > lowest, tail, 0.0)
    p = tail * (x + offset)
    step = (row_sum(p) - 1) / slope
    p = xp.clip(p - tail * step, 0.0, 1.0)
    mean = row_sum(p * x) - beta * step + (offset - 1)
    return p, (climbed / beta + step + mean / alpha)[:, 0]


def _by_tails(scores, alpha):
    """Entmax for alpha < 1."""
    xp, (p, v, lam) = namespace(scores), solve_tails(scores, alpha)
    # v is infinite for a class that is not available.
    v = xp.where(v < xp.inf, v, 0.0)
    return p, lam + row_sum(p * v)[:, 0] / alpha


def solve_tails(scores, alpha):
    """Probabilities, v and lambda as in `by_tails`, for alpha < 1."""
    xp, gamma = namespace(scores), 1 - alpha
    short = xp.finfo(scores.dtype).eps ** 0.5 / 4
    v, climbed = scores * -gamma, 0.0
    for _ in range(_MAX_STEPS):
        p = xp.exp(xp.log1p(v) / -gamma)
        tail = p / (1 + v)
        slope, total = row_sum(tail), row_sum(p)
        step = total * xp.expm1(gamma * xp.log(total)) / slope
        if xp.all(step <= short * gamma * (1 + climbed)):
            break
        # A negative step is a rounding error.
        step = xp.clip(step, 0.0)
        v, climbed = v + step, climbed + step
    step = (total - 1) / slope
    p = xp.clip(p - tail * step, 0.0, 1.0)
    v = xp.clip(v + gamma * step, 0.0)
    return p, v, (climbed / gamma + step)[:, 0]


def _by_sorting(scores, alpha):
    """The support and its smallest probability as in `by_sorting`, for alpha > 2."""
    xp, beta = namespace(scores), alpha - 1
    u = beta * xp.clip(widened(scores), -2 / beta, 0.0)
    ordered = xp.sort(u, axis=1, descending=True)
    size = _support_size(ordered, beta)
    edge = xp.take_along_axis(ordered, size - 1, axis=1)
    smallest = _smallest(ordered - edge, size, beta)

    u = u - edge
    x = xp.clip(u, 0.0) + smallest**beta
    p = xp.where(u >= 0, power(x, 1 / beta), 0.0)
    # This is exact, and the power of the smallest probability may underflow.
    p = xp.where(u == 0, smallest, p)
    p = p / row_sum(p)
    top = xp.log(xp.max(p, axis=1))
    potential = (xp.sum(p * x, axis=1) - 1) / alpha - xp.expm1(beta * top) / beta
    return xp.astype(p, scores.dtype), xp.astype(potential, scores.dtype)


def _support_size(ordered, beta):
    xp = namespace(ordered)
    low = xp.ones((ordered.shape[0], 1), dtype=xp.int64, device=ordered.device)
    high = low + (ordered.shape[1] - 1)
    while xp.any(low < high):
        middle = (low + high + 1) // 2
        gap = ordered - xp.take_along_axis(ordered, middle - 1, axis=1)
        is_inside = row_sum(power(xp.clip(gap, 0.0), 1 / beta)) < 1
        low = xp.where(is_inside, middle, low)
        high = xp.where(is_inside, high, middle - 1)
    return low


def _smallest(gap, size, beta):
    xp = namespace(gap)
    above = gap > 0
    size = xp.astype(size, gap.dtype)
    tied = size - row_sum(xp.astype(above, gap.dtype))
    tail = row_sum(power(xp.clip(gap, 0.0), 1 / beta))
    h = 2 ** (1 / beta - 1)
    t = xp.minimum((1 - tail) / tied, (1 - h * tail) / (tied + h * (size - tied)))
    t = xp.clip(t, 0.0)
    for _ in range(_MAX_STEPS):
        x = xp.where(above, gap + t**beta, 1.0)
        p = xp.where(above, power(x, 1 / beta), 0.0)
        excess = row_sum(p) + tied * t - 1
        if xp.all(excess <= _ROUNDING):
            break
        slope = row_sum(p / x) * t ** (beta - 1) + tied
        # A positive step is a rounding error.
        t = xp.clip(t - xp.clip(excess, 0.0) / slope, 0.0)
    return t


def tsallis(probabilities, alpha):
    """Sum of (p^alpha - p) / (alpha (alpha - 1)) in each row, for any alpha but 1."""
    xp = namespace(probabilities)
    positive = probabilities > 0
    logarithm = xp.log(xp.where(positive, probabilities, 1.0))
    change = xp.where(positive, xp.expm1((alpha - 1) * logarithm), 0.0)
    return xp.sum(probabilities * change, axis=1) / (alpha * (alpha - 1))
