"""Perturb-max with independent noise of scale one: a route for each row."""

import numpy as np

from .._base import Mapping
from .._numerical import numerical_vjp_derivative
from .._softmax import Softmax
from .._traits import Traits
from ._adaptive import AdaptiveQuadrature
from ._conjugate import conjugate
from ._derivatives import Derivatives
from ._shared_nodes import SharedRows, padded_chunks, shared_groups
from ._tuning import TUNING
from .noises import NOISES, ShapedNoise, get_noise

# A Python float: it has no influence on the type of arrays, of any library.
_GUMBEL_MEAN = float(NOISES["gumbel"].mean)


class IndependentMax(Mapping):
    """Perturb-max with independent noise of scale one, by integrals.

    Parameters
    ----------
    noise, tol :
        The parameters of :class:`PerturbMax`.
    """

    def __init__(self, noise, tol):
        self.noise, self.tol = noise, tol

    def _validate_params(self):
        get_noise(self.noise)

    @property
    def traits(self):
        noise = get_noise(self.noise)
        return Traits(
            has_potential=noise.mean is not None,
            has_zeros=bool(np.isfinite(noise.support).all()),
            has_label_gradient=True,
        )

    @property
    def noise_variance(self):
        return get_noise(self.noise).variance

    def probabilities(self, scores):
        return self._integrate(scores, relative=False)[0]

    def probabilities_and_potential(self, scores):
        self._check_potential()
        return self._integrate(scores, relative=False)[:2]

    def negative_entropy(self, probabilities):
        self._check_potential()
        mean = get_noise(self.noise).mean
        omega = np.full(len(probabilities), -mean, dtype=probabilities.dtype)

        def log_jacobian(z):
            log_p, _, derivatives = self._integrate(z, relative=True)
            return log_p, derivatives.jacobian

        def potential(z):
            return self._integrate(z, relative=False)[1]

        # The entropy of a single class is the mean of the noise.
        mixed = np.flatnonzero(np.count_nonzero(probabilities, axis=1) > 1)
        for rows in _blocks(mixed, probabilities.shape[1]):
            q = np.asarray(probabilities[rows], dtype=np.float64)
            omega[rows] = conjugate(q, log_jacobian, potential)
        return omega

    def linearize(self, scores):
        return self._linearize(scores, relative=False)[0]

    def linearize_with_potential(self, scores):
        self._check_potential()
        return self._linearize(scores, relative=False)

    def log_linearize(self, scores):
        return self._linearize(scores, relative=True)[0]

    def label_gradient(self, scores, labels):
        log_p, gradient = np.zeros(len(scores), scores.dtype), np.zeros_like(scores)
        is_done = np.zeros(len(scores), dtype=bool)
        for shared, rows in self._shared(scores, relative=True):
            for chunk, z, padded_labels in padded_chunks(scores, rows, labels):
                parts = shared.label_gradient(z, padded_labels)
                _store(chunk, parts, (log_p, gradient, is_done))
        rows = np.flatnonzero(~is_done)
        if not len(rows):
            return log_p, gradient
        p, slopes = _at_labels(self.linearize(scores[rows]), labels[rows])
        # An absolute tolerance is enough for the logarithms of these probabilities.
        is_large = p >= 1 / TUNING.relative_tol
        large, small = rows[is_large], rows[~is_large]
        log_p[large] = np.log(p[is_large])
        gradient[large] = slopes[is_large] / p[is_large, None]
        linear = self.log_linearize(scores[small])
        log_p[small], gradient[small] = _at_labels(linear, labels[small])
        return log_p, gradient

    def shape_derivative(self, scores):
        """Derivative of the probabilities in the coordinate of the noise's shape."""
        p, _, derivatives = self._integrate(scores, relative=False)
        return derivatives.shape_derivative(p)

    def log_noise_gradient(self, scores, q):
        """Derivatives of Σ_k q_k log p_k in the coordinate of the noise's shape.

        An array of shape (n_samples, 1), or (n_samples, 0) for a noise without a shape.
        """
        if not isinstance(get_noise(self.noise), ShapedNoise):
            return np.zeros((len(scores), 0))
        log_p, _, derivatives = self._integrate(scores, relative=True)
        rates = derivatives.shape_derivative(np.exp(log_p))
        return (q * rates).sum(axis=1, keepdims=True)

    def _linearize(self, scores, relative):
        """:class:`Linearization` and potential, from one integral for each row."""
        value, potential, derivatives = self._integrate(scores, relative)
        linear = derivatives.linearization(value)
        if linear.vjp_derivative is not None:
            return linear, potential

        # The Jacobian is continuous even where the density has a jump.
        def vjp_at(z):
            z -= z.max(axis=1, keepdims=True)
            _, _, derivatives = self._integrate(z, relative)
            return derivatives.linearization(None).vjp

        vjp_derivative = numerical_vjp_derivative(vjp_at, scores)
        return linear._replace(vjp_derivative=vjp_derivative), potential

    def _integrate(self, scores, relative):
        """Probabilities, potential (if there is one) and :class:`Derivatives`.

        With a relative tolerance the first are the logarithms of probabilities, there
        is no potential, and the derivatives are those of the logarithms.
        """
        log_p, potential = np.zeros(scores.shape), np.zeros(len(scores))
        is_done, parts = np.zeros(len(scores), dtype=bool), []
        for shared, rows in self._shared(scores, relative):
            for chunk, z, _ in padded_chunks(scores, rows):
                results = shared.integrals(z, relative)
                _store(chunk, results, (log_p, potential, is_done))
            rows = rows[is_done[rows]]
            parts.append((rows, SharedRows(shared, scores[rows], relative)))
        todo = np.flatnonzero(~is_done)
        for rows, integrals in self._adaptive(scores, todo, relative):
            log_p[rows] = integrals.log_integrals
            potential[rows] = integrals.expected_max
            parts.append((rows, integrals))
        # Both routes give sums of one up to the tolerance: divide by them.
        log_p -= log_p.max(axis=1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
        derivatives = Derivatives(parts, scores, get_noise(self.noise), relative)
        # The result has the memory order of the scores.
        result = np.empty_like(scores)
        result[...] = log_p if relative else np.exp(log_p)
        return result, potential.astype(scores.dtype, copy=False), derivatives

    def _shared(self, scores, relative):
        """Groups of rows for the shared route."""
        tol = self._tolerance(scores, False)
        return shared_groups(scores, get_noise(self.noise), tol, relative)

    def _adaptive(self, scores, rows, relative):
        """Rows with their integrals by the adaptive route, some rows at a time."""
        noise, tol = get_noise(self.noise), self._tolerance(scores, relative)
        for block in _blocks(rows, scores.shape[1]):
            yield block, AdaptiveQuadrature(scores[block], noise, tol, relative)

    def _tolerance(self, scores, relative):
        """The tolerance of probabilities or, if it is relative, of their logarithms."""
        tol = max(self.tol, float(np.finfo(scores.dtype).eps))
        return TUNING.relative_tol * tol if relative else tol

    def _check_potential(self):
        if not self.traits.has_potential:
            raise TypeError(
                f"PerturbMax has no potential or entropy: the noise {self.noise!r} has "
                "no finite mean()."
            )


class GumbelMax(Softmax):
    """Perturb-max with Gumbel noise: softmax, and the noise's mean in the potential."""

    noise_variance = NOISES["gumbel"].variance

    def probabilities_and_potential(self, scores):
        p, potential = super().probabilities_and_potential(scores)
        return p, potential + _GUMBEL_MEAN

    def negative_entropy(self, probabilities):
        return super().negative_entropy(probabilities) - _GUMBEL_MEAN

    def linearize_difference(self, difference):
        pair = super().linearize_difference(difference)
        shift = _GUMBEL_MEAN
        return pair._replace(potential=pair.potential + shift)

    def log_linearize(self, scores):
        # log p = z - F(z) holds for softmax's potential, without the mean.
        return Softmax().log_linearize(scores)

    def log_noise_gradient(self, scores, q):
        return np.zeros((len(scores), 0))


def _store(rows, parts, results):
    """Write parts, which are padded with other rows, to some rows of the results."""
    for result, part in zip(results, parts, strict=True):
        result[rows] = part[: len(rows)]


def _at_labels(linear, labels):
    """The value of one class in each row of a linearization, and its gradient."""
    is_label = np.arange(linear.probabilities.shape[1]) == labels[:, None]
    cotangent = is_label.astype(linear.probabilities.dtype)
    return linear.probabilities[is_label], linear.vjp(cotangent)


def _blocks(rows, n_classes):
    """Rows, some at a time, so that the panels of a block fit in memory."""
    step = max(1, TUNING.block_size // n_classes**2)
    return [rows[i : i + step] for i in range(0, len(rows), step)]
