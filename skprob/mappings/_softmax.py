"""Softmax."""

from __future__ import annotations

import numpy as np

from .._utils.arrays import copied, identity_like, namespace, row_dot, row_sum
from .._utils.typing import Array, ArrayLike
from . import _array_api
from ._base import Mapping
from ._jacobian import ThresholdJacobian
from ._linearization import DifferenceLinearization, Linearization
from ._row_blocks import along_axis
from ._row_matrices import RowMatrices
from ._traits import Traits


class Softmax(Mapping):
    r"""Softmax, the mapping of logistic regression: all probabilities are positive.

    .. math:: p_i = \exp(z_i) / \textstyle\sum_j \exp(z_j)

    It is the gradient of :math:`F(z) = \log \sum_i \exp(z_i)`; its entropy is
    Shannon's, :math:`-\sum_i p_i \log p_i`, and its Fenchel-Young loss the log loss.
    Its Jacobian is :math:`\mathrm{diag}(p) - p p^\top`.

    See Also
    --------
    Entmax : The family that contains softmax and sparsemax.
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

    traits = Traits(has_potential=True, supports_array_api=True)

    def probabilities(self, scores):
        return self.probabilities_and_potential(scores)[0]

    def probabilities_and_potential(self, scores):
        if not isinstance(scores, np.ndarray):
            return _array_api.softmax(scores)
        p = np.exp(scores, out=scores)
        total = np.add.reduce(p, axis=1, dtype=np.float64, keepdims=True)
        p /= total.astype(p.dtype, copy=False)
        return p, np.log(total[:, 0]).astype(p.dtype, copy=False)

    def negative_entropy(self, probabilities):
        if not isinstance(probabilities, np.ndarray):
            return _array_api.shannon(probabilities)
        # This takes a third of the time of xlogy.
        tiny = np.finfo(probabilities.dtype).tiny
        logs = np.log(np.maximum(probabilities, tiny))
        return np.einsum("nk,nk->n", probabilities, logs)

    def linearize(self, scores):
        return self.linearize_with_potential(scores)[0]

    def linearize_with_potential(self, scores):
        p, potential = self.probabilities_and_potential(scores)
        jacobian = SoftmaxJacobian(p)
        linear = Linearization(
            p,
            jvp=jacobian.product,
            vjp=jacobian.product_in_new_array,
            vjp_derivative=jacobian.derivative_of_product,
            jacobian=jacobian,
        )
        return linear, potential

    def linearize_difference(self, difference):
        xp = namespace(difference)
        odds = xp.exp(-abs(difference))
        total = 1 + odds
        second = xp.where(difference > 0, 1.0, odds)
        second /= total
        return DifferenceLinearization(
            second, xp.log1p(odds), lambda: odds / total / total
        )

    def log_linearize(self, scores):
        log_p = copied(scores)
        p, potential = self.probabilities_and_potential(scores)
        log_p -= potential[:, None]

        def jvp(direction):
            return direction - row_dot(p, direction)

        def vjp(direction):
            return direction - p * row_sum(direction)

        def vjp_derivative(cotangent, direction):
            return -row_sum(cotangent) * (p * jvp(direction))

        return Linearization(log_p, jvp, vjp, vjp_derivative)


class SoftmaxJacobian(RowMatrices):
    """The Jacobian diag(p) - p p' of each row."""

    def __init__(self, p):
        self.p = p

    def product(self, direction):
        # In place: with many classes a new array takes as long as the arithmetic.
        direction -= row_dot(self.p, direction)
        direction *= self.p
        return direction

    def diagonal(self):
        return (1 - self.p) * self.p

    def matrices(self):
        identity = identity_like(self.p.shape[1], self.p)
        return self.p[:, :, None] * (identity - self.p[:, None, :])

    def slopes(self):
        return self.p

    def in_single_precision(self):
        # The sum of rounded probabilities is not one.
        return ThresholdJacobian(self.p.astype(np.float32))

    def after(self, change):
        # Rounding errors may make a probability negative.
        return SoftmaxJacobian(np.maximum(self.p + change, 0))

    def derivative_of_product(self, cotangent, direction):
        # The product with a cotangent v is p c, with c = v - p'v. Its derivative is
        # dp c - p dp'v, and dp'v is dp'c, because dp sums to zero.
        dp = self.p * (direction - row_dot(self.p, direction))
        c = cotangent - row_dot(self.p, cotangent)
        return dp * c - self.p * row_dot(dp, c)


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
