"""The mean loss of a linear model over all blocks."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ._blocks import (
    block_linearization,
    block_value_and_gradient,
    weighted_total,
)


class Linearization(NamedTuple):
    """An objective at fixed parameters.

    Attributes
    ----------
    value : float
    gradient : ndarray of shape (n_parameters,)
    hessian_product : callable
        Hessian times a vector of shape (n_parameters,).
    """

    value: float
    gradient: np.ndarray
    hessian_product: Callable


class MeanLoss:
    """Weighted mean loss in terms of coefficients and intercepts.

    Parameters
    ----------
    blocks : sequence of Block
        Iterated over at every evaluation. The weights of all blocks sum to one.
    loss : Loss
        Checked, with its mapping.
    """

    def __init__(self, blocks, loss):
        self.blocks = blocks
        self.loss = loss
        self.dtype = blocks[0].X.dtype
        self._constant = sum(
            weighted_total(loss.constant(block.target), block.weight)
            for block in blocks
        )

    def mean_loss(self, coef, intercept):
        """Value, and gradients in coefficients and intercepts.

        Parameters
        ----------
        coef : ndarray of shape (M, n_features)
        intercept : ndarray of shape (M,)

        Returns
        -------
        value : float
        coef_gradient : ndarray of shape (M, n_features)
        intercept_gradient : ndarray of shape (M,)
        """
        model = self._for_blocks(coef, intercept)
        parts = [block_value_and_gradient(*model, b, self.loss) for b in self.blocks]
        return self._value(parts), *_sum_pairs(part[1:] for part in parts)

    def mean_loss_linearization(self, coef, intercept):
        """As :meth:`mean_loss`, with the Hessian product as a function.

        Returns
        -------
        value, coef_gradient, intercept_gradient : as there
        hessian_product : callable
            ``hessian_product(coef_direction, intercept_direction)`` is a pair like
            the gradients.
        """
        model = self._for_blocks(coef, intercept)
        parts = [block_linearization(*model, block, self.loss) for block in self.blocks]

        def hessian_product(coef_direction, intercept_direction):
            along = self._for_blocks(coef_direction, intercept_direction)
            return _sum_pairs(part[3](*along) for part in parts)

        gradients = _sum_pairs(part[1:3] for part in parts)
        return self._value(parts), *gradients, hessian_product

    def _for_blocks(self, coef, intercept):
        # A sparse product reads the transposed coefficients row by row.
        order = "F" if sparse.issparse(self.blocks[0].X) else "C"
        coef = np.asarray(coef, dtype=self.dtype, order=order)
        return coef, np.asarray(intercept, dtype=self.dtype)

    def _value(self, parts):
        return self._constant + sum(part[0] for part in parts)


def _sum_pairs(pairs):
    """Sums, in float64, of the first and of the second members of pairs of arrays."""
    pairs = iter(pairs)
    first, second = (np.array(part, dtype=np.float64) for part in next(pairs))
    for more_first, more_second in pairs:
        first += more_first
        second += more_second
    return first, second
