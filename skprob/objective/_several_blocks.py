"""Description, and moments of the columns, of several blocks from those of each."""

import numpy as np

from ._description import Description


def joined_description(parts):
    """Description of the rows of all blocks.

    Parameters
    ----------
    parts : Blocks of Description
        Description of the rows of each block.
    """
    (
        n_blocks,
        n_rows,
        n_stored,
        n_single_precision,
        n_dense,
        n_row_scores,
        n_on_host,
        *of_shapes,
    ) = map(int, parts.sum(_numbers))
    # All blocks have these numbers.
    n_classes, n_columns, itemsize = (total // n_blocks for total in of_shapes)
    return Description(
        n_rows=n_rows,
        n_stored=n_stored,
        shape=(n_classes, n_columns),
        dtype=np.dtype(f"f{itemsize}"),
        suits_single_precision=n_single_precision == n_blocks,
        is_dense=n_dense == n_blocks,
        has_row_scores=n_row_scores == n_blocks,
        is_on_host=n_on_host == n_blocks,
        is_remote=parts.is_remote,
    )


def _numbers(description):
    """Numbers of a block's description, to be added up."""
    return (
        1,
        description.n_rows,
        description.n_stored,
        description.suits_single_precision,
        description.is_dense,
        description.has_row_scores,
        description.is_on_host,
        *description.shape,
        description.dtype.itemsize,
    )


def pooled_moments(parts):
    """Total weight, and weighted mean and deviation of each column, of all rows.

    Parameters
    ----------
    parts : Blocks of tuple
        The moments of each block: see :meth:`~skprob.data.DenseDesign.moments`.
    """
    total, mean = parts.sum(_weighted_mean)
    total = float(total)
    # If the total weight is zero, all moments are zero.
    weight = total or 1.0
    mean = mean / weight
    # Divided by the mean deviation, squares do not underflow.
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
