"""The mean loss of a linear model over all blocks."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ._block_linearization import BlockLinearization
from ._blocks import block_value_and_gradient, weighted_total
from ._parallel import sum_over


class Linearization(NamedTuple):
    """An objective at fixed parameters.

    Attributes
    ----------
    value : float
    gradient : ndarray of shape (n_parameters,)
    hessian_product : callable
        Hessian times a vector of shape (n_parameters,), with the products with the
        data in the vector's precision.
    blocks : sequence of BlockLinearization
        What its rows' second derivatives are known from.
    mean_loss : tuple
        That of the mean loss, in which no penalty has a part.
    """

    value: float
    gradient: np.ndarray
    hessian_product: Callable
    blocks: Sequence = ()
    mean_loss: tuple = ()


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
        #: Weighted mean of the loss's part that does not depend on the scores.
        self.constant = sum(
            weighted_total(loss.constant(block.target), block.weight)
            for block in blocks
        )

    #: Whether the objective is a convex function of its parameters.
    is_convex = False
    #: Whether its second derivatives are bounded.
    has_bounded_hessian = True
    #: Whether the duality gap vanishes at the minimum.
    has_certificate = False

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

        def part(block):
            return block_value_and_gradient(*model, block, self.loss)

        value, *gradients = sum_over(self.blocks, part, coef.size)
        return self.constant + float(value), *gradients

    def mean_loss_linearization(self, coef, intercept):
        """As :meth:`mean_loss`, with second derivatives as functions.

        Returns
        -------
        value, coef_gradient, intercept_gradient : as there
        hessian_product : callable
            ``hessian_product(coef_direction, intercept_direction)`` is a pair like
            the gradients, with the products with X in single precision if the
            coefficients' direction is.
        blocks : list of BlockLinearization
        """
        model = self._for_blocks(coef, intercept)
        parts = [None] * len(self.blocks)

        def part(i):
            there = parts[i] = BlockLinearization(*model, self.blocks[i], self.loss)
            return there.value, there.coef_gradient, there.intercept_gradient

        def hessian_product(coef_direction, intercept_direction):
            along = self._for_blocks(coef_direction, intercept_direction)
            return sum_over(
                parts, lambda there: there.hessian_product(*along), coef.size
            )

        value, *gradients = sum_over(range(len(parts)), part, coef.size)
        return self.constant + float(value), *gradients, hessian_product, parts

    def duality_gap(self, parameters, value, gradient, enough=0.0):
        """A bound on the value less the minimum; infinite where none is known.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
        value : float
        gradient : ndarray of shape (n_parameters,)
            Both of the objective there.
        enough : float, default=0.0
            A bound that need not be made tighter.
        """
        return np.inf

    def falls_without_end(self, parameters, value):
        """Whether there is no minimum in the direction of the parameters.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            Near the minimum, if there is one.
        value : float
            Of the objective there.
        """
        return False

    def _for_blocks(self, coef, intercept):
        # The products read the transposed coefficients row by row.
        dtype = min(self.dtype, coef.dtype, key=lambda dtype: dtype.itemsize)
        coef = np.asarray(coef, dtype=dtype, order="F")
        return coef, np.asarray(intercept, dtype=self.dtype)
