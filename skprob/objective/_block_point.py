"""A block's part of the mean loss at one point, and along a step from there.

The raw predictions of a point are stored. Along a step they change by a multiple of the
raw predictions of the step, so that a trial length takes no product with X.
"""

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from .._utils.arrays import (
    all_finite,
    as_type,
    asarray_like,
    column_sums,
    copied,
    flatnonzero,
    is_host,
    namespace,
    positive_part,
    row_dot,
    row_sum,
    rows_of,
    take,
    to_numpy,
    upper_triangle,
    widened,
    zeros,
)
from ..losses import FenchelYoungLoss
from ..targets import DenseTarget
from ._block import Block, scores_of, weighted_sum
from ._piece_hessian import RowHessians, systematic_sample

# Largest ratio of the change of a row's gradient along a step to the change that its
# Hessian predicts, at which curvature is said to vanish along the step. The ratio is 1
# for a quadratic loss, and 0.63 for a step of length one along the tail of softmax.
_QUADRATIC = 0.9


# Functions of a block, for Blocks.sum and Blocks.map.


def point_at(block, parameters, loss):
    """The :class:`BlockPoint` at parameters (M, size)."""
    raw, is_at_zero = block.design.matvec(parameters), not parameters.any()
    return BlockPoint(block, loss, raw, is_at_zero=is_at_zero)


def point_with_rows(pair):
    """The point of a block with the raw predictions of another block's point."""
    block, other = pair
    point = BlockPoint(block, other.loss, other.raw)
    point.linear = other.linear
    return point


def value_and_gradient(block, parameters, loss):
    """Value and gradient (M, size) of the block's loss, without storing a point."""
    values, residual = block.evaluate(loss, block.design.matvec(parameters))
    check_finite("loss", values, loss)
    return weighted_sum(values, block.weight), gradient_of(block, residual, loss)


def of_new_point(block, function, parameters, loss, *args):
    """Result of a function of a point, which is not stored."""
    return function(point_at(block, parameters, loss), *args)


def value_at_zero(block, n_outputs, loss):
    """Loss of equal raw predictions, without its constant; X is not read."""
    raw = zeros((block.target.shape[0], n_outputs), block.weight)
    raw += loss.traits.base_score
    values, _ = block.evaluate(loss, raw)
    return (weighted_sum(values, block.weight),)


def number_and_loss_of_tails(part):
    """Number and loss of the tails, from a result of `BlockPoint.without_tails`."""
    return part[:2]


def point_without_tails(part):
    """The point without the tails, from a result of `BlockPoint.without_tails`."""
    return part[2]


class BlockPoint:
    """A block's part of the mean loss at raw predictions (n_rows, M).

    The Hessians of rows are those of a mixture of their probabilities and their target,
    which has a `target_share`: see ``LossLinearization.towards_target``. With
    `is_at_zero` all parameters are zero, and so are the raw predictions.
    """

    def __init__(self, block, loss, raw, target_share=0.0, is_at_zero=False):
        self.block, self.loss, self.raw, self._linear = block, loss, raw, None
        self._target_share, self._is_at_zero = target_share, is_at_zero

    @cached_property
    def traits(self):
        """Traits of the loss, which each Hessian product reads."""
        return self.loss.traits

    @property
    def linear(self):
        """Values and derivatives of the rows' losses: a ``LossLinearization``."""
        if self._linear is None:
            self._linear = self.block.linearize(self.loss, copied(self.raw))
            check_finite("loss", self._linear.values, self.loss)
            if self._target_share > 0:
                self._linear = self._linear.towards_target(self._target_share)
        return self._linear

    @linear.setter
    def linear(self, linear):
        self._linear = linear
        for name in "active", "separable_curvature", "single_rows":
            vars(self).pop(name, None)

    def towards_target(self, share):
        """The point with Hessians of rows nearer to their targets by a share."""
        point = BlockPoint(self.block, self.loss, self.raw, target_share=share)
        point.linear = self.linear.towards_target(share)
        self.linear = None  # Free its memory.
        return point

    def value_and_gradient(self):
        """Value, and gradient (M, size)."""
        return self.value(), *self.gradient()

    def value(self):
        """Weighted sum of the losses of the rows."""
        return weighted_sum(self.linear.values, self.block.weight)

    def gradient(self):
        """Gradient (M, size)."""
        return (gradient_of(self.block, self.linear.residual(), self.loss),)

    def shifted(self, shift):
        """The point where a shift (M,) is added to all rows' raw predictions."""
        return BlockPoint(
            self.block, self.loss, self.raw + asarray_like(shift, self.raw)
        )

    def value_and_gradient_of_shifted(self, shift):
        """Value and gradient (M, size) after a shift, without storing a point."""
        return self.shifted(shift).value_and_gradient()

    def total_residual(self):
        """Weighted sum of the gradient in the raw predictions: (M,)."""
        residual = self.linear.residual()
        residual *= self.block.weight[:, None]
        return (column_sums(residual),)

    def along(self, step):
        """The :class:`BlockRay` along a step (M, size) of the parameters.

        The derivatives at this point are freed, and computed again if they are needed.
        """
        self.linear = None
        change = self.block.design.matvec(step)
        return BlockRay(self, as_type(change, self.raw.dtype))

    def hessian_product(self, direction):
        """Hessian times a direction, both of shape (M, size).

        If X is sparse, or has a copy in single precision, the product has the precision
        of the direction.
        """
        if self.active is not None:
            return self.active.hessian_product(direction)
        if self.traits.is_separable and not self.block.has_row_scores:
            return (self._separable_product(direction),)
        design, weight = self._design_in(direction.dtype), self.block.weight
        if design is not self.block.design and self.single_rows is not None:
            matrices, weight = self.single_rows
            change = matrices.product(design.matvec(direction))
            change *= weight[:, None]
            return (design.rmatvec(change),)
        change = as_type(design.matvec(direction), weight.dtype)
        change = self.linear.hessian_product(change)
        change *= weight[:, None]
        return (design.rmatvec(_in_precision_of(direction, change)),)

    def _separable_product(self, direction):
        """The product from the raw predictions that change along the direction."""
        design = self._design_in(direction.dtype)
        moving = np.flatnonzero(direction.any(axis=1))
        change = as_type(design.matvec(direction[moving]), self.block.weight.dtype)
        change *= take(self.separable_curvature.T, moving).T
        product = np.zeros(direction.shape)
        product[moving] = design.rmatvec(_in_precision_of(direction, change))
        return product

    def _design_in(self, dtype):
        """The design, or for float32 its copy in single precision."""
        design = self.block.design
        single = design.single if dtype == np.float32 else None
        return design if single is None else single

    @cached_property
    def single_rows(self):
        """Hessians and weights of the rows in single precision, or None."""
        hessian = self.linear.hessian
        matrices = None if hessian is None else hessian.in_single_precision()
        weight = self.block.weight
        return None if matrices is None else (matrices, weight.astype(np.float32))

    def without_tails(self, step):
        """Number and loss of the tails along a step, and the point without them.

        A tail is a class of a row whose gradient and curvature vanish along the step.
        In the point without the tails, these classes are not available to their rows.
        """
        block, traits = self.block, self.traits
        is_cube = traits.polytope == "cube"
        if not is_host(block.weight) or (is_cube and not traits.is_separable):
            return 0, 0.0, self
        change = as_type(block.design.matvec(step), self.raw.dtype)
        expected = row_dot(self.linear.hessian_product(copied(change)), change)
        moved = block.scores(self.raw + change)
        _, before = self.loss.evaluate(block.scores(copied(self.raw)), block.target)
        _, after = self.loss.evaluate(moved, block.target)
        along = scores_of(change)
        rounding = 4 * np.finfo(block.design.dtype).eps * row_sum(np.abs(along))
        actual = row_dot(after - before, along)
        is_tail = np.abs(after) < _QUADRATIC * np.abs(before)
        is_tail &= ~(actual >= _QUADRATIC * expected - rounding)
        q = block.target.to_dense(np.float64)
        is_tail &= (q == 0) | (q == 1) if is_cube else q == 0
        n_tails = np.count_nonzero(is_tail)
        if n_tails == 0:
            return 0, 0.0, self
        target, available = block.target, ~is_tail
        if is_cube:
            target = DenseTarget(np.where(is_tail, 0, q).astype(self.raw.dtype))
        if block.available is not None:
            available &= block.available
        block = replace(block, target=target, available=available)
        remaining = BlockPoint(block, self.loss, self.raw)
        return n_tails, self._whole_value() - remaining._whole_value(), remaining

    def _whole_value(self):
        """Weighted sum of the losses of the rows with their constants."""
        return self.value() + weighted_sum(
            self.block.constant(self.loss), self.block.weight
        )

    def intercept_product(self, shift):
        """Hessian in the intercepts, times a shift of them (M,)."""
        weight = self.block.weight
        along = zeros((len(shift), weight.shape[0]), weight)
        along += asarray_like(shift, along)[:, None]
        product = self.linear.hessian_product(along.T)
        check_finite("second derivative of the loss", product, self.loss)
        return (to_numpy(weight @ product),)

    def hessian(self):
        """Hessian of shape (M, size, M, size)."""
        if self.linear.slopes() is not None and is_host(self.block.weight):
            n_outputs, size = self.raw.shape[1], self.block.design.shape[1]
            everything = np.ones((n_outputs, size), bool)
            (hessian,) = self.piece_hessian(everything, 1.0)
            return (hessian.reshape(n_outputs, size, n_outputs, size),)
        matrices = widened(self.linear.hessian_matrices())
        check_finite("second derivative of the loss", matrices, self.loss)
        matrices = matrices * widened(self.block.weight)[:, None, None]
        n_outputs = matrices.shape[1]
        if n_outputs == 1:
            sandwiches = to_numpy(self.block.design.sandwich(matrices[:, :, 0]))
            return (sandwiches[None].swapaxes(1, 2),)
        first, second, number = upper_triangle(n_outputs)
        sandwiches = self.block.design.sandwich(take_pairs(matrices, first, second))
        return (to_numpy(sandwiches)[number].transpose(0, 2, 1, 3),)

    def piece_hessian(self, included, share, dtype=np.float64):
        """Hessian of the parameters that a mask (M, size) includes, in its order.

        With a share below 1, this share of the rows is drawn.
        """
        linear, weight = self.linear, self.block.weight
        hessians = RowHessians.of(linear, weight, self.traits)
        check_finite("second derivative of the loss", hessians.numbers, self.loss)
        if share < 1:
            hessians = hessians.sampled(share)
        hessians, block = hessians.astype(dtype), self.block
        return (hessians.of_piece(block.design, included, block.tuning),)

    def curvature(self):
        """Weighted second derivatives in each raw prediction: (n_rows, M).

        If the loss is not convex they may be negative. The result is then the absolute
        first derivatives: with these pendigits and raw digits take 0.3 to 0.7 times as
        long.
        """
        if not self.traits.is_convex:
            _, residual = self.block.evaluate(self.loss, copied(self.raw))
            check_finite("gradient of the loss", residual, self.loss)
            residual *= self.block.weight[:, None]
            return namespace(residual).abs(residual)
        if self._has_equal_hessians():
            row = Block(None, self.block.target.take([0]), np.ones(1))
            of_row = BlockPoint(row, self.loss, self.raw[:1]).curvature()
            return self.block.weight[:, None] * of_row
        diagonal = self.linear.hessian_diagonal()
        check_finite("second derivative of the loss", diagonal, self.loss)
        # In place, because new memory takes longer than the arithmetic.
        diagonal *= self.block.weight[:, None]
        return positive_part(diagonal, out=diagonal)

    def _has_equal_hessians(self):
        """Whether the Hessians are the same for all rows, and not known.

        They are the same at zero parameters, where most fits start.
        """
        is_plain = type(self.loss) is FenchelYoungLoss and not self.block.has_row_scores
        is_known = self._linear is not None or self._target_share > 0
        is_same = self._is_at_zero and is_plain and is_host(self.raw)
        return is_same and not is_known

    @cached_property
    def separable_curvature(self):
        """The curvature, kept: a separable loss uses it in each product."""
        return self.curvature()

    def total_curvature(self):
        """Sum of the curvature over the rows (M,), and number of curved rows."""
        curvature = self.curvature()
        n_active = int(namespace(curvature).count_nonzero(_any_in_row(curvature > 0)))
        return column_sums(curvature), n_active

    def sandwich(self, by_output, share, dtype):
        """Sandwiches (M or 1, size, size), with the curvature as weights.

        There is one for each raw prediction, or their mean if not `by_output`. `share`
        rows are drawn for each unit of curvature; infinite stands for all rows. With
        float32 products are in single precision, if X has such a copy.
        """
        return (to_numpy(self.sandwich_on_device(by_output, share, dtype)),)

    def sandwich_on_device(self, by_output, share, dtype):
        """The sandwiches as one array in the library and on the device of X."""
        if self.active is not None:
            return self.active.sandwich_on_device(by_output, share, dtype)
        weight, design = widened(self.curvature()), self._design_in(dtype)
        xp = namespace(weight)
        if not by_output:
            weight = xp.mean(weight, axis=1, keepdims=True)
        importance = xp.sum(weight, axis=1)
        n_drawn = share * float(xp.sum(importance)) if np.isfinite(share) else np.inf
        if not n_drawn < int(xp.count_nonzero(importance)):
            return design.sandwich(weight)
        counts = systematic_sample(importance, n_drawn)
        drawn = flatnonzero(counts)
        part = take(counts, drawn) / share / take(importance, drawn)
        return design.take(drawn).sandwich(take(weight, drawn) * part[:, None])

    def curvature_sums(self, dtype):
        """Sums of the curvature (M,), and of it times z and z² (M, size)."""
        curvature = self.curvature()
        sums = self.block.design.power_sums(as_type(curvature, dtype))
        return column_sums(curvature), *map(to_numpy, sums)

    @cached_property
    def active(self):
        """The point of the active rows, if they are few; else None."""
        traits = self.traits
        if not (traits.is_convex and traits.has_zeros):
            return None
        weight = self.block.weight
        eps = float(np.finfo(self.block.design.dtype).eps)
        rows = flatnonzero(_any_in_row(self.curvature() > eps * weight[:, None]))
        most = self.block.tuning.few_active * weight.shape[0]
        if not 0 < rows.shape[0] <= most:
            return None
        # In the memory order of all rows, in which mappings are faster.
        raw = (rows_of if is_host(self.raw) else take)(self.raw, rows)
        active = BlockPoint(
            self.block.take(rows),
            self.loss,
            raw,
            target_share=self._target_share,
            is_at_zero=self._is_at_zero,
        )
        active.active = None
        return active


class BlockRay:
    """A point of a block, and the change of its raw predictions along a step."""

    def __init__(self, start, change, length=0.0):
        self._start, self._change, self._length = start, change, length
        # Losses at the length, for the point there.
        self._linear = None

    def moved(self, length):
        """The ray at a length of the step."""
        return BlockRay(self._start, self._change, length)

    def value_and_slope(self, keeps_losses):
        """Value at the length, and its derivative there.

        If `keeps_losses`, the losses are stored for the point at this length.
        """
        start, weight = self._start, self._start.block.weight
        raw = start.raw + self._length * self._change
        linear = start.block.linearize(start.loss, raw)
        check_finite("loss", linear.values, start.loss)
        slopes = row_dot(linear.residual(), self._change)[:, 0]
        check_finite("gradient of the loss", slopes, start.loss)
        if keeps_losses:
            self._linear = linear
        return weighted_sum(linear.values, weight), weighted_sum(slopes, weight)

    def point(self):
        """The point at the length. Its memory is that of the start, which is freed."""
        start = self._start
        start.raw += self._length * self._change
        start._is_at_zero, start.linear = False, self._linear
        return start


def gradient_of(block, residual, loss):
    """Gradient (M, size) from that of each row (n_rows, M), which is overwritten."""
    residual *= block.weight[:, None]
    gradient = block.design.rmatvec(residual)
    # There are fewer numbers in the gradient: its sum takes less time.
    if not math.isfinite(gradient.sum()):
        check_finite("gradient of the loss", residual, loss)
    return gradient


def check_finite(what, numbers, loss):
    """Raise ValueError where a loss is not finite although the scores are."""
    # A finite sum shows it in one call. A sum that is not finite may have overflowed.
    if isinstance(numbers, np.ndarray):
        total = numbers.sum()
    else:
        total = float(namespace(numbers).sum(numbers))
    if math.isfinite(total) or all_finite(numbers):
        return
    numbers = to_numpy(numbers)
    wrong = ~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)
    raise ValueError(
        f"The {what} must be finite for finite scores; that of {loss!r} is not in "
        f"{np.count_nonzero(wrong)} of {len(wrong)} rows. Check the loss "
        f"and its mapping, {loss.mapping!r}."
    )


def take_pairs(matrices, first, second):
    """Entries (n_rows, n_pairs) of the matrix of each row."""
    if isinstance(matrices, np.ndarray):
        return matrices[:, first, second]
    n_rows, n_outputs, _ = matrices.shape
    flat = namespace(matrices).reshape(matrices, (n_rows, -1))
    return take(flat.T, first * n_outputs + second).T


def _any_in_row(mask):
    return namespace(mask).any(mask, axis=1)


def _in_precision_of(direction, product):
    """A product in the lower precision of the two, where both are NumPy's."""
    if isinstance(product, np.ndarray):
        dtype = min(direction.dtype, product.dtype)
        return product.astype(dtype, copy=False)
    return product
