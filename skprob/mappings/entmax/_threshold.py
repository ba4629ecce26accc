"""Entmax for 1 < alpha < 2: Newton's method on the norm of a row.

With beta = alpha - 1 and scores d whose largest is 0, entmax is

    p_i = x_i^(1/beta),    x_i = [1 + beta (d_i - lambda)]+,

with the lambda at which p sums to one, that is, at which the 1/beta-norm of x is
one. That norm is convex and decreasing in lambda (Minkowski), so that Newton's steps

    beta dlambda = (S - S^(1 - beta)) / A,    S = sum x^(1/beta),
                                              A = sum x^(1/beta - 1),

climb from lambda = 0 to the root without ever passing it; as alpha tends to 1 they
become one step, logsumexp. The steps are taken on x itself, where a small entry
keeps a small rounding error, and the last one, to first order, on p: so rows sum to
one however many classes there are.
"""

import numpy as np

# Below this alpha, x = 1 + beta (d - lambda) would round away what its high power
# needs, and x - 1 is kept instead.
_NEAR_SOFTMAX = 1.25

# Once the classes that are out are known a step squares the error, and no row of
# floating-point numbers can make that take longer than this.
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
    # x below holds the x of the formulas less this offset.
    offset = 1 if alpha < _NEAR_SOFTMAX else 0
    tails = _log1p_tails if offset else _TAILS.get(1 / beta - 1, _log_tails)
    lowest = _lowest(beta, info) if offset else 0
    short = _short_step(beta, info.eps / scores.shape[1])

    x = np.multiply(scores, beta, out=scores)
    if not offset:
        x += 1
    np.clip(x, lowest, 1, out=x)
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
        # The last step is taken on p, where it is not worth another one on x.
        if ((step <= short) | (rise <= 8 * beta * info.eps)).all():
            break
        # A step back is rounding, and would revive classes that are out.
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
    return p, lam + mean / alpha


def _rise(total, beta):
    """S - S^(1 - beta)."""
    if beta == 0.5:
        return total - np.sqrt(total)
    return -total * np.expm1(-beta * np.log(total))


# Functions (x, power, out) -> x^power, for x less its offset. Those of zero are zero,
# but logarithms of zero and exponentials that underflow are slow, and avoided.

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
    """The x, less 1, where its power is as good as zero and not yet slow to take."""
    return float(max(info.epsneg - 1, np.expm1(np.log(info.tiny) * beta / (1 - beta))))


def _short_step(beta, share):
    """A step in x that may be taken on p to first order.

    The error is of second order and, where it would take a class below zero, at most
    the step to the power 1/beta: this makes both a small part of each class's `share`
    of rounding.
    """
    return min(beta * (share / 16) ** 0.5, (share / 16) ** beta)
