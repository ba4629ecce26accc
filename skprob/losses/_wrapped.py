"""A loss that is made from another."""

from __future__ import annotations

from typing import Any

from .._typing import Array
from ._base import Loss


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
