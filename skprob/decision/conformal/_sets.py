"""From the responses for new rows to their sets, a block of rows at a time."""

import numpy as np
from scipy import sparse

from .._blocks import row_slices


def blocks_of_sets(nonconformity, response, limit, uniform):
    """Pairs of a slice of the rows, and the boolean indicator of their sets.

    Parameters
    ----------
    nonconformity : EntmaxScore, ThresholdScore or AdaptiveScore
    response : Response
    limit : float or ndarray of shape (n_classes,)
        Largest nonconformity of a class in a set.
    uniform : ndarray of shape (n_samples,) or None
        Draws of a randomised score.
    """
    for rows in row_slices(response.values.shape):
        draws = None if uniform is None else uniform[rows]
        within = nonconformity.within(response.values[rows], limit, draws)
        if response.absent is not None:
            within &= ~response.absent[rows]
        yield rows, within


def indicator_of(sets, n_classes, is_sparse):
    """The 0/1 indicator of int64 of all rows, from the pairs of their blocks."""
    if is_sparse:
        parts = [sparse.csr_array(within) for _, within in sets]
        parts = parts or [sparse.csr_array((0, n_classes))]
        return sparse.vstack(parts, format="csr", dtype=np.int64)
    parts = [within.astype(np.int64) for _, within in sets]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([np.zeros((0, n_classes), np.int64), *parts])


def marginals_in_sets(p, sets):
    """Probabilities that are positive exactly for the labels in the sets, in place."""
    for rows, within in sets:
        _only_in_set(p[rows], within)
    return p


def shares_in_sets(p, sets, scores):
    """The same for probabilities that sum to one.

    Where the set is empty, the class with the largest of the `scores` has one.
    """
    for rows, within in sets:
        block = p[rows]
        _only_in_set(block, within)
        empty = np.flatnonzero(~within.any(axis=1))
        block[empty, scores[rows][empty].argmax(axis=1)] = 1
        block /= block.sum(axis=1, keepdims=True)
    return p


def _only_in_set(p, within):
    # Where p is that of entmax, both differ by rounding at most.
    p[~within] = 0
    p[within] = np.maximum(p[within], np.finfo(np.float64).tiny)
