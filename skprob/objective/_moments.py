"""Means and deviations of the columns of several blocks, from those of each block."""

import numpy as np


def pooled_moments(parts):
    """Total weight, and weighted mean and deviation of each column, of all rows.

    Parameters
    ----------
    parts : Blocks of tuple
        The moments of each block: see :meth:`~skprob.data.DesignMatrix.moments`.
    """
    total, mean = parts.sum(_weighted_mean)
    total = float(total)
    # If the total weight is zero, all moments are zero.
    weight = total or 1.0
    mean = mean / weight
    # In units of the mean deviation, so that squares do not underflow.
    (unit,) = parts.sum(_spread, mean, 1.0, 1)
    unit[unit == 0] = 1
    (square,) = parts.sum(_spread, mean, unit, 2)
    return total, mean, unit * np.sqrt(square / weight)


def _weighted_mean(part):
    total, mean, _ = part
    return total, total * mean


def _spread(part, mean, unit, power):
    """Weighted power of the deviations, in a unit, from a mean."""
    total, block_mean, deviation = part
    return (total * (np.hypot(deviation, block_mean - mean) / unit) ** power,)
