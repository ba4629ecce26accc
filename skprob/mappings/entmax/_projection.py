"""Sparsemax: the projection onto the simplex, by Michelot's algorithm.

With scores whose largest is 0, p_i = x_i for x_i = [1 + z_i - lambda]+ and the lambda
at which they sum to one. A round divides the excess of the sum over one equally among
the positive entries and subtracts it. Some entries become zero, but never one of the
support. When no further entry becomes zero, the result is exact. No row of
floating-point numbers takes many rounds.
"""

import numpy as np

from ..._utils.arrays import row_sum
from ._support import count_positive, solve_mixed


def by_projection(scores):
    """Sparsemax of standard scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Standard scores; overwritten.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
    potential : ndarray of shape (n_samples,)
    """
    x = np.add(scores, 1, out=scores)
    x.clip(0, 1, out=x)
    return solve_mixed(x, _normalized)


def _normalized(x, size):
    """Probabilities, in place, and potential from x at lambda = 0."""
    lam = np.zeros((len(x), 1), dtype=x.dtype)
    for _ in range(x.shape[1] - 1):  # A round that is not the last removes a class.
        share = (row_sum(x) - 1) / size.astype(x.dtype)
        # A negative share is a rounding error. It would return classes to the support.
        np.maximum(share, 0, out=share)
        x -= share
        x.clip(0, 1, out=x)
        lam += share
        last_size, size = size, count_positive(x)
        if (size == last_size).all():
            break
    excess = np.add.reduce(x, axis=1, keepdims=True, dtype=np.float64) - 1
    share = (excess / size).astype(x.dtype, copy=False)
    x -= (x > 0) * share
    x.clip(0, 1, out=x)
    lam += share
    return x, lam[:, 0] + (np.einsum("nk,nk->n", x, x) - 1) / 2
