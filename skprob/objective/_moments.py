"""Moments of all rows, from those of blocks."""

import numpy as np

from ..data import SingleBlock


def pooled_moments(parts):
    """Total weight, and weighted mean and deviation of each column, of all rows.

    Parameters
    ----------
    parts : Blocks of tuple
        The same for each block: see :meth:`~skprob.data.DesignMatrix.moments`.
    """
    if isinstance(parts, SingleBlock):
        return parts.single
    total, mean = parts.sum(_weighted_mean)
    total = float(total)
    # If the total weight is zero, all moments are zero.
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
    total, block_mean, deviation = part
    return (total * (np.hypot(deviation, block_mean - mean) / unit) ** power,)
