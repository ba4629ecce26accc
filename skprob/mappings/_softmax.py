"""Softmax."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from .._typing import Array, ArrayLike
from ._base import DifferenceLinearization, Linearization, Mapping
from ._jacobian import entmax_linearization
from ._rows import along_axis


class Softmax(Mapping):
    r"""Softmax, the mapping of logistic regression: every class gets something.

    .. math:: p_i = \exp(z_i) / \textstyle\sum_j \exp(z_j)

    It is the gradient of :math:`F(z) = \log \sum_i \exp(z_i)`; its entropy is
    Shannon's, :math:`-\sum_i p_i \log p_i`, and its Fenchel-Young loss the log loss.
    Its Jacobian is :math:`\mathrm{diag}(p) - p p^\top`.

    See Also
    --------
    Entmax : The family that runs from softmax to sparsemax and beyond.
    softmax : The same as a function, along any axis of an array.

    References
    ----------
    M. Blondel, A. F. T. Martins and V. Niculae, "Learning with Fenchel-Young losses",
    Journal of Machine Learning Research 21, 2020.

    Examples
    --------
    >>> from skprob.mappings import Softmax
    >>> Softmax()([[2.0, 1.0, -1.0]]).round(3)
    array([[0.705, 0.259, 0.035]])
    >>> Softmax().potential([[2.0, 1.0, -1.0]]).round(3)
    array([2.349])
    """

    has_potential = True

    def probabilities(self, scores):
        return self.probabilities_and_potential(scores)[0]

    def probabilities_and_potential(self, scores):
        p = np.exp(scores, out=scores)
        total = p.sum(axis=1, keepdims=True, dtype=np.float64)
        p /= total.astype(p.dtype, copy=False)
        return p, np.log(total[:, 0]).astype(p.dtype, copy=False)

    def negative_entropy(self, probabilities):
        return xlogy(probabilities, probabilities).sum(axis=1)

    def linearize(self, scores):
        return self.linearize_with_potential(scores)[0]

    def linearize_with_potential(self, scores):
        p, potential = self.probabilities_and_potential(scores)
        return entmax_linearization(p, 1), potential

    def linearize_difference(self, difference):
        odds = np.exp(-np.abs(difference))
        total = 1 + odds
        second = np.where(difference > 0, 1, odds)
        second /= total
        return DifferenceLinearization(
            second, np.log1p(odds), lambda: odds / total / total
        )

    def log_linearize(self, scores):
        log_p = scores.copy(order="K")
        p, potential = self.probabilities_and_potential(scores)
        log_p -= potential[:, None]

        def jvp(direction):
            return direction - np.einsum("nk,nk->n", p, direction)[:, None]

        def vjp(direction):
            return direction - p * direction.sum(axis=1, keepdims=True)

        def vjp_derivative(cotangent, direction):
            return -cotangent.sum(axis=1, keepdims=True) * (p * jvp(direction))

        return Linearization(log_p, jvp, vjp, vjp_derivative)


def softmax(scores: ArrayLike, axis: int = -1) -> Array:
    """Softmax along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If the scores are not real numbers, hold NaN or +inf, or only -inf along the
        axis; if there is no such axis.

    See Also
    --------
    Softmax : The mapping, with its potential, entropy and Jacobian.

    Examples
    --------
    >>> from skprob.mappings import softmax
    >>> softmax([2.0, 1.0, -1.0]).round(3)
    array([0.705, 0.259, 0.035])
    >>> softmax([[0.0, 1.0], [0.0, 1.0]], axis=0)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return along_axis(Softmax(), scores, axis)
