"""A linear objective of little data at one point, and along a step from there.

The rows of little data are one array with a constant column, in one block (see
:class:`~skprob.data.LittleDesign`). Calls of functions take longer than arithmetic
there, so each quantity is computed by as few calls as possible:

- raw predictions: Z Wᵀ, and along a step of length t those of the point + t Z stepᵀ;
- value: Σ s_i ℓ(raw_i; q_i), plus the penalty, a quadratic function of t;
- gradient: Gᵀ Z with the weighted gradients G of the rows in the raw predictions;
- Hessian: Zᵀ diag(w) Z, for all pairs of raw predictions in one product.

`_linear_point.py` does the same for any number of blocks.
"""

import math
from functools import cached_property

import numpy as np

from ..._utils.arrays import upper_triangle
from ...data import LittleDesign, SingleBlock
from .._block_point import BlockPoint, check_finite
from .._linear_point import LinearPoint
from .._penalty import add_penalty
from ._piece_hessian import hessian_of_columns, little_piece_hessian


def is_little(blocks):
    """Whether the rows are one block of a ``LittleDesign``."""
    return isinstance(blocks, SingleBlock) and isinstance(
        blocks.single.design, LittleDesign
    )


class LittlePoint(LinearPoint):
    """A point of little data, with the attributes of a :class:`LinearPoint`.

    `rows` are the ``EvaluatedRows`` at the parameters.
    """

    def __init__(self, objective, parameters, rows, mean_gradient):
        self._objective, self.parameters, self.rows = objective, parameters, rows
        matrix, penalty = parameters.reshape(objective.shape), objective.penalty
        self._matrix, self.ridge = matrix, penalty.diagonal
        self.mean_loss, self.mean_gradient = rows.mean_loss, mean_gradient
        self.value = rows.mean_loss + penalty.value(matrix)
        self.gradient = (mean_gradient + penalty.product(matrix)).reshape(-1)

    @classmethod
    def at(cls, objective, parameters):
        """The point at parameters, in one pass."""
        objective.count(1)
        # Most fits start at zero, where the objective has evaluated the rows.
        rows = objective.rows_at_zero
        if parameters.any() or objective.traits.base_score != 0:
            matrix = parameters.reshape(objective.shape)
            raw = objective.blocks.single.design.matvec(matrix)
            rows = EvaluatedRows(objective, raw)
        return cls(objective, parameters, rows, rows.mean_gradient(objective))

    def hessian(self):
        """Hessian (n_parameters, n_parameters), in one pass: see `LinearPoint`."""
        objective, (n_outputs, size) = self._objective, self._objective.shape
        if objective.n_parameters > objective.tuning.few_parameters:
            return super().hessian()
        if n_outputs == 1:
            return hessian_of_columns(objective, self, np.arange(size))
        hessian = self.mean_loss_hessian()
        add_penalty(hessian, self.ridge, objective.common_columns)
        return hessian.reshape(objective.n_parameters, objective.n_parameters)

    def mean_loss_hessian(self):
        """Hessian (M, size, M, size) of the mean loss, in one pass."""
        objective, block = self._objective, self._objective.blocks.single
        objective.count(1)
        n_outputs = objective.shape[0]
        matrices = self.rows.linear.hessian_matrices()
        # Each pair of raw predictions is a row here. The matrices are symmetric.
        first, second, number = upper_triangle(n_outputs)
        pairs = matrices.transpose(1, 2, 0).reshape(n_outputs**2, -1)
        pairs = pairs.take(first * n_outputs + second, axis=0) * block.weight
        if not math.isfinite(np.vdot(pairs, pairs)):
            check_finite("second derivative of the loss", matrices, objective.loss)
        sandwiches = block.design.sandwich(pairs.T).take(number, axis=0)
        return sandwiches.transpose(0, 2, 1, 3)

    def piece_hessian(self, included, share=1.0, dtype=np.float64):
        """Hessian of the parameters that a mask includes: see `LinearPoint`."""
        objective, hessian = self._objective, None
        if share == 1:
            hessian = little_piece_hessian(objective, self, included, dtype)
        if hessian is None:
            hessian = super().piece_hessian(included, share, dtype)
        return hessian

    def with_penalty_times(self, factor):
        """The same point under a multiple of the penalty; it takes no pass."""
        objective = self._objective
        other = objective.with_l2(factor * objective.penalty.strength)
        return LittlePoint(other, self.parameters, self.rows, self.mean_gradient)

    def along(self, step):
        """The ray along a step of shape (n_parameters,), in half a pass."""
        return LittleRay(self._objective, self, step)

    @cached_property
    def of_blocks(self):
        """The same point for the sums of :class:`LinearPoint`."""
        objective, rows = self._objective, self.rows
        point = BlockPoint(objective.blocks.single, objective.loss, rows.raw)
        point.linear = rows.linear
        return SingleBlock(point)


class LittleRay:
    """A linear objective of little data along a step (n_parameters,) from a point."""

    def __init__(self, objective, start, step):
        objective.count(0.5)
        self._objective, self._start, self._step = objective, start, step
        step_matrix = step.reshape(objective.shape)
        self._change = objective.blocks.single.design.matvec(step_matrix)
        penalty = start.value - start.mean_loss
        self._penalty = objective.penalty.along(penalty, start.parameters, step_matrix)
        # The last trial.
        self._length = self._rows = None

    def trial(self, length):
        """Value at a length of the step, and its derivative in the length."""
        raw = self._start.rows.raw + length * self._change
        self._length, self._rows = length, EvaluatedRows(self._objective, raw)
        slope = float(np.vdot(self._rows.weighted_gradients.T, self._change.T))
        if not math.isfinite(slope):
            self._rows.check_gradient(self._objective.loss)
        penalty, penalty_slope = self._penalty.at(length)
        return self._rows.mean_loss + penalty, slope + penalty_slope

    def arrive(self, length):
        """The point at a length of the step, in half a pass."""
        if length != self._length:
            self.trial(length)
        self._objective.count(0.5)
        parameters = self._start.parameters + length * self._step
        gradient = self._rows.mean_gradient(self._objective)
        return LittlePoint(self._objective, parameters, self._rows, gradient)


class EvaluatedRows:
    """The losses of the rows at raw predictions (n_rows, M), and their derivatives.

    These are computed, unless the ``LossLinearization`` is known.
    """

    def __init__(self, objective, raw, linear=None):
        block, loss = objective.blocks.single, objective.loss
        if linear is None:
            # The loss may overwrite its argument.
            linear = block.linearize(loss, raw.copy(order="K"))
        self.raw, self.linear = raw, linear
        value = block.weight.dot(linear.values)
        if not math.isfinite(value):
            check_finite("loss", linear.values, loss)
        #: Weighted mean of the losses.
        self.mean_loss = objective.with_constant(value)
        #: Gradients of the rows in their raw predictions, times weights: (n_rows, M).
        self.weighted_gradients = linear.residual()
        self.weighted_gradients *= block.weight[:, None]

    def mean_gradient(self, objective):
        """Gradient of the mean loss, (M, size), in half a pass."""
        gradient = objective.blocks.single.design.rmatvec(self.weighted_gradients)
        if not math.isfinite(np.vdot(gradient.T, gradient.T)):
            self.check_gradient(objective.loss)
        return objective.without_common_part(gradient)

    def check_gradient(self, loss):
        """Raise ValueError where the gradient of a row is not finite."""
        check_finite("gradient of the loss", self.linear.residual(), loss)
