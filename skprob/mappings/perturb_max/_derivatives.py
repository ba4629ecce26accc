"""Derivatives in the scores, as sums over the nodes of either route.

The probability p_i = Σ_x w_i, with weights w_i = G h_i dx and hazards h_i, changes
along a direction v of the scores by

    Σ_x w_i (v_i Σ_j h_j - Σ_j h_j v_j).

The derivative of the density is not needed, and a direction that moves all scores alike
gives zero. With weights that are divided by their sum, it is the change of log p_i.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._linearization import Linearization
from .._row_matrices import RowMatrices
from ._tuning import TUNING


class Nodes(NamedTuple):
    """Nodes of some rows.

    Attributes
    ----------
    x : ndarray of shape (n_rows, n_nodes)
    z : ndarray of shape (n_rows, n_classes)
        Scores.
    weights, hazards : ndarray of shape (n_rows, n_nodes, n_classes)
        G h_i dx, divided by its sum over the nodes for logarithms; and h_i.
    """

    x: np.ndarray
    z: np.ndarray
    weights: np.ndarray
    hazards: np.ndarray

    @classmethod
    def of(cls, x, z, common, hazards, relative):
        """Nodes from G dx and hazards, which are logarithms if `relative`."""
        common = common[:, :, None]
        with np.errstate(all="ignore"):
            if relative:
                weights = common + hazards
                top = weights.max(axis=1, keepdims=True)
                weights -= np.maximum(top, np.finfo(float).min)
                weights, hazards = np.exp(weights), np.exp(hazards)
                total = weights.sum(axis=1, keepdims=True)
                weights /= np.where(total > 0, total, 1)
            else:
                weights = common * hazards
        np.minimum(hazards, TUNING.largest_hazard, out=hazards)
        return cls(x, z, weights, hazards)

    @property
    def distances(self):
        """Distances x - z_i, (n_rows, n_nodes, n_classes)."""
        return self.x[:, :, None] - self.z[:, None]


class Derivatives(RowMatrices):
    """Derivatives of probabilities, or of their logarithms, in the scores.

    Up to ``TUNING.matrix_classes`` classes products are those with the Jacobian of each
    row. With more, they are sums over the nodes, which take less time and memory.

    Parameters
    ----------
    parts : list of (rows, source)
        ``source.n_nodes`` is an array with the number of nodes of each of its rows, and
        ``source.nodes_of(index)`` are the :class:`Nodes` of some of them.
    scores : ndarray of shape (n_rows, n_classes)
    noise : Noise
    relative : bool
        Whether the derivatives are those of logarithms.
    """

    def __init__(self, parts, scores, noise, relative):
        self._parts, self._scores = parts, scores
        self._noise, self._relative = noise, relative
        n_classes = scores.shape[1]
        self._vector, self._matrix = (n_classes,), (n_classes, n_classes)
        self._has_matrices = n_classes <= TUNING.matrix_classes
        self._last_cotangent = self._second = None

    def linearization(self, value):
        """:class:`Linearization` with these derivatives."""
        second = None if self._noise.slope is None else self.vjp_derivative
        # The Jacobian of logarithms is not symmetric.
        jacobian = None if self._relative else self
        return Linearization(
            value, self.product, self.transposed_product, second, jacobian
        )

    def matrices(self):
        return self.jacobian

    @cached_property
    def jacobian(self):
        """The Jacobian of each row, (n_rows, n_classes, n_classes)."""

        def rates(nodes):
            matrix = -_sum_of_products(nodes.weights, nodes.hazards)
            _diagonal(matrix)[:] = 0
            # The probabilities are shift invariant: each row of the Jacobian sums to 0.
            _diagonal(matrix)[:] = -matrix.sum(axis=2)
            return matrix

        return self._for_rows(rates, self._matrix)

    def shape_derivative(self, probabilities):
        """The derivative in the coordinate of the noise's shape."""

        def rate(nodes):
            of_logpdf, of_logcdf = self._noise.shape_slopes(nodes.distances)
            change = of_logpdf - of_logcdf + of_logcdf.sum(axis=2, keepdims=True)
            return (nodes.weights * change).sum(axis=1)

        rates, p = self._for_rows(rate, self._vector), probabilities
        # The rates sum to zero up to the quadrature error.
        if self._relative:
            return rates - (p * rates).sum(axis=1, keepdims=True)
        return rates - p * rates.sum(axis=1, keepdims=True)

    def vjp_derivative(self, cotangent, direction):
        """The derivative of ``vjp(cotangent)`` as the scores move along a direction."""
        if not self._has_matrices:
            arrays = cotangent, direction
            return self._for_rows(self._second_product, self._vector, *arrays)
        # A solver multiplies many directions with the matrix of one cotangent.
        last = self._last_cotangent
        if last is None or not np.array_equal(last, cotangent):
            self._second = self._for_rows(self._second_matrix, self._matrix, cotangent)
            self._last_cotangent = cotangent.copy()
        differences = direction - direction[:, :1]
        return np.einsum("nij,nj->ni", self._second, differences)

    def _second_matrix(self, nodes, cotangent):
        """The matrix of :meth:`vjp_derivative`, (n, n_classes, n_classes).

        Far below the largest score hazards are large numbers that differ by little.
        The changes of the weights of logarithms sum to zero, so the hazards that they
        are multiplied with may be taken relative to their mean.
        """
        weights, hazards = nodes.weights, nodes.hazards
        pull, total_pull, centred, above = self._centred(nodes, cotangent)
        slope = self._hazard_slope(nodes)
        moved = hazards * slope
        matrix = _sum_of_products(centred * total_pull - pull * above, hazards)
        matrix += _sum_of_products(pull, moved)
        matrix -= _sum_of_products(centred, pull * slope)
        _diagonal(matrix)[:] += (pull * slope * above - moved * total_pull).sum(axis=1)
        if self._relative:
            # The change of log p is part of the change of a logarithm's weights.
            level = -_sum_of_products(weights, hazards)
            _diagonal(level)[:] += (weights * slope).sum(axis=1)
            turn = _sum_of_products(centred, pull)
            _diagonal(turn)[:] -= (pull * above).sum(axis=1)
            matrix += turn @ level
        return matrix

    def _second_product(self, nodes, cotangent, direction):
        """The product of that matrix and a direction, without the matrix."""
        weights, hazards, v = nodes.weights, nodes.hazards, direction[:, None]
        pull, total_pull, centred, above = self._centred(nodes, cotangent)
        log_change = self._hazard_slope(nodes) * v
        moved = hazards * log_change
        change = log_change - (hazards * v).sum(axis=2, keepdims=True)
        if self._relative:
            change -= (weights * change).sum(axis=1, keepdims=True)
        change *= pull
        terms = change * above + pull * moved.sum(axis=2, keepdims=True)
        terms -= moved * total_pull + centred * change.sum(axis=2, keepdims=True)
        return terms.sum(axis=1)

    def _centred(self, nodes, cotangent):
        """Weights times the cotangent, centred hazards, and the sums of both.

        Returns
        -------
        pull, total_pull : ndarray
            Weights times the cotangent, and their sum over the classes.
        centred, above : ndarray
            Hazards, for logarithms relative to their mean, and their sum.
        """
        pull = nodes.weights * cotangent[:, None]
        hazards = nodes.hazards
        if self._relative:
            size = np.abs(cotangent)
            size = size / np.maximum(size.sum(axis=1, keepdims=True), _TINY)
            density = (nodes.weights * size[:, None]).sum(axis=2, keepdims=True)
            hazards = hazards - (hazards * density).sum(axis=1, keepdims=True)
        total_pull = pull.sum(axis=2, keepdims=True)
        return pull, total_pull, hazards, hazards.sum(axis=2, keepdims=True)

    def _hazard_slope(self, nodes):
        """The change of the logarithm of a hazard with its score."""
        with np.errstate(all="ignore"):
            slope = self._noise.log_hazard_slope(nodes.distances, nodes.hazards)
        return -np.nan_to_num(slope, posinf=0, neginf=0)

    def product(self, direction):
        if self._has_matrices:
            # Subtract equal changes of all scores, so that their product is exactly 0.
            top = self._scores.argmax(axis=1)[:, None]
            direction = direction - np.take_along_axis(direction, top, axis=1)
            return np.einsum("nij,nj->ni", self.jacobian, direction)

        def term(nodes, v):
            total = nodes.hazards.sum(axis=2, keepdims=True)
            mean = (nodes.hazards * v[:, None]).sum(axis=2, keepdims=True)
            return (nodes.weights * (v[:, None] * total - mean)).sum(axis=1)

        return self._for_rows(term, self._vector, direction)

    def diagonal(self):
        if self._has_matrices:
            return np.einsum("nii->ni", self.jacobian)

        def term(nodes):
            others = nodes.hazards.sum(axis=2, keepdims=True) - nodes.hazards
            return (nodes.weights * others).sum(axis=1)

        return self._for_rows(term, self._vector)

    def transposed_product(self, cotangent):
        """The transposed matrices times a cotangent (n_rows, n_classes)."""
        if self._has_matrices:
            return np.einsum("nij,ni->nj", self.jacobian, cotangent)

        def term(nodes, c):
            total = nodes.hazards.sum(axis=2, keepdims=True)
            pull = nodes.weights * c[:, None]
            change = pull * total - nodes.hazards * pull.sum(axis=2, keepdims=True)
            return change.sum(axis=1)

        return self._for_rows(term, self._vector, cotangent)

    def _for_rows(self, function, shape, *arrays):
        """Results of a function of nodes and lines of arrays, for all rows.

        ``function(nodes, *lines)`` returns arrays of the given shape, one for each row.
        """
        n_rows, n_classes = self._scores.shape
        result = np.zeros((n_rows, *shape), dtype=self._scores.dtype)
        for rows, source in self._parts:
            # Rows with about the same number of nodes are computed together.
            by_size = np.argsort(source.n_nodes, kind="stable")
            step = n_classes * source.n_nodes.max(initial=1)
            step = max(1, TUNING.chunk_size // step)
            for start in range(0, len(rows), step):
                index = by_size[start : start + step]
                chunk = rows[index]
                nodes = source.nodes_of(index)
                result[chunk] = function(nodes, *(array[chunk] for array in arrays))
        return result


_TINY = np.finfo(float).tiny


def _sum_of_products(left, right):
    """Σ over nodes of left_i right_j, (n_rows, n_classes, n_classes)."""
    return left.swapaxes(1, 2) @ right


def _diagonal(matrices):
    """A view of the diagonals of matrices."""
    return np.einsum("nii->ni", matrices)
