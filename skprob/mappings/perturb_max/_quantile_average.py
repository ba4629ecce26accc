"""The published approximation of perturb-max: an average over quantiles."""

import numpy as np

from .._base import Mapping
from .._linearization import of_matrices
from .._numerical import numerical_vjp_derivative
from .._traits import Traits
from .noises import ShapedNoise, get_noise, quantiles

# Most entries, n_rows × n_quantiles × n_classes², of an array (8 MiB).
_BLOCK_SIZE = 1 << 20


class QuantileAverage(Mapping):
    r"""Perturb-max of unit noise as an average over quantiles of the noise.

    With the quantiles :math:`x_k = \Phi^{-1}(k / (n + 1))`, k = 1, ..., n,

    .. math:: u_i = \frac{1}{n} \sum_k \prod_{j \neq i} \Phi(z_i + x_k - z_j),

    divided by their sum. A row takes n times n_classes² evaluations of the noise.
    """

    def __init__(self, noise, n_quantiles):
        self.noise, self.n_quantiles = noise, int(n_quantiles)

    def _validate_params(self):
        get_noise(self.noise)

    @property
    def traits(self):
        support = get_noise(self.noise).support
        return Traits(has_zeros=bool(np.isfinite(support).all()))

    @property
    def noise_variance(self):
        return get_noise(self.noise).variance

    def probabilities(self, scores):
        return self._without_second(scores).probabilities.astype(
            scores.dtype, copy=False
        )

    def probabilities_and_potential(self, scores):
        raise TypeError("The average over quantiles has no potential or entropy.")

    def negative_entropy(self, probabilities):
        raise TypeError("The average over quantiles has no potential or entropy.")

    def linearize(self, scores):
        linear = self._without_second(scores)

        def vjp_at(z):
            return self._without_second(z - z.max(axis=1, keepdims=True)).vjp

        second = numerical_vjp_derivative(vjp_at, scores)
        return linear._replace(vjp_derivative=second)

    def shape_derivative(self, scores):
        raise TypeError("The average over quantiles has no derivative in a shape.")

    def log_noise_gradient(self, scores, q):
        if isinstance(get_noise(self.noise), ShapedNoise):
            return self.shape_derivative(scores)
        return np.zeros((len(scores), 0))

    def _without_second(self, scores):
        """The :class:`Linearization` without second derivatives."""
        noise = get_noise(self.noise)
        n_rows, n_classes = scores.shape
        x = quantiles(
            noise, np.arange(1, self.n_quantiles + 1) / (self.n_quantiles + 1)
        )
        step = max(1, _BLOCK_SIZE // (self.n_quantiles * n_classes**2))
        blocks = [
            _value_and_jacobian(scores[i : i + step], noise, x)
            for i in range(0, max(n_rows, 1), step)
        ]
        p, jacobian = map(np.concatenate, zip(*blocks, strict=True))
        return of_matrices(p, jacobian)


def _value_and_jacobian(z, noise, x):
    available = z > -np.inf
    centre = np.where(available, z, 0)[:, :, None, None]
    others = ~np.eye(z.shape[1], dtype=bool)[:, None, :]
    with np.errstate(all="ignore"):
        # Subtract the scores first: a sum with large scores would round the quantile.
        d = (centre - z[:, None, None, :]) + x[:, None]
        logcdf = noise.logcdf(d)
        # With many classes each product is tiny. Only their ratios are needed.
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
