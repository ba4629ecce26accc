"""Linear objectives that differ in nothing but the penalty, evaluated together."""

import copy
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ._blocks import linearize_outputs
from ._gram import standardised_columns
from ._hessian import OuterProducts


class BatchLinearization(NamedTuple):
    """Objectives at a point of each.

    Attributes
    ----------
    values : ndarray of shape (n_points,)
    gradients : ndarray of shape (n_points, n_parameters)
    hessians : callable
        ``hessians(places)`` are those of some of the points, given by their places,
        of shape (n_places, n_parameters, n_parameters), without the penalties.
    """

    values: np.ndarray
    gradients: np.ndarray
    hessians: Callable


class PenaltyBatch:
    """Objectives of the same data and loss, each with a penalty of its own.

    On little data the calls of the functions that compute an objective take longer
    than what they compute. Here one call does for all penalties, the rows of the data
    being repeated for each, and Hessians are written out: they are small, too.

    The parameters are those of centred and scaled features, in float64: a row for
    each output, the intercept last.

    Parameters
    ----------
    objective : LinearObjective
        With a single block.
    penalties : ndarray of shape (n_penalties,)
        They take the place of the objective's own ``l2``.
    mean, scale : ndarray of shape (n_features,)

    Attributes
    ----------
    ridges : ndarray of shape (n_penalties, n_parameters)
        What each penalty adds to the diagonal of a Hessian.
    """

    def __init__(self, objective, penalties, mean, scale):
        self._objective = objective
        self._mean, self._scale = mean, scale
        (block,) = objective.blocks
        n_outputs, size = objective.coef_shape[0], len(mean) + objective.fit_intercept
        z = standardised_columns([block.X], mean, scale, size)
        self._z = z.T
        feature = np.tile(np.arange(size), n_outputs)
        is_free = (feature == len(mean)) & objective.scores_are_relative
        output = np.repeat(np.arange(n_outputs), size)
        self._sums = OuterProducts(z, feature, output, is_free)
        self._target, self._weight = block.target, block.weight.astype(np.float64)
        # Divided twice: the square could overflow.
        ridges = np.zeros((len(penalties), self._z.shape[1]))
        ridges[:, : len(mean)] = penalties[:, None] / scale / scale
        self.ridges = np.tile(ridges, n_outputs)
        self._repeated = {}

    def of(self, objective):
        """The same of an objective that differs in nothing but the loss."""
        other = copy.copy(self)
        other._objective = objective
        return other

    def linearize(self, which, parameters):
        """Values, gradients and Hessians.

        Parameters
        ----------
        which : ndarray of shape (n_points,)
            The number of the penalty at each point.
        parameters : ndarray of shape (n_points, n_parameters)

        Returns
        -------
        linearization : BatchLinearization
        """
        n_points, n_rows = len(which), len(self._z)
        n_outputs = self._objective.coef_shape[0]
        ridges = self.ridges[which]
        # Output by output, so that the scores are laid out class by class.
        rows = parameters.reshape(n_points, n_outputs, -1).swapaxes(0, 1)
        outputs = rows.reshape(n_outputs * n_points, -1) @ self._z.T
        outputs, loss = outputs.reshape(n_outputs, -1).T, self._objective.loss
        linear = linearize_outputs(loss, outputs, self._targets(n_points))
        values = linear.values.reshape(n_points, n_rows) @ self._weight
        slopes = ridges * parameters
        values = values + self._objective.constant
        values += (slopes * parameters).sum(axis=1) / 2
        gradients = (linear.gradient.T.reshape(-1, n_rows) * self._weight) @ self._z
        gradients = gradients.reshape(n_outputs, n_points, -1).swapaxes(0, 1)
        gradients = gradients.reshape(n_points, -1) + slopes

        def hessians(places):
            return self._sums(self._curvatures(linear, n_points)[places])

        return BatchLinearization(values, gradients, hessians)

    def to_original(self, parameters):
        """Parameters of the objective, of a point in standardised features."""
        n_features = len(self._scale)
        rows = parameters.reshape(self._objective.coef_shape[0], -1)
        coef = rows[:, :n_features] / self._scale
        return self._objective.pack(coef, rows[:, -1] - coef @ self._mean)

    def from_original(self, parameters):
        """The other way round."""
        coef, intercept = self._objective.unpack(parameters)
        rows = [coef * self._scale]
        if self._objective.fit_intercept:
            rows.append((intercept + coef @ self._mean)[:, None])
        return np.concatenate(rows, axis=1).ravel()

    def original_gradients(self, gradients):
        """Gradients in the parameters of the objective, up to their order."""
        n_features = len(self._scale)
        rows = gradients.reshape(-1, self._z.shape[1]).copy()
        rows[:, :n_features] *= self._scale
        if self._objective.fit_intercept:
            rows[:, :n_features] += rows[:, -1:] * self._mean
        return rows.reshape(gradients.shape)

    def _targets(self, n_points):
        """The target of the rows, repeated for each point."""
        if n_points not in self._repeated:
            rows = np.tile(np.arange(len(self._z)), n_points)
            self._repeated[n_points] = self._target.take(rows)
        return self._repeated[n_points]

    def _curvatures(self, linear, n_points):
        """Second derivatives of the rows' weighted losses, as OuterProducts asks."""
        n_outputs, n_rows = self._objective.coef_shape[0], len(self._weight)
        if n_outputs == 1:
            found = linear.hessian_diagonal().reshape(n_points, 1, n_rows)
            return found * self._weight
        found = np.empty((n_points, n_outputs * (n_outputs + 1) // 2, n_rows))
        end = 0
        for k in range(n_outputs):
            along = np.zeros((n_outputs, n_points * n_rows))
            along[k] = 1
            product = linear.hessian_product(along.T).T[k:]
            start, end = end, end + n_outputs - k
            found[:, start:end] = product.reshape(-1, n_points, n_rows).swapaxes(0, 1)
        found *= self._weight
        return found
