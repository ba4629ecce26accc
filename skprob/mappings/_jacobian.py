"""The Jacobian that the entmax family shares, from the probabilities alone."""

import numpy as np

from ._base import Linearization


def entmax_linearization(p, alpha):
    """Linearization of entmax-alpha at probabilities p (softmax: alpha = 1)."""
    if alpha == 1:
        s = p
    elif alpha == 2:
        s = (p > 0).astype(p.dtype)
    else:
        with np.errstate(divide="ignore"):
            s = np.where(p > 0, p ** (2 - alpha), 0)
    total = s.sum(axis=1, keepdims=True)

    def centred(direction):
        mean = np.einsum("nk,nk->n", s, direction)[:, None] / total
        return direction - mean

    def jvp(direction):
        return s * centred(direction)

    def vjp_derivative(cotangent, direction):
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = (2 - alpha) * np.where(p > 0, p ** (3 - 2 * alpha), 0)
        ds = rate * centred(direction)
        c = centred(cotangent)
        return ds * c - s * (np.einsum("nk,nk->n", ds, c)[:, None] / total)

    return Linearization(p, jvp, jvp, vjp_derivative)
