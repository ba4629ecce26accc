"""The mean loss of a linear model over all blocks, at several points at once."""

import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..mappings import get_mapping
from . import _block
from ._splitting import Splitting


class Description(NamedTuple):
    """The size and the kind of an objective, by which solvers are chosen."""

    n_rows: int  #: In all blocks.
    n_stored: int  #: Numbers stored of X, in all blocks.
    shape: tuple  #: (n_outputs, n_columns) of the parameters.
    dtype: np.dtype  #: Of X.
    #: Whether Hessian products are faster in single precision and lose little.
    suits_single_precision: bool = False
    has_intercept: bool = False  #: Whether the last column is a constant.
    is_linear: bool = True  #: Whether raw predictions are linear in the parameters.
    is_convex: bool = True
    has_bounded_hessian: bool = True
    has_kinks: bool = False  #: Whether it is convex, with a gradient that jumps.
    #: Whether the proximal step of a row's loss has a closed form.
    has_proximal_step: bool = False
    #: Whether the loss is a sum of losses of one raw prediction each.
    is_separable: bool = False
    #: Whether the same added to all raw predictions changes nothing but the penalty.
    is_relative: bool = False
    is_remote: bool = False  #: Whether a sum over the blocks is a round trip.

    @classmethod
    def of(cls, blocks):
        """What is known from blocks alone, with one row of parameters a class."""
        (sums,) = blocks.sum(_block.dimensions)
        n_rows, n_stored = sums[:2].astype(int).tolist()
        # The others are means, on which the blocks agree.
        means = (sums[2:-1] // sums[-1]).astype(int).tolist()
        n_classes, n_columns, itemsize, single = means
        dtype = np.dtype(f"f{itemsize}")
        data = n_rows, n_stored, (n_classes, n_columns), dtype, bool(single)
        return cls(*data, is_remote=blocks.is_remote)

    def with_loss(self, loss):
        """What is known with the loss as well."""
        mapping = get_mapping(loss.mapping)
        return self._replace(
            is_convex=self.is_linear and loss.is_convex,
            has_bounded_hessian=loss.has_bounded_hessian,
            has_kinks=self.is_linear and loss.has_kinks,
            has_proximal_step=self.is_linear and loss.has_proximal_step,
            is_separable=self.is_linear and loss.is_separable,
            is_relative=self.shape[0] > 1 and mapping.is_shift_invariant,
        )


class MeanLoss:
    """Weighted mean loss, as a function of parameters of shape (M, size).

    It starts from a description of the data, and adds that of the loss.
    """

    def __init__(self, blocks, loss, description):
        self.blocks, self.description = blocks, description
        self.shape, self._n_passes = description.shape, [0.0]  # Shared with copies.
        #: Length of a vector of parameters.
        self.n_parameters = self.shape[0] * self.shape[1]
        self._set_loss(loss)

    def _set_loss(self, loss):
        self.loss, self.description = loss, self.description.with_loss(loss)
        (total,) = self.blocks.sum(_block.constant, loss)
        #: Weighted mean of the loss's part that does not depend on the scores.
        self.constant = float(total)
        vars(self).pop("value_at_zero", None)

    def with_loss(self, loss):
        """The same data and penalty with another loss."""
        other = copy.copy(self)
        other._set_loss(loss)
        return other

    @cached_property
    def value_at_zero(self):
        """The mean loss where all scores are the same; X plays no part in it."""
        (value,) = self.blocks.sum(_block.value_at_zero, self.shape[0], self.loss)
        return self.constant + float(value)

    @property
    def passes(self):
        """Passes over X so far: evaluations, Hessian products, shares of rows drawn."""
        return self._n_passes[0]

    @property
    def traffic(self):
        """Round trips and bytes sent to and fro so far, where blocks are remote."""
        return self.blocks.traffic

    def count(self, passes):
        """Count passes over X."""
        self._n_passes[0] += passes

    def mean_loss(self, points):
        """Values (n_points,) and gradients (n_points, M, size) of the mean loss."""
        self.count(1)
        function = _block.value_and_gradient
        values, gradients = self.blocks.sum(function, points, self.loss)
        return self._with_constant(values), self.without_common_part(gradients)

    def mean_loss_states(self, points, keep):
        """The Blocks of states near the points, and what :meth:`mean_loss` returns.

        Without `keep` the states are computed anew whenever they are used, and there is
        neither value nor gradient.
        """
        if not keep:
            return _RecomputedStates(self, points), None, None
        self.count(1)
        states = self.blocks.map(_block.BlockState, points, self.loss)
        values, gradients = states.sum(_block.BlockState.value_and_gradient)
        values = self._with_constant(values)
        return states, values, self.without_common_part(gradients)

    def without_common_part(self, derivatives):
        """Derivatives of the loss (n_points, M, size) without their rounding errors.

        If the loss is shift invariant, they sum to zero over the raw predictions. The
        sum that rounding leaves would be divided by a curvature of zero: intercepts
        grow by up to 1e14 together, and the scores lose their digits.
        """
        if not self.description.is_relative:
            return derivatives
        return derivatives - derivatives.mean(axis=1, keepdims=True)

    def splitting(self, parameters, strength, n_kept):
        """The `Splitting` of the first problem; the loss has a proximal step."""
        return Splitting(self, parameters, strength, n_kept)

    def _with_constant(self, values):
        values = values + self.constant
        # Rounding may take a loss that is never negative below zero.
        return np.maximum(values, 0) if self.loss.has_negative_entropy else values


class _RecomputedStates:
    """Blocks of states that are computed anew for every function."""

    def __init__(self, objective, points):
        self._objective, self._points = objective, points

    def map(self, function, *args):
        return self._on_new_states(self._objective.blocks.map, function, *args)

    def sum(self, function, *args):
        return self._on_new_states(self._objective.blocks.sum, function, *args)

    def _on_new_states(self, verb, function, *args):
        self._objective.count(0.5)
        loss = self._objective.loss
        return verb(_block.of_new_state, function, self._points, loss, *args)
