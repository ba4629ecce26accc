"""The kept classes of sparse softmax, and its entropy, for arrays of any library."""

from ..._utils.arrays import namespace, row_max, widened
from .._array_api import shannon


def largest(scores, k):
    """Which entries are the k largest of their row; of equal ones, the first."""
    xp = namespace(scores)
    return (_ranks(scores)[1] < k) & (scores > -xp.inf)


def largest_with_mass(scores, share):
    """Which entries make up the smallest leading set whose softmax mass is `share`."""
    xp = namespace(scores)
    order, rank = _ranks(scores)
    wide = widened(scores - row_max(scores))
    mass = xp.cumulative_sum(xp.exp(xp.take_along_axis(wide, order, axis=1)), axis=1)
    enough = mass[:, -1:] * (share * (1 - 8 * xp.finfo(scores.dtype).eps))
    needed = xp.count_nonzero(mass < enough, axis=1, keepdims=True) + 1
    return (rank < needed) & (scores > -xp.inf)


def _ranks(scores):
    xp = namespace(scores)
    order = xp.argsort(scores, axis=1, descending=True, stable=True)
    return order, xp.argsort(order, axis=1, stable=True)


def top_k_entropy(probabilities, k):
    """Conjugate of the potential of top-k softmax: see `SparseSoftmax`."""
    xp = namespace(probabilities)
    head = xp.sort(probabilities, axis=1, descending=True)
    # Rest of a row after its first 0, 1, ... entries, and the rest divided by the
    # number of remaining places of k.
    tail = xp.flip(xp.cumulative_sum(xp.flip(head, axis=1), axis=1), axis=1)
    head, tail = head[:, :k], tail[:, :k]
    left = xp.arange(k, 0, -1, dtype=head.dtype, device=head.device)
    taken = head > tail / left
    r = xp.count_nonzero(taken, axis=1, keepdims=True)
    tail = xp.take_along_axis(tail, r, axis=1)[:, 0]
    theta = tail / xp.astype(k - r[:, 0], tail.dtype)
    of_taken = shannon(xp.where(taken, head, 0.0))
    return of_taken + tail * xp.log(xp.where(tail > 0, theta, 1.0))
