"""A loss that is made from another."""

from __future__ import annotations

from typing import Any

from .._typing import Array
from ._base import Loss


class WrappedLoss(Loss):
    """A loss made from another, of which it has the mapping and the properties."""

    @property
    def mapping(self) -> Any:
        """The mapping of the loss."""
        return self.loss.mapping

    @property
    def is_convex(self):
        """Whether the loss is."""
        return self.loss.is_convex

    @property
    def supports_array_api(self):
        """Whether the loss does."""
        return self.loss.supports_array_api

    @property
    def has_bounded_hessian(self):
        """Whether the loss has one."""
        return self.loss.has_bounded_hessian

    @property
    def is_separable(self):
        """Whether the loss is."""
        return self.loss.is_separable

    @property
    def has_negative_entropy(self):
        """Whether the loss has one."""
        return self.loss.has_negative_entropy

    def negative_entropy(self, probabilities: Array) -> Array:
        return self.loss.negative_entropy(probabilities)

    @property
    def total_margin(self):
        """That of the loss."""
        return self.loss.total_margin

    def constant(self, target, n_available=None):
        return self.loss.constant(target, n_available)

    def check_on(self, make_scores):
        self.loss.check_on(make_scores)
