"""Objectives made from a linear one: of another strength, or of a part of its data."""

import copy
from dataclasses import replace

import numpy as np

from .._utils.arrays import namespace, precision, to_numpy, widened
from .._utils.single_precision import squares_fit
from ..data import restricted
from ._at_zero import has_mean_row, mean_row
from ._block import with_design
from .little import is_little


class PartsOfObjective:
    """Mixin of :class:`LinearObjective`: another strength, or a part of its data."""

    def with_l2(self, l2):
        """The objective of the same data and loss with another strength."""
        other = copy.copy(self)
        other.penalty = self.penalty.with_strength(l2)
        return other

    def restricted(self, features):
        """The objective of some features alone, given by their numbers.

        Its passes count as shares of one.
        """
        other, n_rows = copy.copy(self), self.description.n_rows
        share = len(features) / max(self.n_features, 1)
        other.units = self.units.restricted(features)
        other.n_features = len(features)
        columns = self.units.columns_of(features)
        other.blocks = self.blocks.map(with_design, restricted, columns, n_rows)
        other.penalty = self.penalty.restricted(features)
        other.moments = tuple(moment[features] for moment in self.moments)
        other.shape = self.shape[0], len(columns)
        n_stored = share * self.description.n_stored
        if not self.description.is_remote:
            (n_stored,) = other.blocks.sum(_n_stored)
        other.description = self.description._replace(
            shape=other.shape, n_stored=int(n_stored)
        )
        other.n_parameters = other.shape[0] * other.shape[1]
        is_part = self._numbers_in_X is not None
        other._numbers_in_X = self._numbers_in_X[features] if is_part else features
        other._share_of_pass = share * self._share_of_pass
        if is_little(other.blocks) and not is_little(self.blocks):
            other._evaluate_at_zero()
        if self._target_sums is not None:
            coupling = self._target_sums.coupling[:, columns]
            other._target_sums = self._target_sums._replace(coupling=coupling)
        return other

    def features_with_little_penalty(self):
        """Numbers, means and deviations of the features of X with a negligible penalty.

        The penalty is negligible if it is below the rounding errors of the duality gap.
        """
        some = np.flatnonzero(~self._has_large_penalty())
        numbers = some if self._numbers_in_X is None else self._numbers_in_X[some]
        return numbers, *(moment[some] for moment in self.moments)

    @property
    def has_several_classes(self):
        """Whether the target of some rows has several classes.

        Then it has an entropy, the part of a Fenchel-Young loss without scores.
        """
        rounding = 1e2 * precision(self.description.dtype)
        return bool(abs(self.constant) > rounding * abs(self.value_at_zero))

    def intercepts_alone(self):
        """The objective of the intercepts, with all coefficients at zero.

        Its loss is that of a single row with the mean target, so it takes no pass.
        Values differ from those of all rows by a constant. The result is None if the
        losses of the rows are not F(z) - ⟨q, z⟩ of the same scores z.
        """
        description = self.description
        has_intercept = description.has_intercept and description.is_on_host
        if not (has_intercept and has_mean_row(self)):
            return None
        from ._linear import LinearObjective

        return LinearObjective(mean_row(self), self.loss, l2=0.0)

    def of_outputs(self, outputs):
        """The objective of a slice of the outputs, if the loss is a sum over them.

        The whole objective is the sum of those of all its outputs. The part counts its
        own passes.
        """
        other, n_columns = copy.copy(self), self.shape[1]
        other.shape = len(range(*outputs.indices(self.shape[0]))), n_columns
        other.n_parameters = other.shape[0] * n_columns
        other.coef_shape = other.shape[0], self.coef_shape[1]
        other.description = self.description._replace(shape=other.shape)
        other.blocks = self.blocks.map(of_outputs, outputs)
        other._n_passes = [0.0]
        other._set_loss(self.loss)
        return other

    @property
    def has_output_gaps(self):
        """Whether the duality gap of each output vanishes at its minimum.

        The gap of a label in no row, or in all rows, vanishes with its loss.
        """
        description = self.description
        if description.has_intercept and description.has_row_scores:
            return False
        return description.has_separate_outputs and self._has_bound()

    def separate_at(self, parameters):
        """The ``OutputsPoint`` of a separable objective, in one pass."""
        from .by_output import OutputsPoint  # Imported when used.

        return OutputsPoint.at(self, parameters.reshape(self.shape))

    def separate_start(self, parameters):
        """Parameters with the best intercept of each output with zeros; no pass."""
        from .by_output import with_best_intercepts  # Imported when used.

        return with_best_intercepts(self, parameters.reshape(self.shape)).ravel()

    def in_single_precision(self):
        """The objective whose rows are computed in single precision.

        Parameters and gradients remain in double precision. It is None if X is not in
        double precision, if its numbers could overflow, or if digits would cancel.
        """
        description = self.description
        is_double = description.is_on_host and description.dtype == np.float64
        if not is_double or not self.units.suits_single_precision:
            return None
        if not squares_fit(max(self.blocks.collect(_largest))):
            return None
        other = copy.copy(self)
        other.blocks = self.blocks.map(_in_single_precision)
        other.description = description._replace(dtype=np.dtype(np.float32))
        return other

    def sample(self, n_rows):
        """The objective of about `n_rows` rows, drawn at random without replacement.

        The same rows are drawn each time: see :meth:`of_rows`.
        """
        share = n_rows / self.description.n_rows
        # Join the samples to blocks as large as those of all rows: on small blocks
        # calls of functions take longer than arithmetic. 400,000 rows of 50 features
        # take 0.95 times as long, and 0.9 times with 1.5-entmax.
        blocks = self.blocks.map(_sample, share).joined(max(round(1 / share), 1))
        return self.of_rows(blocks)[0]

    def of_rows(self, blocks):
        """The objective of some of its rows, and their share of the weight.

        Penalty and units of the features are those of all rows. The objective counts
        its own passes.

        Parameters
        ----------
        blocks : Blocks of Block
            These rows, with their weights among all rows.
        """
        other, description = copy.copy(self), self.description
        total, n_rows = blocks.sum(_weight_and_rows)
        n_stored = description.n_stored * float(n_rows) / description.n_rows
        other.blocks = blocks.map(_with_weight_divided, float(total) or 1.0)
        other.description = description._replace(
            n_rows=int(n_rows), n_stored=int(n_stored)
        )
        other._n_passes, other.moments = [0.0], None
        other._set_loss(self.loss)
        return other, float(total)


# Functions of a block, for Blocks.sum and Blocks.map.


def _n_stored(block):
    """Number of stored numbers of the design."""
    return (block.design.n_stored,)


def _largest(block):
    """Largest absolute number of the rows."""
    return block.design.largest


def _in_single_precision(block):
    """The block with features, target and weights in single precision."""
    offset = block.offset
    return replace(
        block,
        design=block.design.in_single_precision(),
        weight=block.weight.astype(np.float32),
        offset=None if offset is None else offset.astype(np.float32),
    )


def _sample(block, share):
    """A share of the rows, drawn at random, in their order; at least one."""
    n_rows = block.weight.shape[0]
    n_drawn = max(round(share * n_rows), 1)
    drawn = np.random.default_rng(0).choice(n_rows, n_drawn, replace=False)
    return block.take(np.sort(drawn))


def _weight_and_rows(block):
    """Sum of the weights, and number of rows."""
    weight = widened(block.weight)
    return to_numpy(namespace(weight).sum(weight)), weight.shape[0]


def _with_weight_divided(block, total):
    """The block with its weights divided by a number."""
    return replace(block, weight=block.weight / total)


def of_outputs(block, outputs):
    """The block of a slice of the outputs, if the loss is a sum over them."""
    offset, available = block.offset, block.available
    return replace(
        block,
        target=block.target.of_classes(outputs),
        offset=None if offset is None else offset[:, outputs],
        available=None if available is None else available[:, outputs],
    )
