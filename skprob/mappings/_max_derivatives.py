"""Derivatives of perturb-max: of its probabilities, or of their logarithms.

The integral p_i = Σ_x w_i of :class:`MaxIntegral`, with weights w_i = G h_i dx and
hazards h_i = h(x - z_i), changes along a direction v of the scores by

    Σ_x w_i (v_i Σ_j h_j - Σ_j h_j v_j):

K operations for each node, without the derivative of the density, and nothing at all
for a v that moves all scores alike. Divided by p_i it is the change of log p_i.
"""

from typing import NamedTuple

import numpy as np

from ._base import Linearization
from ._panels import sum_by_rows

# In numbers: weights are kept up to here, beyond they are computed when needed.
_KEEP_SIZE = 1 << 24
# Larger hazards meet weights of zero; this one may be squared.
_LARGEST_HAZARD = 1e100


class Nodes(NamedTuple):
    """Some nodes of an integral, as arrays (n_classes, n_panels, n_nodes)."""

    rows: np.ndarray
    d: np.ndarray
    weights: np.ndarray
    hazards: np.ndarray

    def of(self, array):
        """Rows of an array (n_rows, n_classes), to go with the nodes."""
        return array.T[:, self.rows, None]


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
        size = sum(
            len(integral.panels) * integral.rule.order * len(integral.z)
            for integral in integrals
        )
        self._kept = None
        if size <= _KEEP_SIZE:
            self._kept = [list(self._nodes(integral)) for integral in integrals]

    def all(self):
        first = self.integrals[0]
        value = np.concatenate([i.log_probabilities() for i in self.integrals])
        if not first.relative:
            np.exp(value, out=value)
        second = None if first.noise.slope is None else self.vjp_derivative
        value = value.astype(self.dtype, copy=False)
        return Linearization(value, self.jvp, self.vjp, second)

    def jvp(self, direction):
        def term(nodes, v):
            total = nodes.hazards.sum(axis=0)
            mean = (nodes.hazards * v).sum(axis=0)
            return nodes.weights * (v * total - mean)

        return self._sum(term, direction)

    def vjp(self, cotangent):
        def term(nodes, c):
            total = nodes.hazards.sum(axis=0)
            pull = c * nodes.weights
            return pull * total - nodes.hazards * pull.sum(axis=0)

        return self._sum(term, cotangent)

    def jacobian(self):
        """The Jacobian of each row, (n_rows, n_classes, n_classes)."""

        def term(nodes):
            # In the order (n_panels, n_classes, n_nodes).
            w, h = nodes.weights.swapaxes(0, 1), nodes.hazards.swapaxes(0, 1)
            rates = -w @ h.swapaxes(1, 2)
            own = np.arange(rates.shape[1])
            rates[:, own, own] += (w * h.sum(axis=1, keepdims=True)).sum(axis=2)
            return np.moveaxis(rates, 0, -1)[..., None]

        return self._sum(term)

    def vjp_derivative(self, cotangent, direction):
        first = self.integrals[0]
        # A weight is relative to its integral if that is what is differentiated.
        level = self.jvp(direction) if first.relative else np.zeros_like(direction)

        def term(nodes, c, v, level):
            h, w = nodes.hazards, nodes.weights
            # d log h, of which φ' is a part.
            with np.errstate(all="ignore"):
                slope = np.nan_to_num(first.noise.slope(nodes.d), posinf=0, neginf=0)
            log_h = (h - slope) * v
            dh = h * log_h
            pull = c * w
            dpull = pull * (log_h - (h * v).sum(axis=0) - level)
            return (
                dpull * h.sum(axis=0)
                + pull * dh.sum(axis=0)
                - dh * pull.sum(axis=0)
                - h * dpull.sum(axis=0)
            )

        return self._sum(term, cotangent, direction, level)

    def _sum(self, term, *arrays):
        """Sum a term over the nodes of each row."""
        parts, start = [], 0
        for index, integral in enumerate(self.integrals):
            n_classes, n_rows = integral.z.shape
            block = [array[start : start + n_rows] for array in arrays]
            start += n_rows
            total = np.zeros((n_classes, n_rows))
            chunks = self._nodes(integral) if self._kept is None else self._kept[index]
            for nodes in chunks:
                terms = term(nodes, *(nodes.of(array) for array in block))
                total = total + sum_by_rows(nodes.rows, terms.sum(axis=-1), n_rows)
            parts.append(np.moveaxis(total, -1, 0))
        return np.concatenate(parts).astype(self.dtype, copy=False)

    def _nodes(self, integral):
        for panels in integral.chunks():
            with np.errstate(all="ignore"):
                x, weights, log_unit, hazards = integral.integrand(panels)
                weights *= integral.rule.weights
                if integral.relative:
                    log_p = integral.log_p[:, panels.rows]
                    unit = np.where(log_p > -np.inf, np.exp(log_unit - log_p), 0)
                    weights *= unit[..., None]
                if integral.in_logs:
                    hazards = np.exp(hazards)
            np.minimum(hazards, _LARGEST_HAZARD, out=hazards)
            d = x - integral.z[:, panels.rows, None]
            yield Nodes(panels.rows, d, weights, hazards)
