"""Gauss-Lobatto rules that show where the integrand is not a polynomial."""

import functools

import numpy as np
from numpy.polynomial.legendre import Legendre, legvander


@functools.cache
def gauss_lobatto(n_nodes):
    """Nodes and weights on [0, 1], and the interpolation to the nodes of both halves.

    The nodes contain both ends, so that no kink can hide beyond the outermost. The
    interpolation is a matrix that takes values at the nodes to those that their
    polynomial has at the nodes of the two half intervals: where they are not those of
    the integrand, the interval must be halved. Integrals alone do not tell, because
    with kinks two estimates may agree by chance.

    Parameters
    ----------
    n_nodes : int

    Returns
    -------
    nodes, weights : ndarray of shape (n_nodes,)
    to_halves : ndarray of shape (2 * n_nodes, n_nodes)
    """
    last = Legendre.basis(n_nodes - 1)
    # They are complex numbers, with no imaginary part, from NumPy 2.5.
    roots = last.deriv().roots().real
    nodes = np.concatenate([[-1], roots, [1]])
    weights = 2 / (n_nodes * (n_nodes - 1) * last(nodes) ** 2)
    halves = np.concatenate([nodes - 1, nodes + 1]) / 2
    at_nodes, at_halves = (legvander(x, n_nodes - 1) for x in (nodes, halves))
    return (nodes + 1) / 2, weights / 2, at_halves @ np.linalg.inv(at_nodes)
