"""A block's part of a separable loss, output by output.

A loss that is a sum of the same function of each output is the loss of n_rows × M rows
with one output. So each entry of an array (n_rows, M) of raw predictions is evaluated
as one row, and the results are summed over the rows of the data.

Arrays have the memory order of the design's raw predictions.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..._utils.arrays import column_sums, columns_of
from ...targets import DenseTarget
from .._block_point import check_finite
from .._parts import of_outputs

# Functions of a block, for Blocks.map.


def outputs_at(block, parameters, loss):
    """The :class:`BlockOutputs` at parameters (M, size)."""
    raw = block.design.matvec(parameters)
    values = in_order_of(raw, block.target.to_dense(raw.dtype))
    return BlockOutputs(replace(block, target=DenseTarget(values)), loss, raw)


def constants(points):
    """Weighted sums (m,) of the part of the losses without scores."""
    target = points.block.target.values
    numbers = points.loss.constant(DenseTarget(flat(target, points.raw)[:, None]))
    return (_weighted_sums(points.block.weight, unflat(numbers, points.raw)),)


class BlockOutputs:
    """A block's part of the mean loss at raw predictions (n_rows, M).

    Parameters
    ----------
    block : Block
        A block whose target is a ``DenseTarget``.
    loss : Loss
    raw : ndarray of shape (n_rows, M)
    """

    def __init__(self, block, loss, raw):
        self.block, self.loss, self.raw = block, loss, raw

    def of_outputs(self, outputs):
        """The same for some outputs, given by their numbers."""
        block = of_outputs(self.block, outputs)
        values = in_order_of(self.raw, block.target.values)
        block = replace(block, target=DenseTarget(values))
        return BlockOutputs(block, self.loss, columns_of(self.raw, outputs))

    def towards_targets(self, shares):
        """The same with curvature nearer to the targets, by a share of each output.

        See ``LossLinearization.towards_target``.
        """
        nearer, raw = BlockOutputs(self.block, self.loss, self.raw), self.raw
        shares = in_order_of(raw, np.broadcast_to(shares, raw.shape))
        nearer.linear = self.linear.towards_target(flat(shares, raw)[:, None])
        return nearer

    @cached_property
    def linear(self):
        """Values and derivatives of the losses: a ``LossLinearization`` of numbers."""
        block, raw = self.block, self.raw.copy(order="K")
        if block.offset is not None:
            raw += block.offset
        if block.available is not None:
            raw[~block.available] = -np.inf
        target = DenseTarget(flat(block.target.values, raw)[:, None])
        linear = self.loss.linearize(flat(raw, raw)[:, None], target)
        check_finite("loss", linear.values, self.loss)
        return linear

    def values(self):
        """Weighted sums of the losses: (M,)."""
        values = unflat(self.linear.values, self.raw)
        return _weighted_sums(self.block.weight, values)

    def residual(self):
        """Gradient of the losses in the raw predictions: (n_rows, M)."""
        residual = self.linear.residual()
        check_finite("gradient of the loss", residual, self.loss)
        return unflat(residual, self.raw)

    def values_and_gradient(self):
        """Values (M,), and gradient (M, size)."""
        return self.values(), *self.gradient()

    def gradient(self):
        """Gradient (M, size)."""
        residual = self.residual()
        residual *= self.block.weight[:, None]
        return (self.block.design.rmatvec(residual),)

    @cached_property
    def curvature(self):
        """Weighted second derivatives in the raw predictions: (n_rows, M)."""
        diagonal = self.linear.hessian_diagonal()
        check_finite("second derivative of the loss", diagonal, self.loss)
        curvature = unflat(diagonal, self.raw) * self.block.weight[:, None]
        return np.maximum(curvature, 0, out=curvature)

    def total_curvature(self):
        """Sums of the curvature over the rows: (M,)."""
        return (column_sums(self.curvature),)

    def curvature_sums(self, outputs, precision):
        """Sums of z and z² with the curvature of some outputs as weights."""
        curvature = columns_of(self.curvature, outputs)
        return self.block.design.power_sums(curvature.astype(precision, order="K"))

    def curved(self, precision, is_sparse):
        """The :class:`CurvedRows` in a precision, of scaled rows if X `is_sparse`."""
        curvature = self.curvature.astype(precision, copy=False, order="K")
        design = self.block.design
        return CurvedRows(
            design.scaled_rows if is_sparse else ByColumn(design), curvature
        )

    def along(self, step):
        """The :class:`BlockOutputsRay` along a step (M, size) of the parameters."""
        change = self.block.design.matvec(step)
        return BlockOutputsRay(self, change.astype(self.raw.dtype, copy=False))


class CurvedRows:
    """Rows with curvatures (n_rows, m) of some outputs.

    Parameters
    ----------
    rows : ScaledRows or ByColumn
    curvature : ndarray of shape (n_rows, m)
    """

    def __init__(self, rows, curvature):
        self._rows, self._curvature = rows, curvature

    def of_outputs(self, outputs):
        """The rows with the curvatures of some of the outputs."""
        return CurvedRows(self._rows, columns_of(self._curvature, outputs))

    def hessian_product(self, coef, shift):
        """Hessian times coefficients, both of shape (size, m)."""
        change = self._rows.matvec(coef, shift)
        change = change.astype(self._curvature.dtype, copy=False)
        change *= self._curvature
        return self._rows.rmatvec(change, shift).astype(coef.dtype, copy=False)


class ByColumn:
    """Products of a design with coefficients column by column, as `ScaledRows`."""

    def __init__(self, design):
        self._design = design

    def matvec(self, coef, shift):
        """Raw predictions (n_rows, m); the design has the shift."""
        return self._design.matvec(coef.T)

    def rmatvec(self, residual, shift):
        """Products (size, m) with a residual (n_rows, m)."""
        return self._design.rmatvec(residual).T


class BlockOutputsRay:
    """A block's part of the mean loss along a step, by which raw predictions change."""

    def __init__(self, start, change):
        self._start, self._change = start, change

    def trial(self, lengths, outputs):
        """Values and slopes of some outputs (m,), each at its own length."""
        start, change = self._start, self._change
        if outputs is not None:
            start, change = start.of_outputs(outputs), columns_of(change, outputs)
        moved = start.raw + (lengths * change).astype(change.dtype, copy=False)
        trial = BlockOutputs(start.block, start.loss, moved)
        slopes = trial.residual() * change
        return trial.values(), _weighted_sums(start.block.weight, slopes)

    def arrive(self, lengths):
        """The :class:`BlockOutputs` with each output at its own length."""
        start, change = self._start, self._change
        raw = start.raw + (lengths * change).astype(change.dtype, copy=False)
        return BlockOutputs(start.block, start.loss, raw)


def _weighted_sums(weight, numbers):
    """Weighted sums over the rows (M,), in float64."""
    return weight.astype(np.float64, copy=False) @ numbers.astype(
        np.float64, copy=False
    )


# Memory order.


def in_order_of(like, array):
    """An array in the memory order of another one."""
    return np.asarray(array, order="C" if like.flags.c_contiguous else "F")


def flat(array, like):
    """A view of an array as a vector, in the memory order of another one."""
    return (array if like.flags.c_contiguous else array.T).reshape(-1)


def unflat(vector, like):
    """A view of the result of :func:`flat` in the shape of the other array."""
    if like.flags.c_contiguous:
        return vector.reshape(like.shape)
    return vector.reshape(like.shape[::-1]).T
