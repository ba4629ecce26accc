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

    def all(self):
        first = self.integrals[0]
        if first.relative:
            value = [integral.log_probabilities() for integral in self.integrals]
        else:
            value = [integral.probabilities() for integral in self.integrals]
        value = np.concatenate(value).astype(self.dtype, copy=False)
        second = None if first.noise.slope is None else self.vjp_derivative
        if len(first.z) > _FEW_CLASSES:
            return Linearization(value, self.jvp, self.vjp, second)
        return Linearization(
            value,
            self._jacobian_product,
            lambda cotangent: np.einsum("nij,ni->nj", self.jacobian, cotangent),
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
        parts = []
        for integral, chunks in self._all_nodes():
            n_classes, n_rows = integral.z.shape
            total = np.zeros((n_rows, n_classes, n_classes))
            for nodes in chunks:
                w = np.ascontiguousarray(np.moveaxis(nodes.weights, -1, 0))
                h = np.ascontiguousarray(nodes.hazards.T)
                starts = np.flatnonzero(np.diff(nodes.rows, prepend=-1))
                rates = np.add.reduceat(w @ h, starts, axis=0)
                total[nodes.rows[starts]] -= rates
            own = np.arange(n_classes)
            total[:, own, own] = 0
            # All scores moved alike change nothing.
            total[:, own, own] = -total.sum(axis=2)
            parts.append(total)
        return np.concatenate(parts).astype(self.dtype, copy=False)

    def _jacobian_product(self, direction):
        # What moves all scores alike is nothing, to the last digit.
        top = np.concatenate([integral.z.argmax(axis=0) for integral in self.integrals])
        differences = direction - np.take_along_axis(direction, top[:, None], axis=1)
        return np.einsum("nij,nj->ni", self.jacobian, differences)

    def _diagonal(self):
        return np.einsum("nii->ni", self.jacobian)

    def vjp_derivative(self, cotangent, direction):
        """The derivative of :meth:`vjp` as the scores move along a direction.

        What a sum of weights is multiplied with is taken about its mean: far from the
        largest score hazards are large numbers that differ by little.
        """
        noise, is_relative = self.integrals[0].noise, self.integrals[0].relative

        def rates(nodes, v):
            # Of the logarithms of hazards, of which φ' is a part; and of weights.
            with np.errstate(all="ignore"):
                slope = noise.log_hazard_slope(nodes.d, nodes.hazards)
                log_h = -np.nan_to_num(slope, posinf=0, neginf=0) * v
            return log_h, log_h - (nodes.hazards * v).sum(axis=0)

        level = mean = np.zeros_like(direction)
        if is_relative:
            # One, but for the rounding of the logarithm that weights are relative to.
            total = self._sum(lambda nodes: nodes.weights)
            total[total == 0] = 1
            level = self._sum(
                lambda nodes, v: nodes.weights * rates(nodes, v)[1], direction
            )
            level /= total
            cotangent = cotangent / total
            pull = np.abs(cotangent)
            size = (pull * total).sum(axis=1, keepdims=True)
            pull /= np.where(size > 0, size, 1)
            mean = self._sum(
                lambda nodes, c: nodes.hazards * (c * nodes.weights).sum(axis=0), pull
            )

        def term(nodes, c, v, level, mean):
            log_h, log_w = rates(nodes, v)
            dh = nodes.hazards * log_h
            pull = c * nodes.weights
            dpull = pull * (log_w - level)
            h = nodes.hazards - mean
            return (
                dpull * h.sum(axis=0)
                + pull * dh.sum(axis=0)
                - dh * pull.sum(axis=0)
                - h * dpull.sum(axis=0)
            )

        return self._sum(term, cotangent, direction, level, mean)

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
        for panels in integral.chunks():
            with np.errstate(all="ignore"):
                if integral.in_logs:
                    x, weights, log_unit, hazards = integral.log_integrand(panels)
                    np.exp(hazards, out=hazards)
                else:
                    x, _, common, hazards = integral.integrand(panels)
                    weights, log_unit = hazards * common, 0.0
                weights *= panels.rule.weights[:, None]
                if integral.relative:
                    log_p = integral.log_p[:, panels.rows]
                    unit = np.where(log_p > -np.inf, np.exp(log_unit - log_p), 0)
                    weights *= unit[:, None]
            np.minimum(hazards, _LARGEST_HAZARD, out=hazards)
            z = integral.z[:, None, panels.rows]
            yield Nodes(panels.rows, x, z, weights, hazards)
