"""Perturb-max with correlated noise: an average over shared normal factors."""

import numpy as np
from scipy.special import logsumexp

from .._base import Mapping
from .._linearization import of_matrices
from .._numerical import numerical_vjp_derivative
from .._row_matrices import matrices_by_products
from .._traits import Traits
from ._conjugate import conjugate

# Number of shifted rows in one call of the other mapping.
_ROWS = 4096


class CorrelatedMax(Mapping):
    r"""The average of a mapping over shifts of its scores.

    Given normal factors η that several classes share, noise e + L η is independent
    noise e at the scores z + L η, so that

    .. math:: p(z) = E_\eta[p_e(z + L \eta)], \quad F(z) = E_\eta[F_e(z + L \eta)].

    Parameters
    ----------
    mapping : Mapping
        Perturb-max with the independent noise e.
    factors : Factors
    """

    def __init__(self, mapping, factors):
        self.mapping = mapping
        self.factors = factors

    def _validate_params(self):
        self.mapping._validate_params()

    @property
    def traits(self):
        independent = self.mapping.traits
        return Traits(
            has_potential=independent.has_potential,
            has_zeros=independent.has_zeros,
            is_symmetric=False,
            is_order_preserving=False,
        )

    @property
    def noise_variance(self):
        """None: classes have different variances."""
        return None

    def probabilities(self, scores):
        p = np.zeros(scores.shape)
        for weights, _, shifted in self._shifted(scores):
            p += self._mean(weights, self.mapping.probabilities(shifted))
        return p.astype(scores.dtype, copy=False)

    def probabilities_and_potential(self, scores):
        p, potential = np.zeros(scores.shape), np.zeros(len(scores))
        for weights, tops, shifted in self._shifted(scores):
            part, below = self.mapping.probabilities_and_potential(shifted)
            p += self._mean(weights, part)
            potential += self._mean(weights, below + tops)
        dtype = scores.dtype
        return p.astype(dtype, copy=False), potential.astype(dtype, copy=False)

    def negative_entropy(self, probabilities):
        # The factors have mean zero: with one class they do not change the entropy.
        (of_one_class,) = self.mapping.negative_entropy(np.ones((1, 1)))
        omega = np.full(len(probabilities), of_one_class, dtype=probabilities.dtype)
        for row in np.flatnonzero(np.count_nonzero(probabilities, axis=1) > 1):
            q = np.asarray(probabilities[[row]], dtype=np.float64)
            omega[row] = conjugate(q, self._log_jacobian, self._potential)[0]
        return omega

    def linearize(self, scores):
        p, jacobian = np.zeros(scores.shape), _no_jacobian(scores)
        for weights, _, shifted in self._shifted(scores):
            linear = self.mapping.linearize(shifted)
            p += self._mean(weights, linear.probabilities)
            jacobian += self._mean(weights, _jacobian(linear))
        return self._linearization(scores, p, jacobian, "linearize")

    def log_linearize(self, scores):
        log_p, jacobian = self._log_jacobian(scores)
        return self._linearization(scores, log_p, jacobian, "log_linearize")

    def shape_derivative(self, scores):
        """Derivative of the probabilities in the coordinate of the noise's shape."""
        rate = np.zeros(scores.shape)
        for weights, _, shifted in self._shifted(scores):
            rate += self._mean(weights, self.mapping.shape_derivative(shifted))
        return rate.astype(scores.dtype, copy=False)

    def log_noise_gradient(self, scores, q):
        """Derivatives of Σ_k q_k log p_k in the coordinate of the shape and in L.

        The array has a row for each sample. Its columns are the shape, if the noise has
        one, and the n_classes * n_factors loadings, row by row.
        """
        log_p = self._log_probabilities(scores)
        of_shape, of_loadings, start = [], 0, 0
        for weights, _, shifted in self._shifted(scores):
            factors = self.factors.factors[start : start + len(weights)]
            start += len(weights)
            linear = self.mapping.log_linearize(shifted.copy())
            # Share of each node in the probability, times the target.
            logs = self._weighted_logs(weights, linear.probabilities)
            logs = logs - np.where(q > 0, log_p, 0)
            shares = np.where(q > 0, q * np.exp(np.minimum(logs, 0)), 0)
            rows = shares.reshape(shifted.shape)
            slopes = self._by_node(weights, linear.vjp(rows))
            of_loadings += np.einsum("mnk,mf->nkf", slopes, factors)
            shape = self.mapping.log_noise_gradient(shifted, rows)
            of_shape.append(self._by_node(weights, shape).sum(axis=0))
        of_loadings = of_loadings.reshape(len(scores), -1)
        return np.concatenate([sum(of_shape), of_loadings], axis=1)

    def _log_probabilities(self, scores):
        log_p = np.full(scores.shape, -np.inf)
        for weights, _, shifted in self._shifted(scores):
            shifted_log_p = self.mapping.log_linearize(shifted).probabilities
            logs = self._weighted_logs(weights, shifted_log_p)
            log_p = np.logaddexp(log_p, logsumexp(logs, axis=0))
        return log_p

    def _linearization(self, scores, value, jacobian, kind):
        dtype = scores.dtype
        jacobian = jacobian.astype(dtype, copy=False)

        def vjp_at(points):
            points -= points.max(axis=1, keepdims=True)
            return getattr(self, kind)(points).vjp

        value = value.astype(dtype, copy=False)
        second = numerical_vjp_derivative(vjp_at, scores)
        return of_matrices(value, jacobian, second)

    def _log_jacobian(self, scores):
        """Logarithms of probabilities and their Jacobian."""
        parts = []
        log_p = np.full(scores.shape, -np.inf)
        for weights, _, shifted in self._shifted(scores):
            linear = self.mapping.log_linearize(shifted)
            logs = self._weighted_logs(weights, linear.probabilities)
            log_p = np.logaddexp(log_p, logsumexp(logs, axis=0))
            parts.append((logs, self._by_node(weights, _jacobian(linear))))
        jacobian = _no_jacobian(scores)
        known = np.where(log_p > -np.inf, log_p, 0)
        for logs, rates in parts:
            jacobian += np.einsum("mni,mnij->nij", np.exp(logs - known), rates)
        return log_p, jacobian

    def _potential(self, scores):
        return self.probabilities_and_potential(scores)[1]

    def _shifted(self, scores):
        """Weights of some nodes at a time, and all rows shifted by these.

        Yields
        ------
        weights : ndarray of shape (n_nodes,)
        tops : ndarray of shape (n_nodes * n_samples,)
            Largest score of each shifted row, which is subtracted from it.
        standard : ndarray of shape (n_nodes * n_samples, n_classes)
        """
        shifts, weights = self.factors.shifts, self.factors.weights
        n_classes = scores.shape[1]
        if shifts.shape[1] != n_classes:
            raise ValueError(
                f"loadings must have a row for each of the {n_classes} classes; got "
                f"{shifts.shape[1]} rows."
            )
        step = max(1, _ROWS // max(1, len(scores)))
        for i in range(0, len(weights), step):
            shifted = scores + shifts[i : i + step, None, :].astype(scores.dtype)
            shifted = shifted.reshape(-1, n_classes)
            tops = shifted.max(axis=1)
            yield weights[i : i + step], tops, shifted - tops[:, None]

    def _by_node(self, weights, values):
        """Values of shifted rows, with the nodes as the first axis."""
        n_rows = len(values) // len(weights)
        return values.reshape(len(weights), n_rows, *values.shape[1:])

    def _weighted_logs(self, weights, log_p):
        """Logarithms of the terms of the mean: (n_nodes, n_samples, n_classes)."""
        return self._by_node(weights, log_p) + np.log(weights)[:, None, None]

    def _mean(self, weights, values):
        return np.tensordot(weights, self._by_node(weights, values), axes=1)


def _no_jacobian(scores):
    return np.zeros((*scores.shape, scores.shape[1]))


def _jacobian(linear):
    """The Jacobian of each row, from one product for each class."""
    return matrices_by_products(linear.jvp, linear.probabilities)
