"""Gauss-Lobatto rules with a test of whether the integrand is a polynomial."""

import functools

import numpy as np
from numpy.polynomial.legendre import Legendre, legvander


@functools.cache
def gauss_lobatto(n_nodes):
    """Nodes and weights on [0, 1], and the interpolation to the nodes of both halves.

    The nodes contain both ends, so every kink is between two nodes. The interpolation
    is a matrix: from values at the nodes to values of their polynomial at the nodes of
    the two half intervals. If these differ from the integrand, the interval must be
    halved. A comparison of two integrals is not sufficient, because with kinks they may
    agree by chance.

    Parameters
    ----------
    n_nodes : int

    Returns
    -------
    nodes, weights : ndarray of shape (n_nodes,)
    to_halves : ndarray of shape (2 * n_nodes, n_nodes)
    """
    last = Legendre.basis(n_nodes - 1)
    # From NumPy 2.5 on, the roots are complex numbers with imaginary part zero.
    roots = last.deriv().roots().real
    nodes = np.concatenate([[-1], roots, [1]])
    weights = 2 / (n_nodes * (n_nodes - 1) * last(nodes) ** 2)
    halves = np.concatenate([nodes - 1, nodes + 1]) / 2
    at_nodes, at_halves = (legvander(x, n_nodes - 1) for x in (nodes, halves))
    return (nodes + 1) / 2, weights / 2, at_halves @ np.linalg.inv(at_nodes)
