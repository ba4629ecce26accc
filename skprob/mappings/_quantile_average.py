"""The published approximation of perturb-max: an average over quantiles."""

import numpy as np

from ._linearization import Linearization
from ._reach import quantiles

# In numbers: rows × quantiles × n_classes² of them are formed at once.
_BLOCK_SIZE = 1 << 20


def quantile_average(scores, noise, n_quantiles):
    r""":class:`Linearization` of the average over quantiles of the noise.

    With the quantiles :math:`x_k = \Phi^{-1}(k / (n + 1))`, k = 1, ..., n,

    .. math:: u_i = \frac{1}{n} \sum_k \prod_{j \neq i} \Phi(z_i + x_k - z_j),

    divided by their sum. It takes n times n_classes² evaluations of the noise a row.
    """
    n_rows, n_classes = scores.shape
    x = quantiles(noise, np.arange(1, n_quantiles + 1) / (n_quantiles + 1))
    step = max(1, _BLOCK_SIZE // (n_quantiles * n_classes**2))
    blocks = [
        _value_and_jacobian(scores[i : i + step], noise, x)
        for i in range(0, max(n_rows, 1), step)
    ]
    p, jacobian = map(np.concatenate, zip(*blocks, strict=True))

    def jvp(direction):
        return np.einsum("nij,nj->ni", jacobian, direction)

    def vjp(cotangent):
        return np.einsum("nij,ni->nj", jacobian, cotangent)

    return Linearization(p, jvp, vjp)


def _value_and_jacobian(z, noise, x):
    available = z > -np.inf
    own = np.where(available, z, 0)[:, :, None, None]
    others = ~np.eye(z.shape[1], dtype=bool)[:, None, :]
    with np.errstate(all="ignore"):
        # The difference of scores first: beside large scores a quantile would be lost.
        d = (own - z[:, None, None, :]) + x[:, None]
        logcdf = noise.logcdf(d)
        # Of many classes each wins seldom; only their shares count.
        logs = (logcdf * others).sum(axis=-1)
        wins = np.exp(logs - logs.max(axis=(1, 2), keepdims=True))
        hazards = np.where(
            others & (logcdf > -np.inf), noise.logpdf(d) - logcdf, -np.inf
        )
        rates = np.einsum("nik,nikj->nij", wins, np.exp(hazards))
    wins = wins.sum(axis=-1) * available
    rates = np.where(available[:, :, None], -rates, 0)
    index = np.arange(z.shape[1])
    rates[:, index, index] = -rates.sum(axis=-1)
    total = wins.sum(axis=1)[:, None]
    p = wins / total
    return p, (rates - p[:, :, None] * rates.sum(axis=1)[:, None]) / total[..., None]
