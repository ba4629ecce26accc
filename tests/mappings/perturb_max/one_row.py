"""Rows of scores, and the probability of one class by quadrature."""

import numpy as np


def row_of_scores(n_classes, spread, seed=0):
    """Normal scores, of which the largest is zero."""
    z = spread * np.random.default_rng(seed).standard_normal(n_classes)
    return z - z.max()


def one_probability(z, i, distribution):
    """p_i as the mean over its own noise: other nodes, panels and formula."""
    others = np.delete(z, i)

    def wins(u):
        gaps = distribution.ppf(u)[:, None] + z[i] - others
        return np.exp(distribution.logcdf(gaps).sum(axis=1))

    # Panels that shrink towards both ends.
    ends = 0.5 ** np.arange(1, 50)
    edges = np.concatenate([[0], ends[::-1], 1 - ends[1:], [1]])
    # Ends of intervals at the medians of the other classes, and near them.
    if len(others) < 100:
        medians = distribution.median() + others - z[i]
        near = np.add.outer([-3, -1, 0, 1, 3], medians)
        edges = np.union1d(edges, distribution.cdf(near))
    if distribution.support()[1] < np.inf:
        kinks = np.add.outer(distribution.support(), others - z[i])
        edges = np.union1d(edges, np.clip(kinks, 0, 1))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(edges) / 2
    u = edges[:-1, None] + half[:, None] * (1 + nodes)
    return half @ wins(u.ravel()).reshape(u.shape) @ weights
