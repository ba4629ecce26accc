"""Coverage of sets in groups of rows, with intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

# Probability that a group's interval contains the coverage of all rows.
_CONFIDENCE = 0.95


class Group(NamedTuple):
    """Coverage of some of the rows.

    Attributes
    ----------
    name : object
        The class, or the size of the sets.
    n_rows : int
    size : float
        Mean number of classes in the sets of these rows.
    coverage : float
        Share of the sets that contain the truth.
    low, high : float
        95 % interval of the coverage of new rows like these (Clopper-Pearson).
    """

    name: object
    n_rows: int
    size: float
    coverage: float
    low: float
    high: float


def groups_of(sets, true, classes, is_labels):
    """Coverage by class, and by size.

    Parameters
    ----------
    sets, true : ndarray of bool of shape (n_samples, n_classes)
        The predicted sets, and the true labels.
    classes : ndarray of shape (n_classes,)
        Names of the columns.
    is_labels : bool
        Whether each row has one true label; otherwise the coverage by size is a mean
        recall, which has no interval.

    Returns
    -------
    by_class, by_size : list of Group
    """
    sizes, n_true = sets.sum(axis=1), true.sum(axis=1)
    covered = sets & true
    by_class = []
    for k in np.flatnonzero(true.any(axis=0)):
        rows = true[:, k]
        name = classes[k].item() if hasattr(classes[k], "item") else classes[k]
        by_class.append(_group(name, sizes[rows], covered[rows, k], is_share=True))
    if not by_class:
        raise ValueError("y_true must have a row with a label; it has none.")
    recall = covered.sum(axis=1) / np.maximum(n_true, 1)
    by_size = []
    for size in np.unique(sizes[n_true > 0]).tolist():
        rows = (sizes == size) & (n_true > 0)
        by_size.append(_group(size, sizes[rows], recall[rows], is_share=is_labels))
    return by_class, by_size


def _group(name, sizes, covered, is_share):
    """Coverage of some rows, with an interval if it is a share of the rows."""
    n_rows, n_covered = len(covered), covered.sum()
    low = high = np.nan
    if is_share:
        interval = stats.binomtest(int(n_covered), n_rows).proportion_ci(_CONFIDENCE)
        low, high = float(interval.low), float(interval.high)
    return Group(
        name=name,
        n_rows=n_rows,
        size=float(sizes.mean()),
        coverage=float(n_covered / n_rows),
        low=low,
        high=high,
    )
