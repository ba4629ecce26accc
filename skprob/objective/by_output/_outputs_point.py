"""A separable objective at one point, and along a step, output by output.

The objective of output k is its mean loss Σ_i s_i ℓ(u_ik; q_ik) plus the penalty of its
own row of parameters. All of them share the products with the data.
"""

from typing import NamedTuple

import numpy as np

from ..._utils.arrays import rows_of
from .._scaled_hessian import ScaledHessian
from ._block_outputs import (
    BlockOutputs,
    BlockOutputsRay,
    constants,
    in_order_of,
    outputs_at,
)
from ._output_gaps import output_gaps


class Losses(NamedTuple):
    """Mean losses of some outputs, (m,), and their gradient (m, size)."""

    #: Part that does not depend on the scores.
    constants: np.ndarray
    #: The rest.
    values: np.ndarray
    gradient: np.ndarray

    def of_outputs(self, outputs):
        """The losses of some outputs."""
        constants, values = self.constants[outputs], self.values[outputs]
        return Losses(constants, values, rows_of(self.gradient, outputs))


class OutputsPoint:
    """A separable objective at one point, with the numbers of each output.

    Parameters
    ----------
    objective : LinearObjective
    outputs : ndarray of shape (m,)
        Numbers of these outputs among those of the objective.
    parameters : ndarray of shape (m, size)
    points : Blocks of BlockOutputs
    losses : Losses

    Attributes
    ----------
    gradient : ndarray of shape (m, size)
    values : ndarray of shape (m,)
    """

    def __init__(self, objective, outputs, parameters, points, losses):
        penalty = objective.penalty
        self._objective, self._points = objective, points
        self.outputs, self.parameters, self.losses = outputs, parameters, losses
        self.values = losses.values + losses.constants + penalty.values(parameters)
        self.gradient = losses.gradient + penalty.product(parameters)

    @classmethod
    def at(cls, objective, parameters):
        """The point of all outputs at parameters (M, size), in one pass."""
        objective.count(1)
        points = objective.blocks.map(outputs_at, parameters, objective.loss)
        losses = points.sum(BlockOutputs.values_and_gradient)
        losses = Losses(*points.sum(constants), *losses)
        # All matrices get the memory order of products with the data.
        parameters = in_order_of(losses.gradient, parameters)
        outputs = np.arange(len(parameters))
        return cls(objective, outputs, parameters, points, losses)

    @property
    def ridge(self):
        """Second derivatives of the penalty, on each Hessian's diagonal: (size,)."""
        return self._objective.penalty.diagonal

    def of_outputs(self, some):
        """The point of some of these outputs."""
        return OutputsPoint(
            self._objective,
            self.outputs[some],
            rows_of(self.parameters, some),
            self._points.map(BlockOutputs.of_outputs, some),
            self.losses.of_outputs(some),
        )

    def towards_targets(self, shares):
        """The same point with curvature nearer to the targets, by shares (m,)."""
        points = self._points.map(BlockOutputs.towards_targets, shares)
        return OutputsPoint(
            self._objective, self.outputs, self.parameters, points, self.losses
        )

    def total_curvature(self):
        """Curvature of each output: (m,)."""
        return self._points.sum(BlockOutputs.total_curvature)[0]

    def curvature_sums(self, some, precision):
        """Sums of the columns, and of their squares, weighted by curvature.

        Both are of shape (n_some, size), for some of these outputs. They are computed
        in one pass, in this floating-point type.
        """
        self._count(1, len(some))
        return self._points.sum(BlockOutputs.curvature_sums, some, precision)

    def scaled_hessian(self, unit, center, precision):
        """The `ScaledHessian` in these coordinates, for products in a precision."""
        objective = self._objective
        is_sparse = objective.description.suits_single_precision
        is_sparse = is_sparse and precision is np.float32
        rows = self._points.map(BlockOutputs.curved, precision, is_sparse)
        return ScaledHessian(objective, rows, unit, center, precision)

    def duality_gaps(self):
        """Bounds (m,) on the values less their minima; one pass in all calls."""
        return output_gaps(self._objective, self)

    def along(self, step):
        """The :class:`OutputsRay` along a step (m, size), in half a pass."""
        self._count(0.5, len(step))
        rays = self._points.map(BlockOutputs.along, step)
        return OutputsRay(self._objective, self, step, rays)

    def _count(self, passes, n_outputs):
        self._objective.count(passes * n_outputs / self._objective.shape[0])


class OutputsRay:
    """A separable objective along a step, with a length for each output."""

    def __init__(self, objective, start, step, rays):
        self._objective, self._start, self._step = objective, start, step
        self._rays = rays
        self._penalty = objective.penalty.along_rows(start.parameters, step)

    def trial(self, lengths, some):
        """Values and slopes (n_some,) of some outputs, each at its length; no pass."""
        everything = len(some) == len(self._step)
        which = None if everything else some
        losses, slopes = self._rays.sum(BlockOutputsRay.trial, lengths, which)
        penalty, penalty_slope = self._penalty.take(some).at(lengths)
        constants = self._start.losses.constants[some]
        return losses + constants + penalty, slopes + penalty_slope

    def arrive(self, lengths):
        """The point with each output at its length, in half a pass."""
        objective, start = self._objective, self._start
        objective.count(0.5 * len(lengths) / objective.shape[0])
        points = self._rays.map(BlockOutputsRay.arrive, lengths)
        losses = points.sum(BlockOutputs.values_and_gradient)
        losses = Losses(start.losses.constants, *losses)
        parameters = start.parameters + lengths[:, None] * self._step
        return OutputsPoint(objective, start.outputs, parameters, points, losses)
