"""Entmax for 1 < alpha <= 2: Newton's method on the norm of a row.

With beta = alpha - 1 and scores d whose largest is 0, entmax is

    p_i = x_i^(1/beta),    x_i = [1 + beta (d_i - lambda)]+,

with the lambda at which p sums to one, that is, at which the 1/beta-norm of x is
one. That norm is convex and decreasing in lambda (Minkowski), so that Newton's steps

    beta dlambda = (S - S^(1 - beta)) / A,    S = sum x^(1/beta),
                                              A = sum x^(1/beta - 1),

climb from lambda = 0 to the root without ever passing it. At alpha = 2 they are
Michelot's algorithm, which ends with the exact answer; as alpha tends to 1 they
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
    """Entmax for 1 < alpha <= 2.

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
    offset = 1 if alpha < _NEAR_SOFTMAX else 0
    tails = _tails(beta, offset)
    tolerance = _tolerance(beta, np.finfo(scores.dtype).eps)
    # x below holds the x of the formulas less the offset.
    x = np.multiply(scores, beta, out=scores)
    if not offset:
        x += 1
    np.maximum(x, -offset, out=x)
    climbed = np.zeros((len(x), 1), dtype=x.dtype)
    for _ in range(_MAX_STEPS):
        tail = tails(x)
        slope = tail.sum(axis=1, keepdims=True)
        total = np.einsum("nk,nk->n", tail, x)[:, None] + offset * slope
        step = -total * np.expm1(-beta * np.log(total)) / slope
        if step.max(initial=0) <= tolerance:
            break
        # A step back is rounding, and would revive classes that are out.
        np.maximum(step, 0, out=step)
        x -= step
        np.maximum(x, -offset, out=x)
        climbed += step
    p = tail * x
    if offset:
        p += tail
    excess = (p.sum(axis=1, keepdims=True, dtype=np.float64) - 1).astype(p.dtype)
    step = excess / slope
    p -= tail * step
    np.maximum(p, 0, out=p)
    lam = climbed[:, 0] / beta + step[:, 0]
    mean = np.einsum("nk,nk->n", p, x) - beta * step[:, 0] + (offset - 1)
    return p, lam + mean / alpha


def _tails(beta, offset):
    """The function x -> x^(1/beta - 1), for x less its offset."""
    power = 1 / beta - 1
    if offset:
        return lambda x: _exp_of(np.log1p, x, power)
    if power == 0:
        return lambda x: (x > 0).astype(x.dtype)
    if power == 1:
        return lambda x: x
    if power == 2:
        return np.square
    if power == 3:
        return lambda x: np.square(x) * x
    return lambda x: _exp_of(np.log, x, power)


def _exp_of(log, x, power):
    with np.errstate(divide="ignore"):
        y = log(x)
    y *= power
    return np.exp(y, out=y)


def _tolerance(beta, eps):
    """A step in x after which one step on p, to first order, leaves no error.

    Its error is of second order, and what it takes below zero at the edge of the
    support is at most the step to the power 1/beta.
    """
    return max(min(beta * eps**0.5 / 4, (eps / 16) ** beta), 4 * beta * eps)
