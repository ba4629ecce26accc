"""A mapping at fixed scores: its value, and its derivatives as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._utils.arrays import copied, namespace
from .._utils.typing import Array
from ._row_matrices import RowMatrices, ScaledMatrices


class Linearization(NamedTuple):
    """A mapping at fixed scores: its value and its Jacobian as functions.

    Attributes
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
        The value at the scores (the logarithm of it, from
        :meth:`Mapping.log_linearize`).
    jvp : callable
        ``jvp(direction)`` is the Jacobian times ``direction``, row by row; it may
        overwrite ``direction``.
    vjp : callable
        ``vjp(direction)`` is the transposed Jacobian times ``direction``, which it does
        not change.
    vjp_derivative : callable or None
        ``vjp_derivative(cotangent, direction)`` is the derivative of ``vjp(cotangent)``
        as the scores move along ``direction``; None if the mapping does not provide
        second derivatives.
    jacobian : RowMatrices or None
        The Jacobian of each row as an object with formulas for more than products; None
        if there are only products.
    """

    probabilities: np.ndarray
    jvp: Callable
    vjp: Callable
    vjp_derivative: Callable | None = None
    jacobian: RowMatrices | None = None

    def in_units(self, scaled: Callable[[Array], Array]) -> Linearization:
        """The linearization of the mapping of scaled scores, in the scores.

        ``scaled(derivative)`` multiplies an array by the scale.
        """

        def once(function):
            return function and (lambda *args: scaled(function(*args)))

        return Linearization(
            self.probabilities,
            once(self.jvp),
            once(self.vjp),
            once(once(self.vjp_derivative)),
            self.jacobian and ScaledMatrices(self.jacobian, scaled),
        )


class DifferenceLinearization(NamedTuple):
    """A mapping of two classes as a function of the difference of their scores.

    Attributes
    ----------
    second : ndarray of shape (n_samples,)
        Probability of the second class.
    potential : ndarray of shape (n_samples,)
        The potential at standard scores, which is less by the larger score.
    derivative : callable
        ``derivative()`` is the derivative of `second` in the difference.
    """

    second: np.ndarray
    potential: np.ndarray
    derivative: Callable


def of_logarithms(linear):
    """The linearization of the logarithms of the probabilities."""
    p = linear.probabilities
    # A probability of zero is also zero at nearby scores: its logarithm is constant.
    xp, is_positive = namespace(p), p > 0
    lowest = float(xp.finfo(p.dtype).smallest_normal)
    inverse = xp.where(is_positive, 1 / xp.clip(p, lowest, None), 0.0)
    with np.errstate(divide="ignore"):
        log_p = xp.log(p)

    def log_jvp(direction):
        return linear.jvp(direction) * inverse

    def log_vjp(direction):
        return linear.vjp(direction * inverse)

    def log_vjp_derivative(cotangent, direction):
        scaled = cotangent * inverse
        moved = linear.vjp(scaled * log_jvp(copied(direction)))
        return linear.vjp_derivative(scaled, direction) - moved

    if linear.vjp_derivative is None:
        log_vjp_derivative = None
    return Linearization(log_p, log_jvp, log_vjp, log_vjp_derivative)


def of_matrices(value, jacobian, vjp_derivative=None):
    """The linearization with the Jacobian (n_classes, n_classes) of each row."""
    return Linearization(
        value,
        lambda direction: np.einsum("nij,nj->ni", jacobian, direction),
        lambda cotangent: np.einsum("nij,ni->nj", jacobian, cotangent),
        vjp_derivative,
    )
