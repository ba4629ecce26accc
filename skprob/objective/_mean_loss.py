"""The mean loss of a model over all blocks."""

import copy

import numpy as np

from . import _block_point
from ._at_zero import value_at_zero
from ._block import constant_and_totals
from .little import EvaluatedRows, is_little


class MeanLoss:
    """Weighted mean loss, as a function of parameters of shape (M, size).

    Blocks and loss are those of a :class:`LinearObjective`. The description is that of
    the data, to which the properties of the loss are added.

    Attributes
    ----------
    shape : tuple of int
        Shape (M, size) of the parameters.
    n_parameters : int
        M times size.
    traits : Traits
        Traits of the loss.
    constant : float
        Mean, over the rows, of the loss's part that does not depend on the scores.
    class_means : ndarray of shape (n_classes,)
        Mean of the target.
    value_at_zero : float
        Mean loss where all raw predictions are the ``base_score`` of the traits: zero
        for most mappings.
    rows_at_zero : EvaluatedRows or None
        Rows of little data at these raw predictions; None for other data.
    """

    #: Cost of a pass over these columns, as a share of a pass over all.
    _share_of_pass = 1.0

    def __init__(self, blocks, description, loss):
        self.blocks, self.description = blocks, description
        self.shape = description.shape
        self.n_parameters = self.shape[0] * self.shape[1]
        # A list, which copies of the objective share.
        self._n_passes = [0.0]
        self._set_loss(loss)

    def _set_loss(self, loss):
        self.loss, self.traits = loss, loss.traits
        self.description = self.description.with_loss(loss)
        constant, self.class_means = self.blocks.sum(constant_and_totals, loss)
        self.constant = float(constant)
        self._evaluate_at_zero()
        # ``TargetSums`` depend on the margins of the loss.
        self._target_sums = None

    def _evaluate_at_zero(self):
        """Set ``value_at_zero`` and ``rows_at_zero``; X is not read."""
        if not is_little(self.blocks):
            self.value_at_zero, self.rows_at_zero = value_at_zero(self), None
            return
        shape = len(self.blocks.single.weight), self.shape[0]
        raw = np.full(shape, self.traits.base_score, order="F")
        self.rows_at_zero = EvaluatedRows(self, raw)
        self.value_at_zero = self.rows_at_zero.mean_loss

    def with_loss(self, loss):
        """The same data and penalty with another loss."""
        other = copy.copy(self)
        other._set_loss(loss)
        return other

    @property
    def passes(self):
        """Passes over X so far: evaluations, Hessian products, shares of drawn rows."""
        return self._n_passes[0]

    @property
    def traffic(self):
        """Round trips and bytes sent in both directions so far, for remote blocks."""
        return self.blocks.traffic

    def count(self, passes):
        """Count passes over X."""
        self._n_passes[0] += passes * self._share_of_pass

    def mean_loss_and_gradient(self, parameters):
        """Value and gradient (M, size) of the mean loss, in one pass."""
        self.count(1)
        function = _block_point.value_and_gradient
        value, gradient = self.blocks.sum(function, parameters, self.loss)
        return self.with_constant(value), self.without_common_part(gradient)

    def splitting(self, parameters, strength, n_kept):
        """The ``Splitting`` at parameters; the loss has a proximal step."""
        from ._splitting import Splitting  # Imported when used.

        return Splitting.at(self, parameters.reshape(self.shape), strength, n_kept)

    def without_common_part(self, derivatives):
        """Derivatives (M, size) of the mean loss without part of their rounding error.

        If the loss is shift invariant, derivatives sum to zero over the raw
        predictions. A sum of rounding errors would be divided by a curvature of zero:
        all intercepts together could grow by up to 1e14, and scores lose their digits.
        """
        if not self.description.is_shift_invariant:
            return derivatives
        return derivatives - np.add.reduce(derivatives) / len(derivatives)

    def with_constant(self, value):
        """The mean loss, from the part that depends on the scores."""
        value = float(value) + self.constant
        # Rounding may take a loss that is never negative below zero.
        return max(value, 0.0) if self.traits.has_negative_entropy else value
