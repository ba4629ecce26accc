"""Moments of features whose mean and deviation are those of one outlier.

With n rows of equal weight, of which one has the value v and the others about 0, the
mean is v / n and the deviation v √(n - 1) / n. In these units all other rows are equal
up to rounding: a fit ends when the outlier has no loss, and reports success. The units
of such a feature come from the other rows.
"""

import numpy as np

from ..data import DenseDesign
from ._block import pooled_moments

# An outlier is at least this many deviations of the other rows away from zero. With
# smaller ones fits converge in the units of all rows.
_FAR = 1e6
# Relative error of the deviation, computed from the mean.
_ERROR = 0.005


def moments_without_outlier(blocks, description, mean, deviation):
    """Mean and deviation (n_features,), of the other rows if one is an outlier.

    Parameters
    ----------
    blocks : Blocks of Block
        Only rows in NumPy arrays can have an outlier: a sparse feature of one row, such
        as a rare word, is none.
    description : Description
        Of the blocks.
    mean, deviation : ndarray of shape (n_features,)
        Of all rows.
    """
    n_rows = description.n_rows
    excess = np.sqrt(n_rows - 1) * np.abs(mean) - deviation
    (some,) = (np.abs(excess) < _ERROR * deviation).nonzero()
    is_dense = description.n_stored == n_rows * len(mean) and description.is_on_host
    if len(some) == 0 or n_rows < 3 or not is_dense:
        return mean, deviation
    outlier = n_rows * np.abs(mean[some])
    parts = blocks.map(_moments_within, some, outlier / 2)
    _, other_mean, other_deviation = pooled_moments(parts)
    # If all other rows are equal, the feature is an indicator of one row.
    is_far = (other_deviation > 0) & (_FAR * other_deviation < outlier)
    mean, deviation = mean.copy(), deviation.copy()
    mean[some[is_far]] = other_mean[is_far]
    deviation[some[is_far]] = other_deviation[is_far]
    return mean, deviation


def _moments_within(block, features, bound):
    """Moments of some features, of the rows where none of them exceeds its bound."""
    columns = block.design.columns(slice(None))[features]
    is_within = (np.abs(columns) <= bound[:, None]).all(axis=0)
    weight = np.where(is_within, block.weight, 0)
    return DenseDesign(columns.T).moments(weight)
