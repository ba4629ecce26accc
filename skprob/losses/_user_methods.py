"""The methods of a loss that users call."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils.checks import as_rows
from .._utils.scores import standard_scores
from .._utils.typing import Array, ArrayLike
from ..mappings import Mapping, get_mapping
from ..targets import as_target


class UserMethods:
    """Methods that check their arguments before they call the kernels."""

    def value(self, scores: ArrayLike, target: Any) -> Array:
        """Loss of each row.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Real scores; -inf means that the class is not available.
        target : array-like or sparse matrix of shape (n_samples, n_classes)
            Rows on the probability simplex: one-hot for a label, uniform over the
            labels of a set, or any distribution. For a mapping that gives marginals,
            numbers from 0 to 1: the indicator of a set, or any marginals.

        Returns
        -------
        value : ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If scores or target are malformed, or a parameter is not allowed.
        """
        return self.value_and_gradient(scores, target)[0]

    def value_and_gradient(self, scores: ArrayLike, target: Any) -> tuple[Array, Array]:
        """Loss of each row, and its gradient in the scores.

        Parameters
        ----------
        scores, target : as for :meth:`value`

        Returns
        -------
        value : ndarray of shape (n_samples,)
        gradient : ndarray of shape (n_samples, n_classes)
        """
        loss, scores, target = self._checked(scores, target)
        n_available = np.count_nonzero(scores > -np.inf, axis=1)
        with np.errstate(over="ignore"):
            value, gradient = loss.evaluate(scores, target)
        # In place: float32 stays float32.
        value += loss.constant(target, n_available)
        return value, gradient

    def hessian_product(
        self, scores: ArrayLike, target: Any, direction: ArrayLike
    ) -> Array:
        """Hessian of each row's loss in the scores, times `direction`.

        Parameters
        ----------
        scores, target : as for :meth:`value`
        direction : array-like of shape (n_samples, n_classes)

        Returns
        -------
        product : ndarray of shape (n_samples, n_classes)
        """
        scores, direction = as_rows(scores, direction=direction)
        loss, scores, target = self._checked(scores, target)
        with np.errstate(over="ignore"):
            product = loss.linearize(scores, target).hessian_product
        return product(direction.copy(order="K"))

    def _checked(self, scores, target):
        """The loss with a mapping in place of a name, and checked arguments."""
        self.check()
        loss = self
        if not isinstance(self.mapping, Mapping):
            loss = self.with_mapping(get_mapping(self.mapping))
        # The loss shifts the scores if its mapping is shift invariant.
        scores = standard_scores(as_rows(scores), shift=False)
        target = as_target(target, scores.shape, scores.dtype, loss.traits.polytope)
        loss.check_target(target)
        return loss, scores, target
