"""Some rows of each block, drawn at random, in place of all."""

import math
from dataclasses import replace

import numpy as np

from ..._utils.arrays import take, to_numpy
from .._block_point import BlockPoint


def drawn_rows(objective, share):
    """Numbers of the rows of an objective that a share of them draws, in order.

    They do not depend on the data: each block draws its share at random.
    """
    lengths = objective.blocks.collect(_number_of_rows)
    starts = np.cumsum([0, *lengths[:-1]])
    pairs = zip(starts, lengths, strict=True)
    return np.concatenate([start + _draw(n_rows, share) for start, n_rows in pairs])


def drawn_points(points, share):
    """The ``BlockPoint`` of each block, of only a share of its rows."""
    return points.map(_with_drawn_rows, share)


def effective_rows(points):
    """Rows of equal curvature that have that of the rows, in one raw prediction.

    The one that has fewest.
    """
    total, squares = points.sum(_total_and_squares)
    return float((total**2 / np.maximum(squares, np.finfo(float).tiny)).min())


def with_weights_times(points, factor):
    """The ``BlockPoint`` of each block, with weights times a factor."""
    return points.map(_with_weight_times, factor)


def _draw(n_rows, share):
    """Numbers of the drawn rows of a block, in order."""
    n_drawn = math.ceil(share * n_rows)
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n_rows, min(n_drawn, n_rows), replace=False))


# Functions of a block, or of its point, for Blocks.collect, Blocks.map and Blocks.sum.


def _number_of_rows(block):
    return block.design.shape[0]


def _with_drawn_rows(point, share):
    numbers = _draw(point.raw.shape[0], share)
    return BlockPoint(point.block.take(numbers), point.loss, take(point.raw, numbers))


def _with_weight_times(point, factor):
    block = replace(point.block, weight=factor * point.block.weight)
    return BlockPoint(block, point.loss, point.raw)


def _total_and_squares(point):
    curvature = to_numpy(point.curvature())
    return curvature.sum(axis=0), np.square(curvature).sum(axis=0)
