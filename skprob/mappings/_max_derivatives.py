"""Derivatives of perturb-max: of its probabilities, or of their logarithms.

The integral p_i = Σ_x w_i of :class:`MaxIntegral`, with weights w_i = G h_i dx and
hazards h_i = h(x - z_i), changes along a direction v of the scores by

    Σ_x w_i (v_i Σ_j h_j - Σ_j h_j v_j):

K operations for each node, without the derivative of the density, and nothing at all
for a v that moves all scores alike. Divided by p_i it is the change of log p_i.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ._base import Linearization
from ._panels import add_by_rows

# In numbers: weights are kept up to here, beyond they are computed when needed.
_KEEP_SIZE = 1 << 24
# Up to so many classes products are made with the Jacobian of each row, which takes
# about as much to form as a product with the nodes.
_FEW_CLASSES = 100
# Larger hazards meet weights of zero; this one may be squared.
_LARGEST_HAZARD = 1e100


class Nodes(NamedTuple):
    """Some nodes of an integral, as arrays (n_classes, n_nodes, n_panels).

    The distances d = x - z_i are computed when needed.
    """

    rows: np.ndarray
    x: np.ndarray
    z: np.ndarray
    weights: np.ndarray
    hazards: np.ndarray

    def of(self, array):
        """Rows of an array (n_rows, n_classes), to go with the nodes."""
        return array.T[:, None, self.rows]

    @property
    def d(self):
        return self.x - self.z


class MaxDerivatives:
    """Derivatives in the scores of some integrals.

    Parameters
    ----------
    integrals : sequence of MaxIntegral
        Of consecutive blocks of rows. If they are `relative`, the derivatives are
        those of the logarithms of the probabilities.
    dtype : dtype, default=float64
        Of all results.
    """

    def __init__(self, integrals, dtype=np.float64):
        self.integrals, self.dtype = integrals, dtype
        self._kept = [None] * len(integrals)
        self._hessian, self._is_used = None, False

    def all(self):
        first = self.integrals[0]
        if first.relative:
            value = [integral.log_probabilities() for integral in self.integrals]
        else:
            value = [integral.probabilities() for integral in self.integrals]
        value = np.concatenate(value).astype(self.dtype, copy=False)
        second = None if first.noise.slope is None else self.vjp_derivative
        if len(first.z) > _FEW_CLASSES or len(value) == 0:
            return Linearization(value, self.jvp, self.vjp, second)
        return Linearization(
            value,
            self._jacobian_product,
            self._transposed_product,
            second,
            None if first.relative else self._diagonal,
        )

    def jvp(self, direction):
        """The Jacobian times a direction, without the Jacobian."""

        def term(nodes, v):
            total = nodes.hazards.sum(axis=0)
            mean = (nodes.hazards * v).sum(axis=0)
            return nodes.weights * (v * total - mean)

        return self._sum(term, direction)

    def vjp(self, cotangent):
        """The transposed Jacobian times a cotangent, without the Jacobian."""

        def term(nodes, c):
            total = nodes.hazards.sum(axis=0)
            pull = c * nodes.weights
            return pull * total - nodes.hazards * pull.sum(axis=0)

        return self._sum(term, cotangent)

    @cached_property
    def jacobian(self):
        """The Jacobian of each row, (n_rows, n_classes, n_classes)."""
        (rates,) = self._matrices(lambda nodes: [(nodes.weights, nodes.hazards)])
        own = np.arange(rates.shape[1])
        rates[:, own, own] = 0
        # All scores moved alike change nothing.
        rates[:, own, own] = -rates.sum(axis=2)
        return -rates.astype(self.dtype, copy=False)

    def shape_derivative(self):
        """The derivative in the coordinate of the noise's shape."""
        first = self.integrals[0]

        def term(nodes):
            of_logpdf, of_logcdf = first.noise.shape_slopes(nodes.d)
            own = of_logpdf - of_logcdf
            return nodes.weights * (own + of_logcdf.sum(axis=0))

        rates = self._sum(term)
        # As probabilities are divided by their sum.
        p = np.concatenate([integral.probabilities() for integral in self.integrals])
        if first.relative:
            return rates - (p * rates).sum(axis=1, keepdims=True)
        return rates - p * rates.sum(axis=1, keepdims=True)

    def _transposed_product(self, cotangent):
        # The Jacobian is formed for the second product; a loss may want but one.
        if "jacobian" not in vars(self) and not self._is_used:
            self._is_used = True
            return self.vjp(cotangent)
        return np.einsum("nij,ni->nj", self.jacobian, cotangent)

    def _jacobian_product(self, direction):
        # What moves all scores alike is nothing, to the last digit.
        top = np.concatenate([integral.z.argmax(axis=0) for integral in self.integrals])
        differences = direction - np.take_along_axis(direction, top[:, None], axis=1)
        return np.einsum("nij,nj->ni", self.jacobian, differences)

    def _diagonal(self):
        return np.einsum("nii->ni", self.jacobian)

    def vjp_derivative(self, cotangent, direction):
        """The derivative of :meth:`vjp` as the scores move along a direction.

        Far from the largest score hazards are large numbers that differ by little. So
        what a change of the weights is multiplied with is taken about its mean: the
        changes themselves have sum zero.
        """
        if cotangent.shape[1] > _FEW_CLASSES or len(cotangent) == 0:
            return self._second_product(cotangent, direction)
        # A loss asks for many directions with one cotangent.
        if self._hessian is None or not np.array_equal(self._hessian[0], cotangent):
            self._hessian = cotangent.copy(), self._second_matrix(cotangent)
        differences = direction - direction[:, :1]
        return np.einsum("nij,nj->ni", self._hessian[1], differences)

    def _second_product(self, cotangent, direction):
        cotangent, total, mean = self._centred(cotangent)
        level = np.zeros_like(direction)
        if self.integrals[0].relative:

            def change(nodes, v):
                return nodes.weights * (self._rate(nodes) * v - _inner(nodes, v))

            level = self._sum(change, direction) / total

        def term(nodes, c, v, level, mean):
            log_h = self._rate(nodes) * v
            dh = nodes.hazards * log_h
            pull = c * nodes.weights
            dpull = pull * (log_h - _inner(nodes, v) - level)
            h = nodes.hazards - mean
            return (
                dpull * h.sum(axis=0)
                + pull * dh.sum(axis=0)
                - dh * pull.sum(axis=0)
                - h * dpull.sum(axis=0)
            )

        return self._sum(term, cotangent, direction, level, mean)

    def _second_matrix(self, cotangent):
        """The same as matrices, (n_rows, n_classes, n_classes)."""
        cotangent, total, mean = self._centred(cotangent)

        def own(nodes, c, mean):
            rate, pull = self._rate(nodes), c * nodes.weights
            above = (nodes.hazards - mean).sum(axis=0)
            return pull * rate * above - nodes.hazards * rate * pull.sum(axis=0)

        def products(nodes, c, mean):
            rate, pull = self._rate(nodes), c * nodes.weights
            h = nodes.hazards - mean
            return [
                (h * pull.sum(axis=0) - pull * h.sum(axis=0), nodes.hazards),
                (pull, nodes.hazards * rate),
                (-h, pull * rate),
            ]

        matrix = sum(self._matrices(products, cotangent, mean))
        index = np.arange(matrix.shape[1])
        matrix[:, index, index] += self._sum(own, cotangent, mean)
        if self.integrals[0].relative:
            # The change of a weight is relative to that of its integral.
            (level,) = self._matrices(lambda nodes: [(-nodes.weights, nodes.hazards)])
            level[:, index, index] += self._sum(
                lambda nodes: nodes.weights * self._rate(nodes)
            )
            level /= total[:, :, None]
            (turn,) = self._matrices(
                lambda nodes, c, mean: [(nodes.hazards - mean, c * nodes.weights)],
                cotangent,
                mean,
            )
            pushed = self._sum(
                lambda nodes, c, mean: (
                    c * nodes.weights * (nodes.hazards - mean).sum(axis=0)
                ),
                cotangent,
                mean,
            )
            matrix += turn @ level - pushed[:, :, None] * level
        return matrix.astype(self.dtype, copy=False)

    def _centred(self, cotangent):
        """Cotangent, sums of the weights, and means of the hazards to subtract.

        Relative weights have sum one, but for the rounding of the logarithm that they
        are relative to; the cotangent is divided by what the sum is.
        """
        if not self.integrals[0].relative:
            return cotangent, None, np.zeros_like(cotangent)
        total = self._total
        cotangent = cotangent / total
        pull = np.abs(cotangent)
        size = (pull * total).sum(axis=1, keepdims=True)
        pull /= np.where(size > 0, size, 1)
        mean = self._sum(
            lambda nodes, c: nodes.hazards * (c * nodes.weights).sum(axis=0), pull
        )
        return cotangent, total, mean

    @cached_property
    def _total(self):
        total = self._sum(lambda nodes: nodes.weights)
        total[total == 0] = 1
        return total

    def _rate(self, nodes):
        """The change of the logarithm of a hazard with its score."""
        with np.errstate(all="ignore"):
            slope = self.integrals[0].noise.log_hazard_slope(nodes.d, nodes.hazards)
        return -np.nan_to_num(slope, posinf=0, neginf=0)

    def _matrices(self, pairs, *arrays):
        """Sums over the nodes of products of two arrays, class by class, for each pair.

        Parameters
        ----------
        pairs : callable
            From some nodes, and what belongs to them of the arrays, to pairs of arrays
            (n_classes, n_nodes, n_panels).

        Returns
        -------
        matrices : list of ndarray of shape (n_rows, n_classes, n_classes)
        """
        parts, start = [], 0
        for integral, chunks in self._all_nodes():
            n_classes, n_rows = integral.z.shape
            block = [array[start : start + n_rows] for array in arrays]
            start += n_rows
            totals = []
            for nodes in chunks:
                starts = np.flatnonzero(np.diff(nodes.rows, prepend=-1))
                both = pairs(nodes, *(nodes.of(array) for array in block))
                for index, (left, right) in enumerate(both):
                    if index == len(totals):
                        totals.append(np.zeros((n_rows, n_classes, n_classes)))
                    left = np.ascontiguousarray(np.moveaxis(left, -1, 0))
                    product = left @ np.ascontiguousarray(right.T)
                    totals[index][nodes.rows[starts]] += np.add.reduceat(
                        product, starts, axis=0
                    )
            parts.append(totals)
        return [np.concatenate(matrices) for matrices in zip(*parts, strict=True)]

    def _sum(self, term, *arrays):
        """Sum a term over the nodes of each row."""
        parts, start = [], 0
        for integral, chunks in self._all_nodes():
            n_classes, n_rows = integral.z.shape
            block = [array[start : start + n_rows] for array in arrays]
            start += n_rows
            total = np.zeros((n_classes, n_rows))
            for nodes in chunks:
                terms = term(nodes, *(nodes.of(array) for array in block))
                add_by_rows(total, nodes.rows, terms.sum(axis=1))
            parts.append(total.T)
        return np.concatenate(parts).astype(self.dtype, copy=False)

    def _all_nodes(self):
        """Each integral and its nodes, kept from the first time on if they are few."""
        size = sum(integral.n_nodes * len(integral.z) for integral in self.integrals)
        for index, integral in enumerate(self.integrals):
            if self._kept[index] is not None:
                yield integral, self._kept[index]
            elif size <= _KEEP_SIZE:
                self._kept[index] = list(self._nodes(integral))
                yield integral, self._kept[index]
            else:
                yield integral, self._nodes(integral)

    def _nodes(self, integral):
        for panels, integrand in integral.integrands():
            with np.errstate(all="ignore"):
                if integral.in_logs:
                    x, weights, log_unit, hazards = integrand
                    np.exp(hazards, out=hazards)
                else:
                    x, _, common, hazards = integrand
                    weights, log_unit = hazards * common, 0.0
                weights *= panels.rule.weights[:, None]
                if integral.relative:
                    log_p = integral.log_p[:, panels.rows]
                    unit = np.where(log_p > -np.inf, np.exp(log_unit - log_p), 0)
                    weights *= unit[:, None]
            np.minimum(hazards, _LARGEST_HAZARD, out=hazards)
            z = integral.z[:, None, panels.rows]
            yield Nodes(panels.rows, x, z, weights, hazards)


def _inner(nodes, direction):
    return (nodes.hazards * direction).sum(axis=0)
