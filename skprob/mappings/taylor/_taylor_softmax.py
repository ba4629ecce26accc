"""Taylor softmax: softmax with a Taylor polynomial in place of exp."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Options

from ..._utils.arrays import as_type, namespace, row_dot, row_max, row_sum
from ..._utils.typing import Array, ArrayLike
from .. import _array_api
from .._base import Mapping
from .._linearization import Linearization
from .._row_blocks import along_axis
from .._traits import Traits
from ._array_polynomial import ArrayPolynomial
from ._polynomial import log_curvature, log_slope, scaled_polynomial, zeros

_ORDERS = range(2, 31, 2)
# An exponent below all others, far enough from the end of the range of int32.
_LOWEST = -(2**30)


class TaylorSoftmax(Mapping):
    r"""Taylor softmax: softmax with the Taylor polynomial of exp in place of exp.

    .. math:: p_i = \frac{f_k(z_i)}{\sum_j f_k(z_j)}, \quad
       f_k(x) = \sum_{m=0}^k \frac{x^m}{m!}

    for an even order k, at which :math:`f_k` is positive everywhere. Its tails decrease
    like powers: a class with a low score has a larger probability than with softmax.

    With the ratio :math:`r = f_{k-1} / f_k`, the derivative of :math:`\log f_k`, the
    Jacobian is :math:`\partial p_i / \partial z_j = p_i r(z_j) (\delta_{ij} - p_j)`.
    It is not symmetric: there is no potential, and the loss that matches is the log
    loss, whose gradient is :math:`(p_j - q_j)\, r(z_j)`. That loss is not convex.

    Parameters
    ----------
    order : int, default=2
        Even, from 2 to 30.

    See Also
    --------
    taylor_softmax : The same as a function, along any axis of an array.
    Softmax : The limit of large orders.

    Notes
    -----
    Three properties of softmax do not hold:

    - Adding a constant to all scores changes the probabilities: not only the
      differences of the scores matter.
    - A higher score may get a lower probability, below the one real zero of
      :math:`f_{k-1}` (-1 for order 2, -9 for order 30). A classifier predicts
      by the probabilities.
    - If all scores are multiplied by a factor that tends to infinity, the probabilities
      do not tend to a one-hot row, but are in the limit in proportion to
      :math:`z_i^k`.

    References
    ----------
    A. de Brébisson and P. Vincent, "An exploration of softmax alternatives belonging
    to the spherical loss family", ICLR 2016 (order 2).

    Examples
    --------
    >>> from skprob.mappings import TaylorSoftmax
    >>> TaylorSoftmax()([[2.0, 1.0, 0.0]]).round(3)
    array([[0.588, 0.294, 0.118]])

    The first class has the lower score and the higher probability:

    >>> TaylorSoftmax()([[-4.0, -2.0, 1.0]]).round(3)
    array([[0.588, 0.118, 0.294]])
    """

    _parameter_constraints = {"order": [Options(Integral, set(_ORDERS))]}
    traits = Traits(
        is_shift_invariant=False, is_order_preserving=False, supports_array_api=True
    )

    def __init__(self, order: int = 2) -> None:
        self.order = order

    @property
    def zeros(self) -> list[complex]:
        """Zeros of the polynomial above the real axis, order / 2 complex numbers.

        The others are their conjugates. The polynomial is the product of the squared
        distances to the zeros, divided by the factorial of the order: unlike its
        terms, these do not cancel.
        """
        return [complex(*zero) for zero in zeros(self.order)]

    def probabilities(self, scores):
        if not isinstance(scores, np.ndarray):
            logarithm = ArrayPolynomial(scores, self.order).logarithm()
            return as_type(_array_api.softmax(_shifted(logarithm))[0], scores.dtype)
        _, share, exponent = self._solve(scores)
        return np.ldexp(share, exponent).astype(scores.dtype, copy=False)

    def linearize(self, scores):
        _, p, slope, curvature = self._parts(scores)

        def jvp(direction):
            return p * _centred(slope * direction, p)

        def vjp(direction):
            return slope * (p * _centred(direction, p))

        def vjp_derivative(cotangent, direction):
            rate = _centred(slope * direction, p)
            c = _centred(cotangent, p)
            moved = slope * (rate * c - row_dot(p * rate, cotangent))
            return p * (curvature() * direction * c + moved)

        return Linearization(p, jvp, vjp, vjp_derivative)

    def log_linearize(self, scores):
        log_p, p, slope, curvature = self._parts(scores)

        def jvp(direction):
            return _centred(slope * direction, p)

        def vjp(direction):
            return slope * (direction - p * row_sum(direction))

        def vjp_derivative(cotangent, direction):
            total = row_sum(cotangent)
            rate = _centred(slope * direction, p)
            product = curvature() * direction * (cotangent - p * total)
            return product - slope * (p * rate * total)

        return Linearization(log_p, jvp, vjp, vjp_derivative)

    def _parts(self, scores):
        """Arrays log p, p and (log f)', and the second derivative as a function."""
        if not isinstance(scores, np.ndarray):
            return self._parts_of_any(scores)
        dtype = scores.dtype
        x, share, exponent = self._solve(scores)
        with np.errstate(divide="ignore"):
            log_p = np.log(share)
        log_p += np.log(2) * exponent
        p = np.ldexp(share, exponent).astype(dtype, copy=False)
        slope = self._of_available(log_slope, x, p)

        def curvature():
            return self._of_available(log_curvature, x, p)

        return log_p.astype(dtype, copy=False), p, slope, curvature

    def _parts_of_any(self, scores):
        xp, dtype = namespace(scores), scores.dtype
        polynomial = ArrayPolynomial(scores, self.order)
        z = _shifted(polynomial.logarithm())
        p, potential = _array_api.softmax(z)
        parts = z - potential[:, None], p, polynomial.slope()

        def curvature():
            return xp.astype(polynomial.curvature(), dtype)

        return *(xp.astype(part, dtype) for part in parts), curvature

    def _solve(self, scores):
        """The scores in float64, and shares and exponents, p = share 2^exponent.

        The share of an available class is positive, even if p underflows.
        """
        x = scores.astype(np.float64, copy=False)
        unavailable = np.isneginf(x)
        mantissa, exponent = scaled_polynomial(np.where(unavailable, 0, x), self.order)
        mantissa[unavailable] = 0
        exponent[unavailable] = _LOWEST
        exponent -= exponent.max(axis=1, keepdims=True)
        total = np.ldexp(mantissa, exponent).sum(axis=1, keepdims=True)
        mantissa /= total
        return x, mantissa, exponent

    def _of_available(self, function, x, p):
        unavailable = np.isneginf(x)
        values = function(np.where(unavailable, 0, x), self.order)
        values[unavailable] = 0
        return values.astype(p.dtype, copy=False)


def _shifted(scores):
    return scores - row_max(scores)


def _centred(direction, p):
    return direction - row_dot(p, direction)


def taylor_softmax(scores: ArrayLike, order: int = 2, axis: int = -1) -> Array:
    """Taylor softmax along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    order : int, default=2
        Even, from 2 to 30.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If the order is odd or out of range; if the scores are not real numbers, hold
        NaN or +inf, or only -inf along the axis; if there is no such axis.

    See Also
    --------
    TaylorSoftmax : The mapping, with its Jacobian and its properties.

    Examples
    --------
    >>> from skprob.mappings import taylor_softmax
    >>> taylor_softmax([2.0, 1.0, 0.0]).round(3)
    array([0.588, 0.294, 0.118])
    >>> taylor_softmax([2.0, 1.0, 0.0], order=30).round(3)  # nearly softmax
    array([0.665, 0.245, 0.09 ])
    """
    return along_axis(TaylorSoftmax(order), scores, axis)
