"""Entmax for 0 < alpha < 1: every class has a probability, with tails like a power.

With gamma = 1 - alpha and scores d whose largest is 0,

    p_i = (1 + v_i)^(-1/gamma),    v_i = gamma (lambda - d_i) >= 0,

with the lambda >= 0 at which p sums to one. At this lambda the power mean of 1 + v with
the exponent -1/gamma, not divided by the number of classes, is one. The power mean is
concave and increases with lambda, so Newton's steps

    gamma dlambda = (S^(1 + gamma) - S) / A,    S = sum p,    A = sum p / (1 + v),

increase lambda from 0 to the root and never pass it. They become one step, logsumexp,
as alpha tends to 1. The last step is taken on p, to first order, so that rows sum to
one.
"""

import numpy as np

from ..._utils.arrays import namespace, row_dot, row_sum
from .._linearization import Linearization
from ._array_api import solve_tails

# Most Newton steps. They converge quadratically; the most difficult rows of a search
# took ten.
_MAX_STEPS = 100


def by_tails(scores, alpha):
    """Entmax for 0 < alpha < 1.

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
    p, v, lam = _solve(scores, alpha)
    # v is infinite for a class that is not available.
    with np.errstate(invalid="ignore"):
        v *= p
    np.nan_to_num(v, copy=False, nan=0.0)
    # Entropies are as large as 1 / alpha.
    with np.errstate(over="ignore"):
        potential = lam + v.sum(axis=1, dtype=np.float64) / alpha
        return p, potential.astype(p.dtype, copy=False)


def log_linearize(scores, alpha):
    """:class:`Linearization` of the logarithms of entmax for 0 < alpha < 1.

    A logarithm is finite even if its probability underflows. With r = 1 / (1 + v) and
    the shares w of p^(1 + gamma) in its sum, the derivative of log p_i in z_j is r_i
    (delta_ij - w_j).
    """
    xp, gamma = namespace(scores), 1 - alpha
    solve = _solve if xp is np else solve_tails
    p, v, _ = solve(scores, alpha)
    log_p = xp.log1p(v) / -gamma
    r = 1 / (1 + v)
    w = p * r
    w /= row_sum(w)

    def centred(direction):
        return direction - row_dot(w, direction)

    def vjp(cotangent):
        c = r * cotangent
        return c - w * row_sum(c)

    def vjp_derivative(cotangent, direction):
        moved = r * centred(direction)
        dr, c = gamma * r * moved, r * cotangent
        dw = (1 + gamma) * w * centred(moved)
        bent = dr * cotangent
        bent = bent - w * row_sum(bent)
        return bent - dw * row_sum(c)

    return Linearization(
        log_p, lambda direction: r * centred(direction), vjp, vjp_derivative
    )


def _solve(scores, alpha):
    """Probabilities, v and lambda; scores are overwritten."""
    gamma = 1 - alpha
    power = _POWERS.get(alpha, _log_power)
    eps = np.finfo(scores.dtype).eps
    # Largest last step: its error is of second order.
    short = eps**0.5 / 4
    v = np.multiply(scores, -gamma, out=scores)
    climbed = np.zeros((len(v), 1), dtype=v.dtype)
    for _ in range(_MAX_STEPS):
        r = 1 / (1 + v)
        p = power(v, r, gamma)
        tail = p * r
        slope = tail.sum(axis=1, keepdims=True)
        total = p.sum(axis=1, keepdims=True)
        step = total * np.expm1(gamma * np.log(total)) / slope
        if (step <= short * gamma * (1 + climbed)).all():
            break
        # A negative step is a rounding error.
        np.maximum(step, 0, out=step)
        v += step
        climbed += step
    excess = (p.sum(axis=1, keepdims=True, dtype=np.float64) - 1).astype(p.dtype)
    step = excess / slope
    p -= np.multiply(tail, step, out=tail)
    np.clip(p, 0, 1, out=p)
    v += gamma * step
    np.maximum(v, 0, out=v)
    return p, v, (climbed / gamma + step)[:, 0]


def _log_power(v, r, gamma):
    power = np.log1p(v)
    power /= -gamma
    return np.exp(power, out=power)


# Functions (v, r, gamma) -> (1 + v)^(-1 / gamma) of r = 1 / (1 + v), by alpha.
_POWERS = {
    0.5: lambda v, r, gamma: np.square(r),
    0.75: lambda v, r, gamma: np.square(np.square(r)),
}
