"""The Jacobian that softmax and the entmax family share, from probabilities alone.

With s = p^(2 - alpha) on the support {p > 0} and 0 elsewhere,

    J = diag(s) - s s' / sum(s),

which is symmetric and annihilates constants. For softmax s = p: see `_softmax.py`. For
alpha > 2 it is computed by another formula: `entmax/_steep_jacobian.py`.
"""

from functools import cached_property

import numpy as np

from .._utils.arrays import identity_like, namespace, row_dot, row_sum
from . import _array_api
from ._linearization import Linearization
from ._row_matrices import RowMatrices


def linearization_of(p, jacobian):
    """The linearization at probabilities p with this symmetric Jacobian.

    It has a method ``derivative_of_product``, besides those of :class:`RowMatrices`.
    """
    return Linearization(
        p,
        jvp=jacobian.product,
        vjp=jacobian.product_in_new_array,
        vjp_derivative=jacobian.derivative_of_product,
        jacobian=jacobian,
    )


class ThresholdJacobian(RowMatrices):
    """The Jacobian diag(s) - s s' / sum(s), from the slopes s of each row."""

    def __init__(self, s):
        self.s = s

    @cached_property
    def total(self):
        """The sum of the slopes of each row. If it is zero, so is the product."""
        total = row_sum(self.s)
        return namespace(self.s).where(total > 0, total, 1.0)

    def product(self, direction):
        # In place: with many classes a new array takes as long as the arithmetic.
        direction -= self.mean(direction)
        direction *= self.s
        return direction

    def slopes(self):
        return self.s

    def in_single_precision(self):
        return ThresholdJacobian(self.s.astype(np.float32))

    def diagonal(self):
        diagonal = self.s / -self.total
        diagonal += 1
        diagonal *= self.s
        return diagonal

    def matrices(self):
        identity = identity_like(self.s.shape[1], self.s)
        share = self.s / self.total
        return self.s[:, :, None] * (identity - share[:, None, :])

    def mean(self, direction):
        return row_dot(self.s, direction) / self.total


class EntmaxJacobian(ThresholdJacobian):
    """The Jacobian for alpha <= 2, where no s is larger than 1."""

    def __init__(self, p, alpha, slopes=None):
        self.p, self.alpha = p, alpha
        if slopes is not None:
            self.s = slopes

    # Computed when used: line searches need no Jacobian at most of their trials.
    @cached_property
    def s(self):
        return power(self.p, 2 - self.alpha)

    def after(self, change):
        # With sparsemax slopes are 0 or 1: larger supports do not make fits shorter.
        if self.alpha >= 2:
            return None
        # Rounding errors may make a probability negative.
        return EntmaxJacobian(np.maximum(self.p + change, 0), self.alpha)

    def derivative_of_product(self, cotangent, direction):
        # With c the centred cotangent, product = s c and dproduct = ds c + s dc;
        # ds / dp is (2 - alpha) p^(1 - alpha), and dp is the product with direction.
        ds = power(self.p, 3 - 2 * self.alpha)
        ds *= 2 - self.alpha
        ds *= direction - self.mean(direction)
        c = cotangent - self.mean(cotangent)
        mean = row_dot(ds, c) / self.total
        ds *= c
        ds -= self.s * mean
        return ds


def power(p, exponent):
    """A new array: p^exponent where p > 0, 0 elsewhere."""
    if not isinstance(p, np.ndarray):
        return _array_api.power(p, exponent)
    if exponent == 1:
        return p.copy(order="K")
    if exponent == 0.5:
        return np.sqrt(p)
    if exponent == 0:
        return (p > 0).astype(p.dtype)
    with np.errstate(divide="ignore"):
        power = np.log(p)
    power *= exponent
    np.exp(power, out=power)
    if exponent < 0:
        power[p == 0] = 0
    return power
