"""Perturb-max with the noise as it is."""

import numpy as np

from ._base import Mapping
from ._max_conjugate import conjugate
from ._max_derivatives import MaxDerivatives
from ._max_integral import MaxIntegral
from ._noise import get_noise
from ._quantile_average import quantile_average

# n_classes² times the rows of a block: a row has at most some n_classes panels.
_BLOCK_SIZE = 1 << 20
# Tolerance of logarithms, in units of that of probabilities.
_RELATIVE = 100


class UnitPerturbMax(Mapping):
    """Perturb-max with the noise as it is."""

    def __init__(self, noise, tol, n_quantiles):
        self.noise = noise
        self.tol = tol
        self.n_quantiles = n_quantiles

    def _validate_params(self):
        get_noise(self.noise)

    @property
    def has_potential(self):
        return self.n_quantiles is None and get_noise(self.noise).mean is not None

    @property
    def has_zeros(self):
        return bool(np.isfinite(get_noise(self.noise).support).all())

    @property
    def noise_variance(self):
        return get_noise(self.noise).variance

    def probabilities(self, scores):
        if self.n_quantiles is not None:
            return self.linearize(scores).probabilities
        log_p = [i.log_probabilities() for i in self._integrals(scores)]
        return np.exp(np.concatenate(log_p)).astype(scores.dtype, copy=False)

    def probabilities_and_potential(self, scores):
        self._check_potential()
        integrals = self._integrals(scores)
        p = np.exp(np.concatenate([i.log_probabilities() for i in integrals]))
        potential = np.concatenate([i.expected_max for i in integrals])
        dtype = scores.dtype
        return p.astype(dtype, copy=False), potential.astype(dtype, copy=False)

    def negative_entropy(self, probabilities):
        self._check_potential()
        noise = get_noise(self.noise)
        omega = np.full(len(probabilities), -noise.mean, dtype=probabilities.dtype)
        mixed = np.count_nonzero(probabilities, axis=1) > 1
        if mixed.any():
            q = np.asarray(probabilities[mixed], dtype=np.float64)
            omega[mixed] = conjugate(q, noise, self.tol)
        return omega

    def linearize(self, scores):
        if self.n_quantiles is not None:
            return quantile_average(scores, get_noise(self.noise), self.n_quantiles)
        return MaxDerivatives(self._integrals(scores), scores.dtype).all()

    def log_linearize(self, scores):
        if self.n_quantiles is not None:
            return super().log_linearize(scores)
        integrals = self._integrals(scores, relative=True)
        return MaxDerivatives(integrals, scores.dtype).all()

    def _check_potential(self):
        if self.n_quantiles is not None:
            raise TypeError("The average over quantiles has no potential or entropy.")
        if not self.has_potential:
            raise TypeError(
                f"PerturbMax has no potential or entropy: the noise {self.noise!r} has "
                "no finite mean()."
            )

    def _integrals(self, scores, relative=False):
        tol = max(self.tol, np.finfo(scores.dtype).eps)
        step = max(1, _BLOCK_SIZE // scores.shape[1] ** 2)
        return [
            MaxIntegral(
                scores[i : i + step],
                get_noise(self.noise),
                _RELATIVE * tol if relative else tol,
                relative,
            )
            for i in range(0, max(len(scores), 1), step)
        ]
