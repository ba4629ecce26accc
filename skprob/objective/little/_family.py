"""A linear objective of little data under several penalties at once.

On little data the calls of functions take longer than the arithmetic. One evaluation of
ten points takes about as long as three evaluations of one: searches over the penalty
take half the time.
"""

import numpy as np

from ..._utils.arrays import upper_triangle
from .._block_point import check_finite, take_pairs
from .._penalty import add_penalty


class Family:
    """Objectives that differ in the penalty alone, evaluated together.

    Parameters
    ----------
    objective : LinearObjective
        Its rows are a single block.
    strengths : ndarray of shape (n_problems,)
        Strengths of the penalty.
    """

    def __init__(self, objective, strengths):
        self._objective, self._block = objective, objective.blocks.single
        unit = objective.with_l2(1.0).penalty.diagonal
        #: Second derivatives of the penalties: (n_problems, size).
        self._ridges = strengths[:, None] * unit
        self._repeated = {}

    def at(self, parameters, which):
        """Values, gradients and Hessians at one point for each of some problems.

        Parameters
        ----------
        parameters : ndarray of shape (n_points, n_parameters)
        which : ndarray of shape (n_points,)
            Number of the problem of each point.

        Returns
        -------
        values : ndarray of shape (n_points,)
        gradients : ndarray of shape (n_points, n_parameters)
        hessians : ndarray of shape (n_points, n_parameters, n_parameters)
        """
        objective, block, n_points = self._objective, self._block, len(parameters)
        n_outputs, size = objective.shape
        design, n_rows = block.design, block.weight.shape[0]
        points = parameters.reshape(n_points, n_outputs, size)
        ridges = self._ridges[which][:, None, :]
        objective.count(2)

        # All rows at the first point, then all rows at the second, and so on.
        raw = design.matvec(points.swapaxes(0, 1).reshape(-1, size))
        raw = raw.T.reshape(n_outputs, n_points * n_rows).T
        rows = self._rows_repeated(n_points)
        linear = rows.linearize(objective.loss, raw)
        check_finite("loss", linear.values, objective.loss)

        values = linear.values.reshape(n_points, n_rows) @ block.weight
        values = values + objective.constant
        if objective.loss.traits.has_negative_entropy:
            # Rounding may take a loss that is never negative below zero.
            values = np.maximum(values, 0)
        values += (ridges * points**2).sum(axis=(1, 2)) / 2

        residual = linear.residual()
        check_finite("gradient of the loss", residual, objective.loss)
        residual *= rows.weight[:, None]
        residual = residual.T.reshape(n_outputs * n_points, n_rows)
        gradients = design.rmatvec(residual.T).reshape(n_outputs, n_points, size)
        gradients = gradients.swapaxes(0, 1) + ridges * points

        matrices = linear.hessian_matrices() * rows.weight[:, None, None]
        check_finite("second derivative of the loss", matrices, objective.loss)
        first, second, number = upper_triangle(n_outputs)
        pairs = take_pairs(matrices, first, second).reshape(n_points, n_rows, -1)
        weights = pairs.transpose(1, 0, 2).reshape(n_rows, -1)
        sandwiches = design.sandwich(weights).reshape(n_points, -1, size, size)
        hessians = sandwiches[:, number].transpose(0, 1, 3, 2, 4)
        hessians = np.ascontiguousarray(hessians)
        add_penalty(hessians, self._ridges[which], objective.common_columns)
        n_parameters = objective.n_parameters
        hessians = hessians.reshape(n_points, n_parameters, n_parameters)
        return values, gradients.reshape(n_points, -1), hessians

    def _rows_repeated(self, n_points):
        """The block with all its rows repeated, once for each point."""
        if n_points not in self._repeated:
            rows = np.tile(np.arange(self._block.weight.shape[0]), n_points)
            self._repeated[n_points] = self._block.with_rows(rows)
        return self._repeated[n_points]
