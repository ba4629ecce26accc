"""Intercepts to start from: the best ones while all coefficients are zero.

The probability of a label is then the same in all rows, and the best one is the label's
frequency. From an intercept of zero a rare label takes two or three steps to reach it.
"""

import numpy as np

from ...targets import DenseTarget

# Largest intercept, at which one of 1e17 rows has the label, and number of halvings of
# the interval, after which the error is below 1e-5.
_LARGEST, _HALVINGS = 40.0, 23


def with_best_intercepts(objective, parameters):
    """Parameters (M, size) with the best intercepts where an output's are all zero.

    It takes no pass. The parameters do not change if rows have offsets or available
    labels, or if there is no intercept.
    """
    description = objective.description
    if not description.has_intercept or description.has_row_scores:
        return parameters
    free = np.flatnonzero(~parameters.any(axis=1))
    if not len(free):
        return parameters
    # The loss of a label in all rows is that of one row whose target is its frequency.
    target = DenseTarget(objective.class_means[free][:, None])
    low = np.full(len(free), -_LARGEST)
    width = 2 * _LARGEST
    for _ in range(_HALVINGS):
        width /= 2
        linear = objective.loss.linearize((low + width)[:, None], target)
        low = np.where(linear.residual()[:, 0] < 0, low + width, low)
    start = parameters.copy()
    start[free, -1] = low
    return start
