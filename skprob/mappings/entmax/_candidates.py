"""Leaving out the classes that cannot get a probability."""

import numpy as np

from ..._utils.scores import FEW_CLASSES


def compact(scores, lowest):
    """The scores above `lowest`, moved to the left of narrower rows.

    With many classes and few candidates, what follows is as cheap as the
    candidates are few.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        At least one entry of each row is above `lowest`.
    lowest : float

    Returns
    -------
    candidates : ndarray of shape (n_samples, largest number of candidates)
        Padded with -inf on the right; `scores` itself where it would hardly be
        narrower.
    scatter : callable
        ``scatter(values)`` puts an array of the shape of `candidates` back where
        they came from, with zeros elsewhere. It overwrites `scores`.
    """
    n_samples, n_classes = scores.shape
    chosen = np.ascontiguousarray(scores > lowest)
    if 2 * np.count_nonzero(chosen) > scores.size:
        return scores, lambda values: values
    place = np.flatnonzero(chosen)
    row = place // n_classes
    count = np.bincount(row, minlength=n_samples)
    width = int(count.max(initial=1))
    if 2 * width > n_classes:
        return scores, lambda values: values
    column = place - row * n_classes
    first = np.cumsum(count) - count
    rank = np.arange(place.size) - first[row]
    order = "F" if width <= FEW_CLASSES else "C"
    candidates = np.full((n_samples, width), -np.inf, dtype=scores.dtype, order=order)
    candidates[row, rank] = scores[row, column]

    def scatter(values):
        scores.fill(0)
        scores[row, column] = values[row, rank]
        return scores

    return candidates, scatter
