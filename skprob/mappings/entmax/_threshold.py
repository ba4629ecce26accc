"""Entmax for 1 < alpha < 2: Newton's method on the norm of a row.

For alpha = 1.5 few rows need this method: see `_quadratic.py`.

With beta = alpha - 1 and scores d whose largest is 0, entmax is

    p_i = x_i^(1/beta),    x_i = [1 + beta (d_i - lambda)]+,

with the lambda at which p sums to one, so the 1/beta-norm of x is one. This norm is
convex and decreasing in lambda (Minkowski), so Newton's steps

    beta dlambda = (S - S^(1 - beta)) / A,    S = sum x^(1/beta),
                                              A = sum x^(1/beta - 1),

increase lambda from 0 to the root and never pass it. They become one step, logsumexp,
as alpha tends to 1. The steps are subtracted from x, so a small entry has a small
rounding error. The last step is taken on p, to first order, so rows sum to one for any
number of classes.
"""

import numpy as np

from ._support import solve_mixed

#: Below this alpha, x - 1 is stored instead of x = 1 + beta (d - lambda), whose high
# power would amplify the rounding error of x.
NEAR_SOFTMAX = 1.25

# Most Newton steps. After the support is known they converge quadratically, and no row
# of floating-point numbers takes more steps.
_MAX_STEPS = 100


def by_threshold(scores, alpha):
    """Entmax for 1 < alpha < 2.

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
    info = np.finfo(scores.dtype)
    # The array x below is the x of the formulas minus this offset.
    offset = 1 if alpha < NEAR_SOFTMAX else 0
    lowest = _lowest(beta, info) if offset else 0

    x = np.multiply(scores, beta, out=scores)
    if not offset:
        x += 1
    np.clip(x, lowest, 1, out=x)
    if offset:
        return _solve(x, beta, offset, lowest)
    return solve_mixed(x, lambda rows, _: _solve(rows, beta, offset, lowest))


def _solve(x, beta, offset, lowest):
    """Probabilities and potential from x at lambda = 0, which is overwritten."""
    info = np.finfo(x.dtype)
    tails = _log1p_tails if offset else _TAILS.get(1 / beta - 1, _log_tails)
    short = _short_step(beta, info.eps / x.shape[1])
    climbed = np.zeros((len(x), 1), dtype=x.dtype)
    scratch = np.empty_like(x)
    for _ in range(_MAX_STEPS):
        tail = tails(x, 1 / beta - 1, scratch)
        slope = tail.sum(axis=1, keepdims=True)
        total = np.einsum("nk,nk->n", tail, x)[:, None]
        if offset:
            total += slope
        rise = _rise(total, beta)
        step = rise / slope
        # The last step is taken on p: one more step on x would not be more accurate.
        if ((step <= short) | (rise <= 8 * beta * info.eps)).all():
            break
        # A negative step is a rounding error. It would return classes to the support.
        np.maximum(step, 0, out=step)
        x -= step
        np.clip(x, lowest, 1, out=x)
        climbed += step

    if offset:
        tail *= x > lowest
    p = tail * x
    if offset:
        p += tail
    excess = (p.sum(axis=1, keepdims=True, dtype=np.float64) - 1).astype(p.dtype)
    step = excess / slope
    p -= np.multiply(tail, step, out=scratch)
    np.clip(p, 0, 1, out=p)
    lam = climbed[:, 0] / beta + step[:, 0]
    mean = np.einsum("nk,nk->n", p, x) - beta * step[:, 0] + (offset - 1)
    return p, lam + mean / (1 + beta)


def _rise(total, beta):
    """S - S^(1 - beta)."""
    return -total * np.expm1(-beta * np.log(total))


# Functions (x, power, out) -> x^power, for x minus its offset. The power of zero is
# zero. Logarithms of zero and exponentials that underflow are avoided, because they are
# slow.

_TAILS = {
    1: lambda x, power, out: x,
    2: lambda x, power, out: np.square(x, out=out),
    3: lambda x, power, out: np.multiply(np.square(x, out=out), x, out=out),
}


def _log_tails(x, power, out):
    np.add(x, np.finfo(x.dtype).tiny, out=out)
    np.log(out, out=out)
    out *= power
    np.exp(out, out=out)
    out *= np.ceil(x)
    return out


def _log1p_tails(x, power, out):
    np.log1p(x, out=out)
    out *= power
    return np.exp(out, out=out)


def _lowest(beta, info):
    """Smallest x - 1 whose power is computed: negligible, but without underflow."""
    return float(max(info.epsneg - 1, np.expm1(np.log(info.tiny) * beta / (1 - beta))))


def _short_step(beta, share):
    """Largest step in x that may be taken on p to first order.

    The error is of second order and, for a class that would become negative, at most
    the step to the power 1/beta. With this step both are a small part of the rounding
    error that each class may have, `share`.
    """
    return min(beta * (share / 16) ** 0.5, (share / 16) ** beta)
