"""Any mapping at a temperature."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._scores import standard_scores
from .._validation import as_rows
from ._base import Mapping


class Temperature(Mapping):
    r"""Another mapping at temperature :math:`\tau`: probabilities of z / τ.

    A higher temperature brings the probabilities nearer to each other, a lower one
    nearer to a one-hot row. Where the other mapping is the gradient of F, this one is
    the gradient of :math:`\tau F(z / \tau)`, and its entropy is :math:`\tau` times
    the other's.

    Parameters
    ----------
    mapping : Mapping
        The other mapping.
    temperature : float, default=1.0
        Positive and finite.

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
        "mapping": [Mapping],
        "temperature": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, mapping, temperature=1.0):
        self.mapping = mapping
        self.temperature = temperature

    def _validate_params(self):
        super()._validate_params()
        self.mapping._validate_params()

    @property
    def polytope(self):
        return self.mapping.polytope

    @property
    def sum_range(self):
        return self.mapping.sum_range

    @property
    def is_separable(self):
        """Whether the mapping is."""
        return self.mapping.is_separable

    @property
    def has_potential(self):
        return self.mapping.has_potential

    @property
    def has_zeros(self):
        return self.mapping.has_zeros

    @property
    def is_shift_invariant(self):
        return self.mapping.is_shift_invariant

    @property
    def is_symmetric(self):
        return self.mapping.is_symmetric

    @property
    def is_order_preserving(self):
        return self.mapping.is_order_preserving

    @property
    def is_only_a_function(self):
        return self.mapping.is_only_a_function

    def probabilities(self, scores):
        return self.mapping.probabilities(self._cooled(scores))

    @property
    def is_lipschitz(self):
        """Whether the mapping is."""
        return self.mapping.is_lipschitz

    def probabilities_and_potential(self, scores):
        p, potential = self.mapping.probabilities_and_potential(self._cooled(scores))
        return p, self.temperature * potential

    def negative_entropy(self, probabilities):
        return self.temperature * self.mapping.negative_entropy(probabilities)

    def negative_entropy_among(self, probabilities, n_available):
        omega = self.mapping.negative_entropy_among(probabilities, n_available)
        return self.temperature * omega

    def linearize(self, scores):
        linear = self.mapping.linearize(self._cooled(scores))
        return linear.in_units(1 / self.temperature)

    def linearize_with_potential(self, scores):
        cooled = self._cooled(scores)
        linear, potential = self.mapping.linearize_with_potential(cooled)
        return linear.in_units(1 / self.temperature), self.temperature * potential

    def linearize_difference(self, difference):
        pair = self.mapping.linearize_difference(difference / self.temperature)
        if pair is None:
            return None
        return pair._replace(
            potential=self.temperature * pair.potential,
            derivative=lambda: pair.derivative() / self.temperature,
        )

    def log_linearize(self, scores):
        linear = self.mapping.log_linearize(self._cooled(scores))
        return linear.in_units(1 / self.temperature)

    def temperature_derivative(self, scores):
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
        scores = as_rows(scores)
        if self.is_shift_invariant:
            # Only differences matter: about the largest score nothing cancels.
            scores = standard_scores(scores, shift=True)
        direction = np.where(np.isfinite(scores), -scores / self.temperature, 0)
        return self.jvp(scores, direction)

    def _cooled(self, scores):
        with np.errstate(over="ignore"):
            return np.divide(scores, self.temperature, out=scores)
