"""A block of rows and its part of the mean loss, as pure functions.

Conventions, for the whole package:

- Row i has features x_i, target q_i and weight s_i. The weights are normalised:
  they sum to one over *all* blocks.
- A model has M rows of parameters, each with `size` numbers: a coefficient for each
  column of the design, of which the last is the constant if there is an intercept. Its
  M raw predictions are the scores of M = K classes; if there is one raw prediction u,
  for two classes, the scores are (-u/2, +u/2).
- Several points are evaluated at once, as parameters of shape (n_points, M, size).

The functions here are pure: whatever can map a function over blocks can compute the
sum, be it threads, processes or a cluster.
"""

import math
from functools import cached_property

import numpy as np

from .._arrays import (
    all_finite,
    as_type,
    beside,
    concat,
    flatnonzero,
    is_host,
    namespace,
    positive_part,
    reshape,
    take,
    to_numpy,
    widened,
    zeros,
)
from .._memory import keep_freed_memory
from .._pair import pair_adjoint, pair_scores
from ..data import LocalBlocks, as_design, row_slices, standardized
from ..mappings import get_mapping
from ..targets import target_beside

# Where at most this share of the rows is active (has curvature, under a mapping with
# exact zeros) these rows are copied, and Hessian products leave out the others.
_FEW_ACTIVE = 0.25


class Block:
    """Some rows of the data.

    Parameters
    ----------
    design : DesignMatrix of shape (n_rows, size)
    target : target of shape (n_rows, n_classes)
        See :mod:`skprob.targets`.
    weight : ndarray of shape (n_rows,)
        Normalised over all blocks.
    """

    def __init__(self, design, target, weight):
        self.design, self.target, self.weight = design, target, weight
        self._repeated = {1: (target, weight)}

    def at_points(self, n_points):
        """Target and weight, repeated for each of several points."""
        if n_points not in self._repeated:
            rows = np.tile(np.arange(self.weight.shape[0]), n_points)
            self._repeated[n_points] = self.target.take(rows), take(self.weight, rows)
        return self._repeated[n_points]

    def take(self, rows):
        """The block of some rows, given by their numbers."""
        target = self.target.take(rows)
        return Block(self.design.take(rows), target, take(self.weight, rows))


def split_rows(X, target, weight, total=None):
    """Cut data in memory into LocalBlocks of :class:`Block`, without copying X.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Of any library; target and weights get there.
    target : target of shape (n_samples, n_classes)
        See :mod:`skprob.targets`.
    weight : ndarray of shape (n_samples,)
        Not negative; it is normalised here.
    total : float, default=None
        The sum of the weights of all rows, where these are some of them.
    """
    keep_freed_memory()
    total = weight.sum() if total is None else total
    weight, design = weight / total, as_design(X)
    if is_host(X):
        weight = weight.astype(X.dtype, copy=False)
    else:
        weight, target = beside(weight, X), target_beside(target, X)
    return LocalBlocks(
        Block(design.take(rows), target.block(rows), weight[rows])
        for rows in row_slices(X, target.shape[1])
    )


def scores_of(predictions):
    """Scores of the classes, from raw predictions."""
    return predictions if predictions.shape[1] > 1 else pair_scores(predictions)


def predictions_adjoint(residual, n_outputs):
    """Adjoint of :func:`scores_of`."""
    return residual if n_outputs > 1 else pair_adjoint(residual)


def raw_predictions(design, points):
    """Raw predictions (n_points * n_rows, M) of a design at points.

    All rows at one point come before those at the next.
    """
    n_outputs, size = points.shape[1:]
    # In this order the predictions are laid out class by class.
    predictions = design.matvec(points.swapaxes(0, 1).reshape(-1, size))
    return reshape(predictions.T, (n_outputs, -1)).T


def gradients(design, residual, n_points):
    """Adjoint of :func:`raw_predictions`: (n_points, M, size), in float64."""
    n_outputs = residual.shape[1]
    residual = reshape(residual.T, (n_points * n_outputs, -1)).T
    total = design.rmatvec(residual).astype(np.float64, copy=False)
    return total.reshape(n_outputs, n_points, -1).swapaxes(0, 1)


def evaluate_loss(loss, predictions, target):
    """Values of the loss, and its gradient in the raw predictions."""
    if predictions.shape[1] > 1:
        return loss.evaluate(predictions, target)
    return loss.evaluate_difference(predictions, target)


def linearize_loss(loss, predictions, target):
    """The loss as a function of raw predictions: a `LossLinearization`."""
    if predictions.shape[1] > 1:
        return loss.linearize(predictions, target)
    return loss.linearize_difference(predictions, target)


def weighted_total(values, weight):
    """Weighted sums of rows, in float64: a line search compares them."""
    rows = reshape(values, (-1, weight.shape[0]))
    return to_numpy(widened(rows) @ widened(weight))


# Functions of a block, for Blocks.sum and Blocks.map.


def dimensions(block):
    """Numbers for :meth:`Description.of`: sums, means and how many blocks."""
    design, n_classes = block.design, block.target.shape[1]
    n_rows, n_columns = design.shape
    same = n_classes, n_columns, design.dtype.itemsize, design.fits_single_precision
    return (np.array([n_rows, design.n_stored, *same, 1], dtype=float),)


def moments(block):
    """Weight of the block, and weighted mean and deviation of each column."""
    return block.design.moments(block.weight)


def standardize(block, standardization, n_rows):
    """The block with its columns standardised; there are `n_rows` in all blocks."""
    design = standardized(block.design, standardization, n_rows)
    return Block(design, block.target, block.weight)


def constant(block, loss):
    """The part of the loss that does not depend on the scores."""
    values = beside(loss.constant(block.target), block.weight)
    return (weighted_total(values, block.weight)[0],)


def value_at_zero(block, n_outputs, loss):
    """The loss of equal scores, without its constant; X is not looked at."""
    shape = block.target.shape[0], n_outputs
    predictions = zeros(shape, block.weight) + get_mapping(loss.mapping).base_score
    values, _ = evaluate_loss(loss, predictions, block.target)
    return (weighted_total(values, block.weight)[0],)


def target_coupling(block):
    """Sum of target times row, weighted: (n_classes, n_columns)."""
    target = block.target.to_dense(block.weight.dtype)
    return (block.design.rmatvec(target * block.weight[:, None]),)


def value_and_gradient(block, points, loss):
    """Values (n_points,) and gradients (n_points, M, size) of the block's loss."""
    values, residual = _of_rows(block, points, loss)
    values = weighted_total(values, block.weight)
    return values, gradients(block.design, residual, len(points))


def _of_rows(block, points, loss):
    """Values of the loss, and its weighted gradient, in each row."""
    target, weight = block.at_points(len(points))
    predictions = raw_predictions(block.design, points)
    values, residual = evaluate_loss(loss, predictions, target)
    check_finite("loss", values, loss)
    check_finite("gradient of the loss", residual, loss)
    residual *= weight[:, None]
    return values, residual


def of_new_state(block, function, points, loss, *args):
    """The result of a function of a state that is not kept."""
    return function(BlockState(block, points, loss, has_gradient=False), *args)


def check_finite(what, numbers, loss):
    """Raise ValueError where what a loss computes from finite scores is not finite."""
    # A finite sum is enough, in one call; where it is not it may have overflowed.
    is_here = isinstance(numbers, np.ndarray)
    if is_here and math.isfinite(numbers.sum(dtype=np.float64)):
        return
    if all_finite(numbers):
        return
    numbers = to_numpy(numbers)
    wrong = ~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)
    raise ValueError(
        f"The {what} must be finite for finite scores; that of {loss!r} is not in "
        f"{np.count_nonzero(wrong)} of {len(wrong)} rows. Check its mapping, "
        f"{loss.mapping!r}."
    )


class BlockState:
    """A block's part of the mean loss near points of shape (n_points, M, size).

    Without `has_gradient` there are second derivatives only, for half of the work.
    """

    def __init__(self, block, points, loss, has_gradient=True):
        self._block, self._points, self._loss = block, points, loss
        n_points = len(points)
        target, self._weight = block.at_points(n_points)
        if not (has_gradient or loss.is_convex):
            return  # Nothing but `curvature` is asked for.
        predictions = raw_predictions(block.design, points)
        linear = linearize_loss(loss, predictions, target)
        check_finite("loss", linear.values, loss)
        # Values and residuals are not kept: to allocate memory takes time.
        self._loss_product = linear.hessian_product
        self._loss_diagonal = linear.hessian_diagonal
        if not has_gradient:
            return
        self._values = weighted_total(linear.values, block.weight)
        residual = linear.gradient
        check_finite("gradient of the loss", residual, loss)
        residual *= self._weight[:, None]
        self._gradients = gradients(block.design, residual, n_points)

    def value_and_gradient(self):
        """Values (n_points,) and gradients (n_points, M, size)."""
        return self._values.copy(), self._gradients.copy()

    def hessian_product(self, directions):
        """Hessians times directions, both of shape (n_points, M, size).

        If X is sparse, in the directions' precision.
        """
        if self._active is not None:
            return self._active.hessian_product(directions)
        if self._loss.is_separable:
            return (self._separable_product(directions),)
        design, dtype = self._block.design, self._weight.dtype
        product = as_type(raw_predictions(design, directions), dtype)
        product = self._loss_product(product)
        product *= self._weight[:, None]
        product = _in_precision_of(directions, product)
        return (gradients(design, product, len(directions)),)

    def intercept_product(self, shift):
        """Hessian in the intercepts, times a shift of them (M,), at a single point."""
        along = zeros((len(shift), self._weight.shape[0]), self._weight)
        along += beside(shift, along)[:, None]
        product = self._loss_product(along.T)
        check_finite("second derivative of the loss", product, self._loss)
        return (to_numpy(self._weight @ product),)

    def _separable_product(self, directions):
        """Only of the raw predictions that change along the directions."""
        (direction,), design = directions, self._block.design
        some = np.flatnonzero(direction.any(axis=1))
        product = as_type(design.matvec(direction[some]), self._weight.dtype)
        product *= take(self.curvature.T, some).T
        product = _in_precision_of(directions, product)
        found = np.zeros(directions.shape)
        found[0, some] = design.rmatvec(product)
        return found

    @cached_property
    def curvature(self):
        """Weighted second derivatives in each row's raw predictions: (n_rows, M).

        If the loss is not convex, so that these may be negative, the sizes of the first
        derivatives: pendigits and raw digits take 0.3 to 0.7 times as long.
        """
        if not self._loss.is_convex:
            _, residual = _of_rows(self._block, self._points, self._loss)
            return namespace(residual).abs(residual)
        diagonal = self._loss_diagonal()
        check_finite("second derivative of the loss", diagonal, self._loss)
        # In place: new memory takes longer than the arithmetic.
        diagonal *= self._weight[:, None]
        return positive_part(diagonal, out=diagonal)

    def total_curvature(self):
        """Sum of the curvature over the rows (M,), and how many rows have any."""
        curvature = self.curvature
        if not get_mapping(self._loss.mapping).has_zeros:
            del self.curvature  # It takes more memory than time.
        n_active = int(namespace(curvature).count_nonzero(_any_in_row(curvature > 0)))
        return self._block.design.totals(curvature), n_active

    def sandwich(self, by_output, share):
        """Sandwiches (M or 1, size, size), with the curvature for weights.

        There is one for each raw prediction, or their mean if not `by_output`. `share`
        rows are drawn for each unit of curvature; infinite takes all rows.
        """
        if self._active is not None:
            return self._active.sandwich(by_output, share)
        weight = widened(self.curvature)
        del self.curvature  # As above.
        xp, design = namespace(weight), self._block.design
        if not by_output:
            weight = xp.mean(weight, axis=1, keepdims=True)
        importance = to_numpy(xp.sum(weight, axis=1))
        n_drawn = share * importance.sum() if np.isfinite(share) else np.inf
        if not n_drawn < np.count_nonzero(importance):
            return (design.sandwich(weight),)
        counts = _systematic_sample(importance, n_drawn)
        drawn = np.flatnonzero(counts)
        part = counts[drawn] / share / importance[drawn]
        part = beside(part, weight)[:, None]
        return (design.take(drawn).sandwich(take(weight, drawn) * part),)

    def moments(self):
        """Moments of the columns, with rows weighted by their mean curvature."""
        weight = self.curvature
        return self._block.design.moments(namespace(weight).mean(weight, axis=1))

    def hessians(self, places):
        """Hessians (n_places, M (M + 1) / 2, size, size) at some of the points.

        Pairs of raw predictions are in the order of ``np.triu_indices``.
        """
        n_points, _, size = self._points.shape
        n_rows = self._block.weight.shape[0]
        curvatures = self._second_derivatives()
        curvatures = reshape(curvatures, (-1, n_points, n_rows))
        weights = [reshape(curvatures[:, n, :], (-1, n_rows)) for n in places]
        weights = concat(weights)
        found = self._block.design.sandwich(weights.T)
        return (found.reshape(len(places), -1, size, size),)

    def _second_derivatives(self):
        """Those of each row's weighted loss: (M (M + 1) / 2, n_points * n_rows)."""
        n_outputs = self._points.shape[1]
        if n_outputs == 1:
            return self.curvature.T
        found = []
        for k in range(n_outputs):
            along = zeros((n_outputs, self._weight.shape[0]), self._weight)
            along[k, ...] = 1
            found.append(widened(self._loss_product(along.T).T[k:, ...]))
        return concat(found) * widened(self._weight)

    @cached_property
    def _active(self):
        """The state of the active rows, if they are few; else None."""
        has_zeros = get_mapping(self._loss.mapping).has_zeros
        if not (self._loss.is_convex and has_zeros) or len(self._points) > 1:
            return None
        eps = float(np.finfo(self._block.design.dtype).eps)
        rows = flatnonzero(_any_in_row(self.curvature > eps * self._weight[:, None]))
        if not 0 < len(rows) <= _FEW_ACTIVE * self._weight.shape[0]:
            return None
        active = BlockState(self._block.take(rows), self._points, self._loss, False)
        active._active = None
        return active


def _any_in_row(mask):
    return namespace(mask).any(mask, axis=1)


def _in_precision_of(directions, product):
    """A product in the precision of directions, where these are by its side."""
    if isinstance(product, np.ndarray):
        return product.astype(directions.dtype, copy=False)
    return product


def _systematic_sample(importance, n_drawn):
    """How often each row is drawn, in proportion to its importance."""
    reached = np.cumsum(importance)
    reached *= n_drawn / reached[-1]
    return np.diff(np.floor(reached + 0.5), prepend=0.0)
