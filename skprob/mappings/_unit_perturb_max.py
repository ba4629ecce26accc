"""Perturb-max with the noise as it is."""

from functools import cache

import numpy as np

from ._base import Linearization, Mapping
from ._graded_nodes import label_gradients_by_graded_nodes
from ._label_integral import label_gradient
from ._laplace_gaps import MOST_LAPLACE_CLASSES
from ._laplace_labels import laplace_label_gradients
from ._laplace_max import laplace_max
from ._max_conjugate import conjugate
from ._max_derivatives import MaxDerivatives
from ._max_integral import MaxIntegral
from ._noises import NOISES, get_noise
from ._numerical import numerical_vjp_derivative
from ._quantile_average import quantile_average
from ._shaped_noise import ShapedNoise
from ._shared_nodes import (
    by_shared_nodes,
    label_gradients_by_shared_nodes,
    logs_by_shared_nodes,
    shape_gradients_by_shared_nodes,
)
from ._softmax import Softmax
from ._uniform_max import MOST_CLASSES, uniform_max

# n_classes² times the rows of a block: a row has at most some n_classes panels.
_BLOCK_SIZE = 1 << 20
# Scores whose integrands at all nodes, some 50 numbers each, may be kept.
_KEEP_SIZE = 1 << 19
# Tolerance of logarithms, in units of that of probabilities.
_RELATIVE = 100
# A Python float: it has no influence on the type of arrays, of any library.
_GUMBEL_MEAN = float(NOISES["gumbel"].mean)


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
        return self._values(scores)[0]

    def probabilities_and_potential(self, scores):
        self._check_potential()
        return self._values(scores)

    def negative_entropy(self, probabilities):
        self._check_potential()
        noise = get_noise(self.noise)
        omega = np.full(len(probabilities), -noise.mean, dtype=probabilities.dtype)
        mixed = np.flatnonzero(np.count_nonzero(probabilities, axis=1) > 1)
        step = max(1, _BLOCK_SIZE // probabilities.shape[1] ** 2)

        def log_jacobian(z):
            integral = MaxIntegral(z, noise, _RELATIVE * self.tol, relative=True)
            return integral.log_probabilities(), MaxDerivatives([integral]).jacobian

        def potential(z):
            return self._values(z)[1]

        for start in range(0, len(mixed), step):
            rows = mixed[start : start + step]
            q = np.asarray(probabilities[rows], dtype=np.float64)
            omega[rows] = conjugate(q, log_jacobian, potential)
        return omega

    def linearize(self, scores):
        return self._linearize(scores, relative=False)

    def log_linearize(self, scores):
        if self.n_quantiles is not None:
            return super().log_linearize(scores)
        noise, tol = get_noise(self.noise), _RELATIVE * self._tol(scores)
        log_p, done = logs_by_shared_nodes(scores, noise, tol)
        if not done.any():
            return self._linearize(scores, relative=True)
        rest = np.flatnonzero(~done)
        if len(rest):
            log_p[rest] = self._linearize(scores[rest], relative=True).probabilities

        @cache
        def whole():
            return self._linearize(scores, relative=True)

        return Linearization(
            log_p.astype(scores.dtype, copy=False),
            lambda direction: whole().jvp(direction),
            lambda cotangent: whole().vjp(cotangent),
            lambda *args: whole().vjp_derivative(*args),
        )

    @property
    def has_label_gradient(self):
        return self.n_quantiles is None

    def label_gradient(self, scores, labels, logarithm):
        noise, tol = get_noise(self.noise), self._tol(scores)
        values, gradient = np.empty(len(scores)), np.empty(scores.shape)
        done = np.zeros(len(scores), dtype=bool)
        if logarithm:
            tol *= _RELATIVE
            for way in self._label_ways(scores):
                rest = np.flatnonzero(~done)
                found = way(scores[rest], labels[rest], noise, tol)
                values[rest], gradient[rest], done[rest] = found
        values[~done], gradient[~done] = -np.inf if logarithm else 0, 0
        # Where the label has a probability.
        low, high = noise.support
        own = np.take_along_axis(scores, labels[:, None], axis=1)[:, 0]
        rest = np.flatnonzero(~done & (own > low - high))
        for rows, columns in self._counted(scores, rest):
            z = np.take_along_axis(scores[rows], columns, axis=1)
            place = (columns == labels[rows, None]).argmax(axis=1)
            found = label_gradient(z, place, noise, tol, logarithm)
            values[rows], gradient[rows[:, None], columns] = found
        dtype = scores.dtype
        return values.astype(dtype, copy=False), gradient.astype(dtype, copy=False)

    def _label_ways(self, scores):
        """Ways to compute gradients of log-probabilities, for most rows the first."""
        if self._is_laplace(scores):
            return [laplace_label_gradients]
        return [label_gradients_by_shared_nodes, label_gradients_by_graded_nodes]

    def _is_laplace(self, scores):
        """Whether the noise is, and there are few classes."""
        is_laplace = get_noise(self.noise) is NOISES["laplace"]
        return is_laplace and scores.shape[1] <= MOST_LAPLACE_CLASSES

    def shape_derivative(self, scores):
        """Derivative of the probabilities in the coordinate of the noise's shape."""
        return self._shape_derivative(scores, relative=False)

    def log_shape_derivative(self, scores):
        """The same of their logarithms."""
        return self._shape_derivative(scores, relative=True)

    def log_noise_gradient(self, scores, q):
        """Derivatives of Σ_k q_k log p_k in the coordinate of the shape, if any.

        Of shape (n_samples, 1), or (n_samples, 0) for a noise without a shape.
        """
        if not isinstance(get_noise(self.noise), ShapedNoise):
            return np.zeros((len(scores), 0))
        gradient, done = np.zeros(len(scores)), np.zeros(len(scores), dtype=bool)
        if np.count_nonzero(q, axis=1).max(initial=0) <= 1:
            # A label for each row, as the log loss nearly always has.
            noise, tol = get_noise(self.noise), _RELATIVE * self._tol(scores)
            labels = q.argmax(axis=1)
            gradient, done = shape_gradients_by_shared_nodes(scores, noise, tol, labels)
            gradient *= q[np.arange(len(q)), labels]
        rest = np.flatnonzero(~done)
        gradient[rest] = (q[rest] * self.log_shape_derivative(scores[rest])).sum(axis=1)
        return gradient[:, None]

    def _shape_derivative(self, scores, relative):
        if self.n_quantiles is not None:
            raise TypeError("The average over quantiles has no derivative in a shape.")
        integrals = self._integrals(scores, relative)
        return MaxDerivatives(integrals, scores.dtype).shape_derivative()

    def _linearize(self, scores, relative):
        linear = self._without_differences(scores, relative)
        if linear.vjp_derivative is not None:
            return linear

        # The Jacobian is continuous even where the density jumps.
        def vjp_at(z):
            z -= z.max(axis=1, keepdims=True)
            return self._without_differences(z, relative).vjp

        vjp_derivative = numerical_vjp_derivative(vjp_at, scores)
        return linear._replace(vjp_derivative=vjp_derivative)

    def _values(self, scores):
        """Probabilities and potential."""
        noise, tol = get_noise(self.noise), self._tol(scores)
        if self._is_laplace(scores):
            values, potential, done = laplace_max(scores, tol)
        else:
            values, potential, done = by_shared_nodes(scores, noise, tol)
        rest = np.flatnonzero(~done)
        values[rest] = 0
        for rows, columns in self._counted(scores, rest):
            z = np.take_along_axis(scores[rows], columns, axis=1)
            p, potential[rows] = self._values_of_all(z)
            values[rows[:, None], columns] = p
        p = np.empty_like(scores)
        np.copyto(p, values, casting="same_kind")
        return p, potential.astype(scores.dtype, copy=False)

    def _counted(self, scores, rest):
        """Some rows at a time, and the classes that may have a probability in them.

        With noise on an interval others have none.
        """
        low, high = get_noise(self.noise).support
        n_counted = (scores[rest] > low - high).sum(axis=1)
        # Up to a power of two.
        sizes = np.minimum(2 ** np.ceil(np.log2(n_counted)), scores.shape[1])
        for size in np.unique(sizes).astype(int):
            rows = rest[sizes == size]
            yield rows, _largest(scores[rows], size)

    def _values_of_all(self, scores):
        """The same row by row, where all classes may count."""
        if get_noise(self.noise) is NOISES["uniform"]:
            if scores.shape[1] <= MOST_CLASSES:
                return uniform_max(scores)
        integrals = self._integrals(scores, relative=False)
        p = np.concatenate([integral.probabilities() for integral in integrals])
        return p, np.concatenate([integral.expected_max for integral in integrals])

    def _tol(self, scores):
        return max(self.tol, float(np.finfo(scores.dtype).eps))

    def _without_differences(self, scores, relative):
        if self.n_quantiles is not None:
            return quantile_average(scores, get_noise(self.noise), self.n_quantiles)
        return MaxDerivatives(
            self._integrals(scores, relative, keep=True), scores.dtype
        ).all()

    def _check_potential(self):
        if self.n_quantiles is not None:
            raise TypeError("The average over quantiles has no potential or entropy.")
        if not self.has_potential:
            raise TypeError(
                f"PerturbMax has no potential or entropy: the noise {self.noise!r} has "
                "no finite mean()."
            )

    def _integrals(self, scores, relative, keep=False):
        tol = self._tol(scores)
        step = max(1, _BLOCK_SIZE // scores.shape[1] ** 2)
        return [
            MaxIntegral(
                scores[i : i + step],
                get_noise(self.noise),
                _RELATIVE * tol if relative else tol,
                relative,
                keep=keep and scores.size <= _KEEP_SIZE,
            )
            for i in range(0, max(len(scores), 1), step)
        ]


class UnitGumbelMax(Softmax):
    """Perturb-max with Gumbel noise: softmax, and a potential with the noise's mean."""

    noise_variance = NOISES["gumbel"].variance

    def probabilities_and_potential(self, scores):
        p, potential = super().probabilities_and_potential(scores)
        return p, potential + _GUMBEL_MEAN

    def negative_entropy(self, probabilities):
        return super().negative_entropy(probabilities) - _GUMBEL_MEAN

    def linearize_difference(self, difference):
        pair = super().linearize_difference(difference)
        return pair._replace(potential=pair.potential + _GUMBEL_MEAN)

    def log_linearize(self, scores):
        # From softmax's own potential.
        return Softmax().log_linearize(scores)

    def log_noise_gradient(self, scores, q):
        return np.zeros((len(scores), 0))


def _largest(scores, size):
    """Indices of the largest scores of each row, those of all as they are."""
    n_classes = scores.shape[1]
    if size == n_classes:
        return np.broadcast_to(np.arange(n_classes), scores.shape)
    return np.argpartition(scores, n_classes - size, axis=1)[:, -size:]
