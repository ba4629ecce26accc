"""Any mapping at a temperature."""

from __future__ import annotations

import operator

import numpy as np

from .._utils.arrays import as_type, namespace, widened
from .._utils.checks import InstancesOf, RealInterval, as_rows, refuse_arrays
from .._utils.scores import standard_scores
from .._utils.typing import Array, ArrayLike
from ._base import Mapping, MappingLike


class Temperature(Mapping):
    r"""A mapping at temperature :math:`\tau`: the probabilities of z / τ.

    With a higher temperature the probabilities are more equal, with a lower one closer
    to a one-hot row. If the other mapping is the gradient of F, this one is the
    gradient of :math:`\tau F(z / \tau)`, and its entropy is :math:`\tau` times the
    entropy of the other.

    Parameters
    ----------
    mapping : Mapping, callable or str
        The mapping to which the temperature is applied: a mapping, a function or a
        registered name.
    temperature : float, default=1.0
        Positive and finite.

    See Also
    --------
    EntropyInvariantSoftmax :
        A factor of the scores that depends on the number of classes.

    References
    ----------
    M. Blondel, A. F. T. Martins and V. Niculae, "Learning with Fenchel-Young losses",
    Journal of Machine Learning Research 21, 2020.

    Examples
    --------
    >>> from skprob.mappings import Sparsemax, Temperature
    >>> Temperature(Sparsemax(), temperature=2.0)([[1.0, 0.0, -4.0]])
    array([[0.75, 0.25, 0.  ]])
    """

    _parameter_constraints = {
        "mapping": [InstancesOf(Mapping), callable, str],
        "temperature": [RealInterval(0, None, closed="neither")],
    }

    def __init__(self, mapping: MappingLike, temperature: float = 1.0) -> None:
        self.mapping = mapping
        self.temperature = temperature

    def _validate_params(self):
        super()._validate_params()
        self._inner._validate_params()

    @property
    def traits(self):
        traits = self._inner.traits
        if traits.base_score == 0:
            return traits
        base_score = self._multiplied(np.array(traits.base_score))
        return traits.but(base_score=float(base_score))

    @property
    def pair_mapping(self):
        """The pair mapping of the mapping, at the same temperature."""
        pair = self._inner.pair_mapping
        return None if pair is None else Temperature(pair, self.temperature)

    def for_classes(self, n_classes: int, labels: ArrayLike | None = None) -> Mapping:
        """The same temperature of the mapping for this number of classes."""
        inner = self._inner
        other = inner.for_classes(n_classes, labels)
        return self if other is inner else Temperature(other, self.temperature)

    def _standard(self, scores, first_row=0):
        return self._inner._standard(scores, first_row)

    def probabilities(self, scores):
        return self._inner.probabilities(self.cooled(scores))

    def probabilities_and_potential(self, scores):
        p, potential = self._inner.probabilities_and_potential(self.cooled(scores))
        return p, self._multiplied(potential)

    def negative_entropy(self, probabilities):
        return self._multiplied(self._inner.negative_entropy(probabilities))

    def negative_entropy_among(self, probabilities, n_available):
        omega = self._inner.negative_entropy_among(probabilities, n_available)
        return self._multiplied(omega)

    def linearize(self, scores):
        linear = self._inner.linearize(self.cooled(scores))
        return linear.in_units(self._divided)

    def linearize_with_potential(self, scores):
        cooled = self.cooled(scores)
        linear, potential = self._inner.linearize_with_potential(cooled)
        return linear.in_units(self._divided), self._multiplied(potential)

    def linearize_difference(self, difference):
        pair = self._inner.linearize_difference(self._divided(difference))
        if pair is None:
            return None
        return pair._replace(
            potential=self._multiplied(pair.potential),
            derivative=lambda: self._divided(pair.derivative()),
        )

    def log_linearize(self, scores):
        linear = self._inner.log_linearize(self.cooled(scores))
        return linear.in_units(self._divided)

    def label_gradient(self, scores, labels):
        log_p, gradient = self._inner.label_gradient(self.cooled(scores), labels)
        return log_p, self._divided(gradient)

    def log_noise_gradient(self, scores: ArrayLike, q: ArrayLike) -> Array:
        """Derivatives of Σ_k q_k log p_k in the parameters of a noise (a kernel)."""
        return self._inner.log_noise_gradient(self.cooled(scores), q)

    def temperature_derivative(self, scores: ArrayLike) -> Array:
        """Derivative of the probabilities in the temperature.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Real scores; -inf means that the class is not available.

        Returns
        -------
        derivative : ndarray of shape (n_samples, n_classes)
            Rows sum to zero.

        Examples
        --------
        >>> from skprob.mappings import Softmax, Temperature
        >>> Temperature(Softmax(), temperature=2.0).temperature_derivative([[1.0, 0.0]])
        array([[-0.05875093,  0.05875093]])
        """
        self._validate_params()
        refuse_arrays("temperature_derivative", scores=scores)
        scores = as_rows(scores)
        along = scores
        if self.traits.is_shift_invariant:
            # Only differences have an effect. Those from the largest score do not
            # cancel.
            along = standard_scores(scores, shift=True)
        rise = self.jvp(scores, np.where(np.isfinite(along), along, 0))
        return self._divided(-rise)

    @property
    def _inner(self):
        if isinstance(self.mapping, Mapping):
            return self.mapping
        # Import here: the registry imports subclasses of this class.
        from ._registry import get_mapping

        return get_mapping(self.mapping)

    def cooled(self, scores: Array) -> Array:
        """The scores divided by the temperature (a kernel), in place in NumPy."""
        if not isinstance(scores, np.ndarray):
            return self._cooled(scores)
        tau, info = float(self.temperature), np.finfo(scores.dtype)
        if 1 <= tau <= float(info.max):
            return np.divide(scores, tau, out=scores)
        largest = np.abs(scores).max(axis=1, where=scores > -np.inf, initial=0)
        large = np.flatnonzero(largest.astype(float) / float(info.max) >= tau)
        if not len(large):
            scores[...] = self._divided(scores)
            return scores
        # A row that would overflow is scaled to the largest numbers.
        rows = scores[large] / largest[large, None] * info.max
        scores[...] = self._divided(scores)
        scores[large] = rows
        return scores

    def _cooled(self, scores):
        """The result of `cooled` for arrays of other libraries, in a new array."""
        xp, tau = namespace(scores), float(self.temperature)
        most = float(xp.finfo(scores.dtype).max)
        available = scores > -xp.inf
        finite = xp.where(available, scores, 0.0)
        largest = xp.max(abs(finite), axis=1, keepdims=True)
        # A row that would overflow is scaled to the largest numbers.
        is_large = widened(largest) / most >= tau
        large = xp.where(is_large, finite, 0.0) / xp.where(largest > 0, largest, 1.0)
        others = self._divided(xp.where(is_large, 0.0, finite))
        return xp.where(available, large * most + others, -xp.inf)

    def _divided(self, array):
        return _as_given(operator.truediv, array, float(self.temperature))

    def _multiplied(self, array):
        return _as_given(operator.mul, array, float(self.temperature))


def _as_given(operation, array, number):
    """An operation with a positive number that the array's type may not represent."""
    if not isinstance(array, np.ndarray):
        return as_type(operation(widened(array), number), array.dtype)
    info = np.finfo(array.dtype)
    with np.errstate(over="ignore", under="ignore"):
        if info.tiny <= number <= info.max:
            return operation(array, number)
        return operation(array.astype(np.float64), number).astype(array.dtype)
