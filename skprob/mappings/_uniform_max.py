"""Perturb-max with uniform noise: integrals of polynomials, by rules that are exact."""

import numpy as np

from ._panels import gauss_legendre

#: More classes within the noise's length take more nodes than an adaptive rule.
MOST_CLASSES = 32
# In numbers: what is worked with at once should fit in a core's cache.
_CHUNK_SIZE = 1 << 13


def uniform_max(scores):
    """Probabilities, and the expected value of the largest perturbed score.

    Between two neighbouring points 1 + z_j, the distribution function of the largest
    perturbed score is the product of x - z_j over the m classes with larger points: of
    degree m, and for m / 2 nodes the integrals of its quotients are exact.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Standard scores: the largest of each row is 0. A class with a score of -1 or
        less has probability zero.

    Returns
    -------
    p : ndarray of shape (n_rows, n_classes), float64
    potential : ndarray of shape (n_rows,)
    """
    n_rows, n_classes = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    z = np.take_along_axis(scores, order, axis=1).T.astype(np.float64)
    ordered, potential = np.empty((n_classes, n_rows)), np.empty(n_rows)
    step = max(1, 2 * _CHUNK_SIZE // n_classes**2)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        ordered[:, rows], potential[rows] = _of_sorted(np.maximum(z[:, rows], -1))
    p = np.empty((n_rows, n_classes))
    np.put_along_axis(p, order, ordered.T, axis=1)
    return p / p.sum(axis=1, keepdims=True), potential


def _of_sorted(z):
    """The same for scores (n_classes, n_rows) in decreasing order, of at least -1."""
    p, potential = np.zeros(z.shape), np.ones(z.shape[1])
    ends = 1 + np.vstack([z, np.full((1, z.shape[1]), -1)])
    for m in range(1, len(z) + 1):
        rule = gauss_legendre(max(2, (m + 2) // 2), 1)
        half = (ends[m - 1] - ends[m]) / 2
        d = ends[m] + half * (1 + rule.nodes[:, None]) - z[:m, None]
        G = d.prod(axis=0)
        G *= rule.weights[:, None] * half
        potential -= G.sum(axis=0)
        # Where a distance is zero, so is the width.
        d[d == 0] = 1
        p[:m] += np.divide(G, d, out=d).sum(axis=1)
    return p, potential
