"""A linear objective at one point: curvature, derivatives, and steps from there."""

import functools
import operator

import numpy as np

from . import _block_point
from ._at_zero import knows_gradient_at_zero, mean_loss_at_zero
from ._block_point import BlockPoint, BlockRay
from ._penalty import add_penalty
from ._piece_hessian import add_penalty_to_piece
from ._scaled_hessian import (
    ScaledBlock,
    ScaledHessian,
    gradient_in_single_precision,
    shift_of,
)


def points_at(objective, parameters):
    """Blocks of points, and value and gradient of the mean loss, in one pass.

    Parameters
    ----------
    objective : MeanLoss
    parameters : ndarray of shape (M, size)
    """
    objective.count(0.5)
    points = objective.blocks.map(_block_point.point_at, parameters, objective.loss)
    return points, *mean_loss_at(objective, points)


def mean_loss_at(objective, points, shift=None):
    """Value and gradient (M, size) of the mean loss at points, in half a pass.

    A shift (M,) is added to the raw predictions of all rows.
    """
    objective.count(0.5)
    if shift is None:
        value, gradient = points.sum(BlockPoint.value_and_gradient)
    else:
        value, gradient = points.sum(BlockPoint.value_and_gradient_of_shifted, shift)
    return objective.with_constant(value), objective.without_common_part(gradient)


class LinearCurvature:
    """Second derivatives of a linear objective at one point.

    Parameters
    ----------
    objective : LinearObjective
    parameters : ndarray of shape (M, size)
    points : Blocks of BlockPoint, default=None
        None stands for points that are computed for each sum and then dropped.
    """

    def __init__(self, objective, parameters, points=None):
        self._objective, self._matrix = objective, parameters
        #: The ``BlockPoint`` of each block, if they are stored.
        self.of_blocks = points
        #: Second derivatives of the penalty, on the Hessian's diagonal: (size,).
        self.ridge = objective.penalty.diagonal

    @property
    def is_at_zero(self):
        """Whether all raw predictions are zero: rows have about the same curvature."""
        return not self._matrix.any()

    def total_curvature(self):
        """Curvature of each raw prediction (M,), and number of rows with curvature."""
        return self._sum(BlockPoint.total_curvature)

    def sandwiches(self, by_output, n_drawn, on_device=False, dtype=np.float64):
        """Diagonal blocks of the Hessian without the penalty: (M or 1, size, size).

        There is one for each raw prediction, or their mean if not `by_output`. They are
        estimated from `n_drawn` rows, drawn in proportion to their curvature, or
        computed from all rows with curvature if these are no more. If `on_device` they
        are an array in the library and on the device of X. With float32 they have the
        rounding errors of single precision, and take half the time if X is a NumPy
        array.
        """
        objective = self._objective
        total, n_active = self.total_curvature()
        total = total.sum() if by_output else total.mean()
        share = float(n_drawn / total) if n_active > n_drawn else np.inf
        objective.count(min(1, n_drawn / objective.description.n_rows))
        if not on_device:
            return self._sum(BlockPoint.sandwich, by_output, share, dtype)[0]
        terms = self._collect(BlockPoint.sandwich_on_device, by_output, share, dtype)
        return functools.reduce(operator.add, terms)

    def curvature_moments(self, dtype=np.float64):
        """Total curvature of each output (M,), and means and variances (M, size).

        These are of the columns, weighted by the curvature of the output. At zero it is
        the same for all rows, if their Hessians do not depend on targets and offsets.
        With float32 they have the rounding errors of single precision.
        """
        objective = self._objective
        if self.is_at_zero and knows_gradient_at_zero(objective):
            total, _ = self.total_curvature()
            mean, deviation = objective.units.standardized_moments(*objective.moments)
            moments = np.broadcast_arrays(mean, deviation**2, self._matrix)[:2]
            return total, *moments
        objective.count(1)
        total, mean, squares = self._sum(BlockPoint.curvature_sums, dtype)
        weight = np.where(total > 0, total, 1)[:, None]
        mean /= weight
        # The difference may be a rounding error below zero.
        return total, mean, np.maximum(squares / weight - mean**2, 0)

    def intercept_product(self, shift):
        """Hessian of the mean loss in the intercepts, times a shift of them (M,)."""
        return self._sum(BlockPoint.intercept_product, shift)[0]

    def hessian(self):
        """Hessian (n_parameters, n_parameters), in one pass: see `add_penalty`."""
        objective = self._objective
        objective.count(1)
        (hessian,) = self._sum(BlockPoint.hessian)
        add_penalty(hessian, self.ridge, objective.common_columns)
        return hessian.reshape(objective.n_parameters, objective.n_parameters)

    def piece_hessian(self, included, share=1.0, dtype=np.float64):
        """Hessian of the parameters that a mask (M, size) includes, in one pass.

        Curvature is added along equal changes of some columns: see
        `add_penalty_to_piece`. With a share below 1 the Hessian is estimated from this
        share of the rows, drawn in proportion to their curvature. With a dtype of
        single precision it takes half the time.
        """
        objective = self._objective
        objective.count(share)
        (hessian,) = self._sum(BlockPoint.piece_hessian, included, share, dtype)
        add_penalty_to_piece(hessian, included, self.ridge, objective.common_columns)
        return hessian

    # Results of a function of each ``BlockPoint``: their sum, as blocks, or as a list.

    def _sum(self, function, *args):
        if self.of_blocks is not None:
            return self.of_blocks.sum(function, *args)
        return self._of_new_points(self._objective.blocks.sum, function, *args)

    def _collect(self, function, *args):
        if self.of_blocks is not None:
            return self.of_blocks.collect(function, *args)
        return self._of_new_points(self._objective.blocks.collect, function, *args)

    def _of_new_points(self, verb, function, *args):
        self._objective.count(0.5)
        loss = self._objective.loss
        return verb(_block_point.of_new_point, function, self._matrix, loss, *args)


class LinearPoint(LinearCurvature):
    """A linear objective at one point, with its first and second derivatives.

    Attributes
    ----------
    parameters, gradient : ndarray of shape (n_parameters,)
    value : float
    mean_loss : float
        The value without the penalty.
    mean_gradient : ndarray of shape (M, size)
        The gradient without that of the penalty.
    """

    def __init__(self, objective, parameters, points, mean_loss, mean_gradient):
        matrix, penalty = parameters.reshape(objective.shape), objective.penalty
        super().__init__(objective, matrix, points)
        self.mean_loss, self.mean_gradient = mean_loss, mean_gradient
        self.parameters, self.value = parameters, mean_loss + penalty.value(matrix)
        self.gradient = (mean_gradient + penalty.product(matrix)).ravel()

    @classmethod
    def at(cls, objective, parameters):
        """The point at parameters, in one pass."""
        matrix = parameters.reshape(objective.shape)
        if not parameters.any() and knows_gradient_at_zero(objective):
            # The points take no product with X, and evaluate rows when it is needed.
            points = objective.blocks.map(_block_point.point_at, matrix, objective.loss)
            mean_loss, mean_gradient = mean_loss_at_zero(objective)
        else:
            points, mean_loss, mean_gradient = points_at(objective, matrix)
        return cls(objective, parameters, points, mean_loss, mean_gradient)

    def hessian_product(self, direction):
        """Hessian times a direction of shape (n_parameters,), in one pass.

        If X is sparse or has a copy in single precision, a direction in single
        precision is multiplied in single precision.
        """
        objective = self._objective
        objective.count(1)
        along = direction.reshape(objective.shape)
        (product,) = self.of_blocks.sum(BlockPoint.hessian_product, along)
        product = objective.without_common_part(product)
        product += objective.penalty.product(along)
        return product.reshape(-1)

    def scaled_hessian(self, unit, center):
        """The `ScaledHessian` in these coordinates, for rows of a CSR matrix."""
        rows = self.of_blocks.map(ScaledBlock)
        return ScaledHessian(self._objective, rows, unit, center)

    def without_tails(self, step):
        """Loss in the tails along a step, and the point without them.

        In a tail the gradient and the curvature of a class vanish along the step: see
        `BlockPoint`. The point is None if there are no tails. The method takes half a
        pass, and another half if there are tails.
        """
        objective, change = self._objective, step.reshape(self._matrix.shape)
        objective.count(0.5)
        parts = self.of_blocks.map(BlockPoint.without_tails, change)
        n_tails, loss = parts.sum(_block_point.number_and_loss_of_tails)
        if n_tails == 0:
            return 0.0, None
        objective.count(0.5)
        points = parts.map(_block_point.point_without_tails)
        (gradient,) = points.sum(BlockPoint.gradient)
        gradient = objective.without_common_part(gradient)
        value = self.value - objective.penalty.value(self._matrix) - float(loss)
        others = LinearPoint(objective, self.parameters, points, value, gradient)
        return float(loss), others

    def towards_target(self, share):
        """The same point, with the curvature of rows that are nearer to their targets.

        By a share, where the loss has a formula: see
        ``LossLinearization.towards_target``. It takes no pass.
        """
        points = self.of_blocks.map(BlockPoint.towards_target, share)
        return LinearPoint(
            self._objective,
            self.parameters,
            points,
            self.mean_loss,
            self.mean_gradient,
        )

    def with_penalty_times(self, factor):
        """The same point under a multiple of the penalty; it takes no pass."""
        objective = self._objective
        other = objective.with_l2(factor * objective.penalty.strength)
        return LinearPoint(
            other, self.parameters, self.of_blocks, self.mean_loss, self.mean_gradient
        )

    def along(self, step):
        """The ray along a step of shape (n_parameters,)."""
        if self._objective.description.is_remote:
            return EvaluatedRay(self._objective.smooth_at, self, step)
        self._objective.count(0.5)
        change = step.reshape(self._objective.shape)
        rays = self.of_blocks.map(BlockPoint.along, change)
        return LinearRay(self._objective, self, step, rays)

    def along_products(self, step, hessian, is_far):
        """The ray along the step that a ``ScaledHessian`` has accumulated.

        It takes no pass if the Hessian stores the step's raw predictions, in single
        precision. If the minimum `is_far`, the point at the end of the ray and its
        gradient are in single precision, too.
        """
        rays = hessian.rays()
        if rays is None:
            return self.along(step)
        kind = FarRay if is_far else NearRay
        return kind(self._objective, self, step, rays)


class LinearRay:
    """A linear objective along a step: a trial of a length takes no pass over X.

    The point at the end uses the memory of the start, whose rows are then not valid.
    """

    def __init__(self, objective, start, step, rays):
        self._objective, self._start, self._step = objective, start.parameters, step
        along = step.reshape(objective.shape)
        penalty = start.value - start.mean_loss
        self._penalty = objective.penalty.along(penalty, start.parameters, along)
        # The last trial.
        self._rays, self._length, self._trial, self._mean_loss = rays, 0.0, None, None
        n_predictions = objective.description.n_rows * objective.shape[0]
        self._keeps_losses = n_predictions <= objective.tuning.most_twice

    def trial(self, length):
        """Value at a length of the step, and its derivative in the length."""
        self._trial = None  # Free its memory.
        self._trial, self._length = self._rays.map(BlockRay.moved, length), length
        value, slope = self._trial.sum(BlockRay.value_and_slope, self._keeps_losses)
        self._mean_loss = self._objective.with_constant(value)
        penalty, penalty_slope = self._penalty.at(length)
        return self._mean_loss + penalty, float(slope) + penalty_slope

    def arrive(self, length):
        """The point at a length of the step, in half a pass."""
        objective = self._objective
        if length != self._length:
            self.trial(length)
        points = self._trial.map(BlockRay.point)
        self._rays = self._trial = None
        objective.count(0.5)
        gradient = objective.without_common_part(self._gradient(points))
        parameters = self._start + length * self._step
        return LinearPoint(objective, parameters, points, self._mean_loss, gradient)

    def _gradient(self, points):
        return points.sum(BlockPoint.gradient)[0]


class FarRay(LinearRay):
    """A ray whose raw predictions and final gradient are in single precision."""

    def _gradient(self, points):
        shift = shift_of(self._objective.units)
        return points.sum(gradient_in_single_precision, shift)[0]


class NearRay(LinearRay):
    """A ray with raw predictions in single precision, whose end is evaluated."""

    def arrive(self, length):
        """The point at a length of the step, in one pass."""
        self._rays = self._trial = None
        return self._objective.at(self._start + length * self._step)


class EvaluatedRay:
    """An objective along a step, evaluated at the parameters of each trial.

    It is for scores that are not linear in the parameters, and for remote rows. These
    need one round trip for value, slope and gradient. They store no state of a step, so
    that a lost worker costs one pass.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(parameters)`` is the point at parameters.
    start : LinearPoint or CosinePoint
    step : ndarray of shape (n_parameters,)
    """

    def __init__(self, evaluate, start, step):
        self._evaluate, self._start, self._step = evaluate, start.parameters, step
        self._length, self._point = None, None

    def trial(self, length):
        """Value at a length of the step, and its derivative in the length."""
        self._point = None  # Free its memory.
        self._point = self._evaluate(self._start + length * self._step)
        self._length = length
        return self._point.value, float(self._point.gradient @ self._step)

    def arrive(self, length):
        """The point at a length of the step; no pass if it is the last trial."""
        if length != self._length:
            self.trial(length)
        return self._point
