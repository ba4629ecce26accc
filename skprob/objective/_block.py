"""A block of rows: features, targets, weights, offsets and available classes.

Conventions, for the whole package:

- Row i has features x_i, target q_i and weight s_i. The weights are normalised:
  they sum to one over *all* blocks.
- A model has M rows of parameters, each with `size` numbers: a coefficient for each
  column of the design, of which the last is the constant if there is an intercept. Its
  M raw predictions are the scores of M = K classes; if there is one raw prediction u,
  for two classes, the scores are (-u/2, +u/2).
- The offset of a row is added to its scores. Scores of classes that are not available
  to the row become -inf.

The functions here are pure: threads, processes and clusters can map them over blocks
and add up the results.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._utils.arrays import (
    asarray_like,
    concat,
    fill,
    is_host,
    namespace,
    take,
    to_numpy,
    widened,
)
from .._utils.scores import pair_adjoint, pair_scores
from .._utils.tuning import Tuning
from ..data import (
    DesignMatrix,
    LocalBlocks,
    SingleBlock,
    as_design,
    keep_freed_memory,
    row_slices,
)
from ..losses import evaluate_difference, in_difference, linearize_difference
from ..targets import target_like


@dataclass(frozen=True)
class Block:
    """Some rows of the data.

    Parameters
    ----------
    design : DesignMatrix of shape (n_rows, size)
    target : target of shape (n_rows, n_classes)
        See :mod:`skprob.targets`.
    weight : array of shape (n_rows,)
        Weights, which sum to one over all blocks.
    offset : array of shape (n_rows, n_classes) or None
        Numbers that are added to the scores.
    available : array of bool of shape (n_rows, n_classes) or None
        Classes that each row may choose from.
    tuning : Tuning
    """

    design: DesignMatrix
    target: Any
    weight: Any
    offset: Any = None
    available: Any = None
    tuning: Tuning = Tuning()

    @cached_property
    def has_row_scores(self):
        """Whether rows have offsets or available classes."""
        return self.offset is not None or self.available is not None

    def take(self, rows):
        """The block of some rows, given by a slice or by their numbers."""
        return replace(self.with_rows(rows), design=self.design.take(rows))

    def with_rows(self, rows):
        """Target, weight and scores of some rows, as for :meth:`take`; no design."""
        return Block(
            None,
            self.target.take(rows),
            take(self.weight, rows),
            offset=None if self.offset is None else take(self.offset, rows),
            available=None if self.available is None else take(self.available, rows),
            tuning=self.tuning,
        )

    def joined(self, others):
        """The block of the rows of this block, then those of others."""
        blocks = [self, *others]

        def whole(name):
            first = getattr(self, name)
            return None if first is None else concat([getattr(b, name) for b in blocks])

        return Block(
            self.design.joined([block.design for block in others]),
            self.target.joined([block.target for block in others]),
            whole("weight"),
            offset=whole("offset"),
            available=whole("available"),
            tuning=self.tuning,
        )

    def evaluate(self, loss, raw):
        """Loss of each row, and its gradient in the raw predictions.

        The raw predictions, (n_rows, M), may be overwritten.
        """
        if raw.shape[1] == 1 and not self.has_row_scores:
            return evaluate_difference(loss, raw, self.target)
        values, gradient = loss.evaluate(self.scores(raw), self.target)
        return values, predictions_adjoint(gradient, raw.shape[1])

    def linearize(self, loss, raw):
        """The loss as a function of the raw predictions: a ``LossLinearization``."""
        is_pair = raw.shape[1] == 1
        if is_pair and not self.has_row_scores:
            return linearize_difference(loss, raw, self.target)
        scores = self.scores(raw) if self.has_row_scores else raw
        linear = loss.linearize(scores, self.target)
        return in_difference(linear) if is_pair else linear

    def constant(self, loss):
        """Part of each row's loss that does not depend on the scores."""
        n_available = None
        if self.available is not None:
            xp = namespace(self.available)
            n_available = xp.count_nonzero(self.available, axis=1)
        constant = loss.constant(self.target, n_available)
        return constant if is_host(self.weight) else asarray_like(constant, self.weight)

    def scores(self, raw):
        """Scores of the rows, from raw predictions that may be overwritten."""
        scores = scores_of(raw)
        if self.offset is not None:
            scores += self.offset
        if self.available is not None:
            fill(scores, ~self.available, -np.inf)
        return scores


def split_rows(
    X,
    target,
    weight,
    *,
    offset=None,
    available=None,
    total=None,
    tuning=Tuning(),
):
    """Blocks of the rows of data in memory, each a :class:`Block`; X is not copied.

    Few rows are a single block. X is an array of any library or a CSR matrix; the other
    arguments, those of a :class:`Block`, are moved to its device. The weights are
    divided by `total`, the sum of those of all rows, if these are only some of them.
    """
    keep_freed_memory(tuning.kept_memory)
    total = weight.sum() if total is None else total
    weight, design = weight / total, as_design(X)
    if is_host(X):
        weight = weight.astype(X.dtype, copy=False)
    else:
        weight, target = asarray_like(weight, X), target_like(target, X)
        offset = None if offset is None else asarray_like(offset, X)
        available = None if available is None else asarray_like(available, X)
    whole = Block(
        design, target, weight, offset=offset, available=available, tuning=tuning
    )
    slices = row_slices(X, target.shape[1], tuning)
    if len(slices) == 1:
        return SingleBlock(whole)
    return LocalBlocks(map(whole.take, slices))


def n_raw_predictions(n_classes, polytope):
    """Number of raw predictions: two classes on the simplex have one."""
    return 1 if n_classes == 2 and polytope == "simplex" else n_classes


def scores_of(raw):
    """Scores of the classes, from raw predictions."""
    return raw if raw.shape[1] > 1 else pair_scores(raw)


def predictions_adjoint(residual, n_outputs):
    """Adjoint of :func:`scores_of`."""
    return residual if n_outputs > 1 else pair_adjoint(residual)


# Functions of a block, for Blocks.sum and Blocks.map.


def moments_of_block(block):
    """Weight of the block, and weighted mean and deviation of each column."""
    return block.design.moments(block.weight)


def constant_and_totals(block, loss):
    """Weighted sums of the loss's part without scores, and of the target (K,)."""
    constant = weighted_sum(block.constant(loss), block.weight)
    return constant, to_numpy(block.target.class_totals(block.weight))


def with_design(block, make, *args):
    """The block with the design that a function makes of the design of the block."""
    return replace(block, design=make(block.design, *args, block.tuning))


def weighted_sum(values, weight):
    """Weighted sum over the rows, in float64: a line search compares such sums."""
    if isinstance(values, np.ndarray):
        if values.dtype == np.float64:
            return weight.dot(values)
        return np.dot(weight.astype(np.float64), values.astype(np.float64))
    return to_numpy(widened(weight) @ widened(values))
