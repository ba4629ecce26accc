"""The log loss through any mapping."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from .._utils.arrays import copied, namespace
from .._utils.checks import OneOf, RealInterval
from .._utils.typing import Array, ArrayLike
from ..mappings import MappingLike, Softmax, Temperature, get_mapping
from ._base import Loss, LossLinearization, shift_to_standard
from ._mapping_results import check_second_derivatives, check_shape

# With this smoothing the loss of a true class of probability zero is about 14 nats.
_EPSILON_WITH_ZEROS = 1e-6


class LogLoss(Loss):
    r"""Minus the log-likelihood of the target, through any mapping.

    .. math:: \ell(z; q) = -\sum_k q_k \log \frac{p_k(z) + \epsilon}{1 + K\epsilon},

    with :math:`\epsilon = 0` for a mapping whose probabilities are positive, and a
    small :math:`\epsilon` where they can be exactly zero. It is convex for softmax
    (where it is the Fenchel-Young loss plus the target's entropy), but not in general.

    Parameters
    ----------
    mapping : Mapping, str or None, default=None
        A mapping, or its registered name. None stands for the mapping of the classifier
        to which the loss is passed.
    epsilon : float or "auto", default="auto"
        The smoothing constant; positive for a mapping with exact zeros. "auto" is 0 for
        mappings with positive probabilities and 1e-6 for those with exact zeros.

    See Also
    --------
    FenchelYoungLoss : The convex loss of a mapping.

    Notes
    -----
    If the true class of a row has probability exactly zero, the gradient of this loss
    is zero, so the row has no influence on the fit. With the Fenchel-Young loss it has
    an influence.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import LogLoss
    >>> loss = LogLoss("softmax")
    >>> loss.value([[np.log(3), 0.0]], [[1, 0]]).round(4)  # -log(3/4)
    array([0.2877])
    >>> LogLoss("sparsemax", epsilon=0.01).value([[0.0, 2.0]], [[1, 0]]).round(4)
    array([4.625])
    """

    _parameter_constraints = {
        "epsilon": [RealInterval(0, 1, closed="left"), OneOf("auto")]
    }

    def __init__(
        self, mapping: MappingLike | None = None, epsilon: float = "auto"
    ) -> None:
        super().__init__(mapping)
        self.epsilon = epsilon

    @property
    def traits(self):
        mapping = get_mapping(self.mapping)
        traits, innermost = mapping.traits, mapping
        while isinstance(innermost, Temperature):
            innermost = get_mapping(innermost.mapping)
        # Softmax at any temperature, without smoothing.
        is_convex = isinstance(innermost, Softmax) and self.epsilon in ("auto", 0)
        return traits.but(
            is_convex=is_convex,
            has_negative_entropy=is_convex and isinstance(mapping, Softmax),
        )

    def negative_entropy(self, probabilities: Array) -> Array:
        return self.mapping.negative_entropy(probabilities)

    def check(self):
        super().check()
        mapping = get_mapping(self.mapping)
        if mapping.traits.has_zeros and self.epsilon == 0:
            raise ValueError(
                f"epsilon must be positive for {mapping!r}, whose probabilities can "
                "be exactly zero; got 0."
            )

    def linearize(self, scores, target):
        mapping = self.mapping
        scores = shift_to_standard(scores, mapping)
        if not mapping.traits.has_label_gradient:
            return self._linearize(scores, target)
        q = target.to_dense(scores.dtype)
        labels = q.argmax(axis=1)
        is_label = np.take_along_axis(q, labels[:, None], axis=1)[:, 0] == 1
        if not is_label.any():
            return self._linearize(scores, target)
        return self._row_by_row(scores, target, labels, is_label)

    def _row_by_row(self, scores, target, labels, is_label):
        """The loss of rows with a label by :meth:`_of_labels`, and of the others.

        The Jacobian of the mapping is computed if a Hessian product needs it.
        """
        if is_label.all():
            values, gradient = self._of_labels(copied(scores), labels)
        else:
            values = np.empty(len(labels), scores.dtype)
            gradient = np.empty_like(scores)
            rows, others = np.flatnonzero(is_label), np.flatnonzero(~is_label)
            values[rows], gradient[rows] = self._of_labels(scores[rows], labels[rows])
            linear = self._linearize(scores[others], target.take(others))
            values[others], gradient[others] = linear.values, linear.gradient

        @cache
        def whole():
            return self._linearize(scores, target)

        def hessian_product(direction):
            return whole().hessian_product(direction)

        return LossLinearization(values, lambda: copied(gradient), hessian_product)

    def _of_labels(self, scores, labels):
        """Values and gradients for one class in each row of standard scores."""
        mapping = self.mapping
        epsilon = self._smoothing(mapping)
        log_p, gradient = mapping.label_gradient(scores, labels)
        if epsilon == 0:
            return -log_p, -gradient
        p = np.exp(log_p)
        gradient *= (-p / (p + epsilon))[:, None]
        return math.log1p(scores.shape[1] * epsilon) - np.log(p + epsilon), gradient

    def _smoothing(self, mapping):
        if self.epsilon != "auto":
            return float(self.epsilon)
        return _EPSILON_WITH_ZEROS if mapping.traits.has_zeros else 0.0

    def _linearize(self, scores, target):
        """:class:`LossLinearization` at standard scores, by the mapping's Jacobian."""
        mapping = self.mapping
        epsilon = self._smoothing(mapping)
        q = target.to_dense(scores.dtype)
        if epsilon == 0:
            linear = mapping.log_linearize(scores)
            log_p = linear.probabilities
            check_shape(mapping, "log-probabilities", log_p, target.shape)
            values = -target.inner(log_p)

            def hessian_product(direction):
                check_second_derivatives(self, linear)
                return linear.vjp_derivative(-q, direction)

            gradient = linear.vjp(-q)
            return LossLinearization(values, lambda: copied(gradient), hessian_product)

        linear = mapping.linearize(scores)
        p = linear.probabilities
        check_shape(mapping, "probabilities", p, target.shape)
        smoothed, log = p + epsilon, namespace(p).log
        values = math.log1p(p.shape[1] * epsilon) - target.inner(log(smoothed))
        slope = -q / smoothed

        def hessian_product(direction):
            check_second_derivatives(self, linear)
            bent = linear.vjp_derivative(slope, direction)
            return bent + linear.vjp(-slope / smoothed * linear.jvp(direction))

        gradient = linear.vjp(slope)
        return LossLinearization(values, lambda: copied(gradient), hessian_product)

    def noise_gradient(self, scores: ArrayLike, target: Any) -> Array:
        """Derivatives of each row's loss in the parameters of its mapping's noise.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_classes)
            As for ``evaluate``.
        target : target of the same shape

        Returns
        -------
        gradient : ndarray of shape (n_samples, n_parameters)
            The columns are the coordinate of the noise's shape, if it has one, and the
            loadings, row by row, if there are any.
        """
        mapping = self.mapping
        scores = shift_to_standard(scores, mapping)
        return -mapping.log_noise_gradient(scores, target.to_dense(scores.dtype))
