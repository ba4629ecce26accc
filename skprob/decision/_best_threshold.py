"""The cut of the highest micro-F1, from a block of probabilities at a time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._utils.typing import Array, MatrixLike
from ._blocks import with_rows

# Factor by which a bound is relaxed, because sums have rounding errors.
_ROUNDING = 1.001


def best_threshold(blocks: Iterable[Array], labels: MatrixLike, weight: Array) -> float:
    """The cut of the highest micro-F1.

    Parameters
    ----------
    blocks : iterable of ndarray of shape (n_rows, n_classes)
        Non-negative rows, one block of them after the other. Iterated over twice, so
        that no more than a block need be in memory.
    labels : CSR matrix of shape (n_samples, n_classes)
        0/1 indicator with a label in at least one row of positive weight.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.

    Returns
    -------
    threshold : float
        Half way between the smallest probability above it and the next smaller one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> p = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]])
    >>> labels = csr_array([[1, 0, 0], [1, 1, 0]])
    >>> round(best_threshold([p], labels, np.ones(2)), 2)
    0.35
    """
    # F1 does not depend on the unit of the weights, and their sums could overflow.
    weight = weight / weight.max()
    n_true = weight @ np.diff(labels.indptr)
    # F1 rises only where a true label joins, so that these are all the candidates.
    cuts, hits, total = _candidates(blocks, labels, weight)
    # At most sum / cut probabilities of a row are as large as the cut. This gives a
    # lower bound of F1, and a candidate whose F1 is smaller cannot win.
    with np.errstate(over="ignore"):
        most = np.minimum(total / cuts, weight.sum() * labels.shape[1])
    guaranteed = (2 * hits / (_ROUNDING * most + n_true)).max()
    predicted, next_smaller = np.zeros(len(cuts)), np.zeros_like(cuts)
    for p, row_weight in with_rows(blocks, weight):
        rows, columns = np.nonzero(p >= cuts[-1])
        values = p[rows, columns]
        order = np.argsort(values)
        values = values[order]
        total = np.append(0, np.cumsum(row_weight[rows[order]]))
        n_below = np.searchsorted(values, cuts)
        predicted += total[-1] - total[n_below]
        below = np.append(values, 0)[n_below - 1]
        np.maximum(next_smaller, below, out=next_smaller)
        can_win = 2 * hits / (predicted + n_true) >= guaranteed
        # Keep one cut more. Probabilities below the last cut are not compared, so the
        # largest of them is not known.
        kept = slice(np.flatnonzero(can_win)[-1] + 2)
        cuts, hits = cuts[kept], hits[kept]
        predicted, next_smaller = predicted[kept], next_smaller[kept]
    best = np.argmax(hits / (predicted + n_true))
    middle = (cuts[best] + next_smaller[best]) / 2
    return float(middle if middle < cuts[best] else next_smaller[best])


def _candidates(blocks, labels, weight):
    """Probabilities of true labels in falling order, the hits at each, and a total.

    The total is the weighted sum of all probabilities. The first candidate is the
    largest probability of all, the last the smallest number there is, whether or not
    they are a true label's.
    """
    values, largest, total = [], 0, 0.0
    for p, row_labels, row_weight in with_rows(blocks, labels, weight):
        rows = np.repeat(np.arange(len(p)), np.diff(row_labels.indptr))
        values.append(p[rows, row_labels.indices])
        largest = max(largest, p.max())
        total += row_weight @ p.sum(axis=1, dtype=np.float64)
    values = np.concatenate(values)
    smallest = np.nextafter(np.zeros(1, values.dtype), 1, dtype=values.dtype)
    largest = np.full(1, largest, values.dtype)
    cuts, place = np.unique(
        np.concatenate([largest, smallest, values]), return_inverse=True
    )
    label_weight = np.repeat(weight, np.diff(labels.indptr))
    hits = np.bincount(place[2:], label_weight, minlength=len(cuts))
    positive = slice(None, 0 if cuts[0] == 0 else None, -1)
    return cuts[positive], np.cumsum(hits[positive]), total
