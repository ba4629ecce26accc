"""The integral of a function from minus infinity, by Gauss-Lobatto rules."""

import numpy as np

from .._lobatto import gauss_lobatto

_N_NODES = 12
# Below it squares overflow; an integral that has not converged there does not.
LOWEST = -1e150
# Of the integral of a function with values up to about one.
_ERROR = 1e-16
_MOST_HALVINGS = 60


class Antiderivative:
    """The integral of an increasing function that is not negative.

    The way down from `top` is cut where one rule is not enough, once for all.

    Parameters
    ----------
    function : callable
        Of an array, element by element.
    top : float
        The largest argument.
    """

    def __init__(self, function, top):
        self._function = function
        nodes, weights, to_halves = gauss_lobatto(_N_NODES)
        widths = 2.0 ** np.arange(500)
        ends = top - np.concatenate([[0], np.cumsum(widths)])
        low, width = ends[1:], widths
        edges, parts = [], []
        for _ in range(_MOST_HALVINGS):
            if not len(low):
                break
            width = width / 2
            starts = np.stack([low, low + width], axis=1).reshape(-1)
            at = low[:, None] + 2 * width[:, None] * nodes
            halves = starts[:, None] + np.repeat(width, 2)[:, None] * nodes
            values = function(halves).reshape(len(low), -1)
            off = np.abs(values - function(at) @ to_halves.T).max(axis=1)
            done = 2 * width * off <= _ERROR
            values = values.reshape(-1, _N_NODES)
            parts_of = (values @ weights) * np.repeat(width, 2)
            both = np.repeat(done, 2)
            edges.append(starts[both])
            parts.append(parts_of[both])
            low, width = starts[~both], np.repeat(width[~done], 2)
        edges, parts = map(np.concatenate, (edges, parts))
        order = np.argsort(edges)
        self._edges = edges[order]
        self._totals = np.append(0, np.cumsum(parts[order]))

    @property
    def converges(self):
        """Whether far down nothing is left."""
        far = np.searchsorted(self._edges, -1e100)
        return bool(self._totals[far] <= 1e-12)

    def __call__(self, x):
        """The integral up to each entry of an array, none above the top."""
        nodes, weights, _ = gauss_lobatto(_N_NODES)
        panel = np.maximum(np.searchsorted(self._edges, x, side="right") - 1, 0)
        start = self._edges[panel]
        width = np.maximum(x - start, 0)
        values = self._function(start[..., None] + width[..., None] * nodes)
        return self._totals[panel] + width * (values @ weights)
