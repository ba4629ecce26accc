"""Quantities of some rows of a block: arrays in float64, and in NumPy."""

import numpy as np

from ..._utils.arrays import to_numpy
from .._block_point import BlockPoint

# Numbers of a part of the rows that are in memory at a time (16 MiB).
_PART = 1 << 21


def parts_of_rows(point, width):
    """Yield slices of the rows, and the points there, whose arrays have a limited size.

    `width` is the number of numbers for each row.
    """
    n_rows, block = point.raw.shape[0], point.block
    length = max(_PART // width, 1)
    for start in range(0, n_rows, length):
        rows = slice(start, start + length)
        if length >= n_rows:
            yield rows, point
            return
        numbers = np.arange(*rows.indices(n_rows))
        yield rows, BlockPoint(block.take(numbers), point.loss, point.raw[rows])


def columns_of(point):
    """Columns of the design: (size, n_rows)."""
    return to_numpy(point.block.design.columns(slice(None)))


def raw_of(point):
    """Raw predictions: (n_rows, M)."""
    return to_numpy(point.raw).astype(np.float64)


def weighted_gradients_of(point):
    """Gradients of the weighted losses in the raw predictions: (n_rows, M)."""
    return to_numpy(point.linear.residual()) * weights_of(point)


def weights_of(point):
    """Weights of the rows: (n_rows, 1)."""
    return to_numpy(point.block.weight).astype(np.float64)[:, None]
