"""A linear objective near some points."""

from functools import cache

import numpy as np

from .._arrays import upper_triangle
from ._block import BlockState


class Linearization:
    """A linear objective near some points, with its second derivatives.

    Attributes
    ----------
    values : ndarray of shape (n_points,)
    gradients : ndarray of shape (n_points, n_parameters)
        Of the objective; neither is there where they were not asked for.
    """

    def __init__(self, objective, which, points, states, values, gradients):
        self._objective, self._which = objective, which
        self._points, self._states, self._shape = points, states, points.shape
        self._mean_loss = values, gradients
        if values is None:
            return
        penalty = objective.penalty
        self.values = values + penalty.value(points, which)
        gradients = gradients + penalty.gradient(points, which)
        self.gradients = gradients.reshape(len(points), -1)

    def under(self, objective):
        """That of the same loss under another penalty, from the same states."""
        there = self._which, self._points, self._states
        return Linearization(objective, *there, *self._mean_loss)

    @property
    def is_at_zero(self):
        """Whether all scores are zero, so that all rows have about one curvature."""
        return not self._points.any()

    @property
    def ridge(self):
        """What the penalty adds to the Hessian's diagonal: (size,)."""
        return self._objective.penalty.diagonal[self._which[0], 0]

    def hessian_product(self, direction):
        """Hessian at a single point times a direction of shape (n_parameters,).

        If X is sparse, a direction in single precision is multiplied in single
        precision.
        """
        objective = self._objective
        objective.count(1)
        along = direction.reshape(self._shape)
        (product,) = self._states.sum(BlockState.hessian_product, along)
        product = objective.without_common_part(product)
        product += objective.penalty.gradient(along, self._which)
        return product.reshape(-1)

    def hessians(self, places):
        """Hessians at some of the points: (n_places, n_parameters, n_parameters).

        Where the same added to all raw predictions changes nothing, not even the
        penalty, that direction is given a curvature: no step is to go there.
        """
        objective = self._objective
        objective.count(1)
        n_outputs, size = self._shape[1:]
        (pairs,) = self._states.sum(BlockState.hessians, places)
        entries = _entries_of_pairs(n_outputs, size)
        found = pairs.reshape(len(places), -1).take(entries, axis=1)
        ridge = objective.penalty.diagonal[self._which[places], 0]
        # A view of the diagonals.
        diagonals = found.reshape(len(places), -1)[:, :: n_outputs * size + 1]
        diagonals = diagonals.reshape(len(places), n_outputs, size)
        diagonals += ridge[:, None]
        if objective.description.is_relative and not ridge.all():
            blocks = found.reshape(len(places), n_outputs, size, n_outputs, size)
            # Of the intercepts or, without a penalty, of all columns.
            for column in np.flatnonzero(ridge.min(axis=0) == 0):
                free = (ridge[:, column] == 0) / n_outputs
                blocks[:, :, column, :, column] += free[:, None, None]
        return found

    def total_curvature(self):
        """Curvature of each raw prediction (M,), and how many rows have any."""
        return self._states.sum(BlockState.total_curvature)

    def sandwiches(self, by_output, n_drawn):
        """Diagonal blocks of the Hessian without the penalty: (M or 1, size, size).

        One for each raw prediction, or their mean if not `by_output`, from `n_drawn`
        rows in proportion to their curvature, or all if no more have any.
        """
        objective = self._objective
        total, n_active = self.total_curvature()
        total = total.sum() if by_output else total.mean()
        share = n_drawn / total if n_active > n_drawn else np.inf
        objective.count(min(1, n_drawn / objective.description.n_rows))
        return self._states.sum(BlockState.sandwich, by_output, share)[0]

    def moments(self):
        """Total curvature, and mean and deviation of the columns weighted by it.

        A row counts with the mean curvature of its raw predictions.
        """
        self._objective.count(1)
        return pooled_moments(self._states.map(BlockState.moments))


@cache
def _entries_of_pairs(n_outputs, size):
    """Where the Hessian's entries are among those of pairs of raw predictions."""
    _, _, number = upper_triangle(n_outputs)
    within = np.arange(size)[:, None, None] * size + np.arange(size)
    entries = number[:, None, :, None] * size**2 + within
    return entries.reshape(n_outputs * size, -1)


def pooled_moments(parts):
    """Moments of all rows, from Blocks of those of each block: see DesignMatrix."""
    total, mean = parts.sum(_weighted_mean)
    total = float(total)
    # Without any weight all of them are zero.
    weight = total or 1.0
    mean = mean / weight
    # In units of the mean spread: squares could vanish.
    (unit,) = parts.sum(_spread, mean, 1.0, 1)
    unit[unit == 0] = 1
    (square,) = parts.sum(_spread, mean, unit, 2)
    return total, mean, unit * np.sqrt(square / weight)


def _weighted_mean(part):
    total, mean, _ = part
    return total, total * mean


def _spread(part, mean, unit, power):
    """Weighted power of the spread about a mean."""
    total, own, deviation = part
    return (total * (np.hypot(deviation, own - mean) / unit) ** power,)
