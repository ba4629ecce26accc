"""1.5-entmax: the threshold of a known support is the root of a quadratic equation.

With scores whose largest is 0, p_i = y_i^2 for y_i = [1 + z_i / 2 - tau]+. A step t of
tau changes the sum over the k positive y_i to

    S - 2 A t + k t^2,    S = sum y^2,    A = sum y.

The step at which this sum is one is exact if the same y_i are positive after it. In
most rows the second step is exact. With K classes the last of K - 1 steps is, because
each of the others removes a class. Rows whose fourth step is not exact are solved by
Newton's method on their norm, which always converges.
"""

import numpy as np

from ..._utils.arrays import row_dot, row_sum, rows_of
from ._support import count_positive, solve_mixed
from ._threshold import by_threshold

_MAX_STEPS = 4


def by_quadratic(scores):
    """Square roots of the probabilities of 1.5-entmax.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Standard scores; overwritten.

    Returns
    -------
    roots : ndarray of shape (n_samples, n_classes)
    potential : ndarray of shape (n_samples,)
    """
    x = np.multiply(scores, 0.5, out=scores)
    x += 1
    x.clip(0, 1, out=x)
    return solve_mixed(x, _roots)


def _roots(x, size):
    """The roots, in place, and the potential, from x = 1 + z / 2."""
    tau, others = _thresholds(x, size)
    remaining = rows_of(x, others)
    x -= tau
    x.clip(0, 1, out=x)
    square = np.square(x)
    potential = 2 * tau[:, 0] + (np.einsum("nk,nk->n", square, x) - 1) / 1.5
    # The rounding error of the sum grows with the number of classes.
    total = np.add.reduce(square, axis=1, keepdims=True, dtype=np.float64)
    x *= (1 / np.sqrt(total)).astype(x.dtype, copy=False)
    if len(others):
        p, potential[others] = by_threshold(2 * (remaining - 1), 1.5)
        x[others] = np.sqrt(p)
    return x, potential


def _thresholds(x, size):
    """The threshold of each row, and the numbers of rows where it is not exact."""
    tau = at = np.zeros((len(x), 1), dtype=x.dtype)
    rows, some, y = np.arange(len(x)), x, x
    for n_steps in range(1, _MAX_STEPS + 1):
        total = row_sum(y)
        excess = row_dot(y, y) - 1
        discriminant = total * total - size * excess
        # If it is negative, some y become zero before: the step is then too short.
        np.maximum(discriminant, 0, out=discriminant)
        at = at + excess / (total + np.sqrt(discriminant))
        if some is x:
            tau = at
        else:
            tau[rows] = at
        if n_steps == x.shape[1] - 1:
            return tau, rows[:0]  # At most two y are positive: the step is exact.
        y = some - at
        last_size, size = size, count_positive(y)
        wrong = (size != last_size).nonzero()[0]
        if not len(wrong):
            break
        if 2 * len(wrong) <= len(rows):
            rows, at, size = rows[wrong], at[wrong], size[wrong]
            some, y = rows_of(some, wrong), rows_of(y, wrong)
            wrong = np.arange(len(rows))
        y.clip(0, 1, out=y)
    return tau, rows[wrong]
