"""Losses that are made from another."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .._typing import Array, ArrayLike
from .._validation import InstancesOf
from ._base import Loss, LossLike


class WrappedLoss(Loss):
    """A loss made from another, with the other's mapping and properties."""

    @property
    def mapping(self) -> Any:
        """The mapping of the other loss."""
        return self.loss.mapping

    @property
    def is_convex(self):
        """Whether the other loss is convex."""
        return self.loss.is_convex

    @property
    def has_kinks(self):
        """Whether the other loss is convex, with a gradient that jumps."""
        return self.loss.has_kinks

    @property
    def supports_array_api(self):
        """Whether the kernels of the other loss take arrays of any library."""
        return self.loss.supports_array_api

    @property
    def has_bounded_hessian(self):
        """Whether the second derivatives of the other loss are bounded."""
        return self.loss.has_bounded_hessian

    @property
    def is_separable(self):
        """Whether the other loss is a sum of losses of one score each."""
        return self.loss.is_separable

    @property
    def has_negative_entropy(self):
        """Whether the other loss has the method `negative_entropy`."""
        return self.loss.has_negative_entropy

    def negative_entropy(self, probabilities: Array) -> Array:
        return self.loss.negative_entropy(probabilities)

    @property
    def total_margin(self):
        """The margin of the other loss."""
        return self.loss.total_margin

    def constant(self, target, n_available=None):
        return self.loss.constant(target, n_available)

    def check_on(self, make_scores):
        self.loss.check_on(make_scores)


class GivenLoss(WrappedLoss):
    """Another loss, for targets with more about each row, such as an offset.

    A subclass writes :meth:`_put_into`.
    """

    _parameter_constraints = {"loss": [InstancesOf(Loss)]}
    # Rows differ in more than their target.
    has_common_classes = False

    def __init__(self, loss: LossLike) -> None:
        self.loss = loss

    @abstractmethod
    def _put_into(self, scores, target):
        """Change the scores in place, as the target says for each row."""

    def negative_entropy(self, probabilities):
        # The certificate takes one distribution for all rows, with the same scores.
        return np.full(len(probabilities), np.inf)

    def with_mapping(self, mapping):
        return type(self)(self.loss.with_mapping(mapping))

    def check(self):
        self._validate_params()
        self.loss.check()

    def stages(self):
        return [type(self)(stage) for stage in self.loss.stages()]

    def constant(self, target, n_available=None):
        return self.loss.constant(target.target, n_available)

    def evaluate(self, scores, target):
        self._put_into(scores, target)
        return self.loss.evaluate(scores, target.target)

    def linearize(self, scores, target):
        self._put_into(scores, target)
        return self.loss.linearize(scores, target.target)

    def noise_gradient(self, scores: ArrayLike, target: Any) -> Array:
        self._put_into(scores, target)
        return self.loss.noise_gradient(scores, target.target)
