"""The integral of a function from minus infinity, by Gauss-Lobatto rules."""

import numpy as np

from ._lobatto import gauss_lobatto

_N_NODES = 12
# Lowest argument: squares of smaller numbers overflow. An integral that has not
# converged at this argument counts as infinite.
LOWEST = -1e150
# Allowed error of an interval, for a function with values up to about one.
_ERROR = 1e-16
_MOST_HALVINGS = 60
# Largest number of values of the function: 8 MB, enough for a thousand kinks.
_MOST_VALUES = 1_000_000
# Values near one have rounding errors of about this size, also where the function
# computes small values as differences of such values.
_ROUNDING = 64 * np.finfo(np.float64).eps
# Allowed error of the whole integral, where rounding errors of the function or the
# number of its values limit it.
_LARGEST_ERROR = 1e-7


class Antiderivative:
    """The integral of an increasing function that is not negative.

    The line below `top` is divided into intervals, each twice as long as the interval
    above. An interval is halved until one rule is accurate.

    Parameters
    ----------
    function : callable
        Function of an array, element by element.
    top : float
        The largest argument.
    n_intervals : int
        Number of intervals before they are halved. Below them the integral is zero.

    Raises
    ------
    ValueError
        If the integral takes too many values of the function, or its error is too
        large.
    """

    def __init__(self, function, top, n_intervals):
        self._function = function
        edges, integrals, n_values, error = _integrated(function, top, n_intervals)
        if error > _LARGEST_ERROR:
            raise ValueError(
                f"The integral of g up to {top:.6g} has an error of about {error:.1g} "
                f"after {n_values} values of g; at most {_LARGEST_ERROR:.0e} is "
                f"allowed, with at most {_MOST_VALUES} values. g must be smooth except "
                "for some kinks, and accurate in double precision, also where it is "
                "small (no difference of large numbers); or give its antiderivative "
                "as `integral`. A classifier with loss='log' needs no integral."
            )
        order = np.argsort(edges)
        self._edges = edges[order]
        self._totals = np.append(0, np.cumsum(integrals[order]))

    def __call__(self, x):
        """The integral up to each entry of an array, none above the top."""
        nodes, weights, _ = gauss_lobatto(_N_NODES)
        panel = np.maximum(np.searchsorted(self._edges, x, side="right") - 1, 0)
        start = self._edges[panel]
        width = np.maximum(x - start, 0)
        values = self._function(start[..., None] + width[..., None] * nodes)
        return self._totals[panel] + width * (values @ weights)


def interval_ends(top, n_intervals):
    """Ends of intervals of lengths 1, 2, 4, …: from the top downwards."""
    return top - np.concatenate([[0], np.cumsum(2.0 ** np.arange(n_intervals))])


def _integrated(function, top, n_intervals):
    """Intervals that are short enough for one rule, and the integrals over them.

    Returns
    -------
    edges, integrals : ndarray of shape (n,)
        Lower end of each interval, in any order, and the integral over it.
    n_values : int
        Number of values of the function that were computed.
    error : float
        Sum of the estimated errors.
    """
    nodes, weights, to_halves = gauss_lobatto(_N_NODES)
    width = 2.0 ** np.arange(n_intervals)
    low = interval_ends(top, n_intervals)[1:]
    last_node_errors = np.full(len(low), np.inf)
    edges, parts, n_values, error = [], [], 0, 0.0
    for depth in range(_MOST_HALVINGS):
        # 1. Both halves of each interval, and how far one rule is from their values.
        width = width / 2
        starts = np.stack([low, low + width], axis=1).reshape(-1)
        points = low[:, None] + 2 * width[:, None] * nodes
        halves = starts[:, None] + np.repeat(width, 2)[:, None] * nodes
        values = function(halves).reshape(len(low), -1)
        node_errors = np.abs(values - function(points) @ to_halves.T).max(axis=1)
        n_values += points.size + halves.size
        errors = 2 * width * node_errors

        # 2. Which intervals are short enough.
        # Rounding errors of the function do not decrease if an interval is halved.
        is_rounding = (node_errors <= _ROUNDING) & (node_errors > last_node_errors / 4)
        is_accurate = (errors <= _ERROR) | is_rounding
        n_next = 6 * _N_NODES * np.count_nonzero(~is_accurate)
        if n_values + n_next > _MOST_VALUES or depth == _MOST_HALVINGS - 1:
            is_accurate[:] = True

        # 3. Keep these, and halve the others.
        error += errors[is_accurate].sum()
        integrals = (values.reshape(-1, _N_NODES) @ weights) * np.repeat(width, 2)
        accurate_halves = np.repeat(is_accurate, 2)
        edges.append(starts[accurate_halves])
        parts.append(integrals[accurate_halves])
        if is_accurate.all():
            break
        low, width = starts[~accurate_halves], np.repeat(width[~is_accurate], 2)
        last_node_errors = np.repeat(node_errors[~is_accurate], 2)
    return np.concatenate(edges), np.concatenate(parts), n_values, error
