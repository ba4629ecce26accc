"""Removal of classes whose probability is certainly zero."""

import numpy as np

from ..._utils.scores import FEW_CLASSES


def compact(scores, lowest):
    """The scores above `lowest`, moved to the left of narrower rows.

    With many classes and few candidates, further computations are faster.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        At least one entry of each row is above `lowest`.
    lowest : float

    Returns
    -------
    candidates : ndarray of shape (n_samples, largest number of candidates)
        Rows are padded with -inf on the right. The result is `scores` itself if rows
        would not be much narrower.
    scatter : callable
        ``scatter(values)`` writes an array of the shape of `candidates` to the columns
        of the candidates, with zeros elsewhere. It overwrites `scores`.
    """
    n_samples, n_classes = scores.shape
    is_candidate = np.ascontiguousarray(scores > lowest)
    if 2 * np.count_nonzero(is_candidate) > scores.size:
        return scores, lambda values: values
    position = np.flatnonzero(is_candidate)
    row = position // n_classes
    count = np.bincount(row, minlength=n_samples)
    width = int(count.max(initial=1))
    if 2 * width > n_classes:
        return scores, lambda values: values
    column = position - row * n_classes
    first = np.cumsum(count) - count
    rank = np.arange(position.size) - first[row]
    order = "F" if width <= FEW_CLASSES else "C"
    candidates = np.full((n_samples, width), -np.inf, dtype=scores.dtype, order=order)
    candidates[row, rank] = scores[row, column]

    def scatter(values):
        scores.fill(0)
        scores[row, column] = values[row, rank]
        return scores

    return candidates, scatter
