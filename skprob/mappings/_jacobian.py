"""The Jacobian that the entmax family shares, from the probabilities alone.

With s = p^(2 - alpha) on the support {p > 0} and 0 elsewhere,

    J = diag(s) - s s' / sum(s),

which is symmetric and annihilates constants.
"""

import numpy as np

from ._base import Linearization


def entmax_linearization(p, alpha):
    """Linearization of entmax-alpha at probabilities p (softmax: alpha = 1)."""
    jacobian = _Jacobian(p, alpha) if alpha <= 2 else _SteepJacobian(p, alpha)

    return Linearization(
        p,
        jacobian.product,
        jacobian.product_of_copy,
        jacobian.derivative_of_product,
        getattr(jacobian, "diagonal", None),
    )


class ThresholdJacobian:
    """The Jacobian diag(s) - s s' / sum(s), from the slopes s of each row."""

    def __init__(self, s):
        self.s = s
        total = s.sum(axis=1, keepdims=True)
        # Without any slope the product is zero.
        self.total = np.where(total > 0, total, 1)

    def product(self, direction):
        # In place: with many classes a new array costs as much as the arithmetic.
        direction -= self.mean(direction)
        direction *= self.s
        return direction

    def product_of_copy(self, direction):
        return self.product(direction.copy(order="K"))

    def diagonal(self):
        diagonal = self.s / -self.total
        diagonal += 1
        diagonal *= self.s
        return diagonal

    def mean(self, direction):
        return _dot(self.s, direction) / self.total


class _Jacobian(ThresholdJacobian):
    """The Jacobian for alpha <= 2, where no s is larger than 1."""

    def __init__(self, p, alpha):
        super().__init__(p if alpha == 1 else power(p, 2 - alpha))
        self.p, self.alpha = p, alpha

    def derivative_of_product(self, cotangent, direction):
        # With c the centred cotangent, product = s c and dproduct = ds c + s dc;
        # ds / dp is (2 - alpha) p^(1 - alpha), and dp is the product with direction.
        ds = power(self.p, 3 - 2 * self.alpha)
        ds *= 2 - self.alpha
        ds *= direction - self.mean(direction)
        c = cotangent - self.mean(cotangent)
        mean = _dot(ds, c) / self.total
        ds *= c
        ds -= self.s * mean
        return ds


class _SteepJacobian:
    """The Jacobian for alpha > 2, where the s of a tiny probability is huge.

    The formula would lose everything to the largest s, and overflow. So directions
    are shifted to zero at that class, and its product is minus the sum of the others.
    Probabilities so tiny that their s cannot be told from infinity are raised to
    where it still can be computed with.
    """

    def __init__(self, p, alpha):
        self.dtype = p.dtype
        self.alpha = alpha
        lowest = max(1e-150, 1e75 ** (-1 / (alpha - 2)))
        self.p = np.maximum(p, lowest, dtype=np.float64)
        self.s = np.where(p > 0, self.p ** (2 - alpha), 0)
        self.total = self.s.sum(axis=1, keepdims=True)
        self.steepest = self.s.argmax(axis=1)[:, None]

    def product(self, direction):
        return self.balanced(self.s * self.centred(direction)).astype(self.dtype)

    product_of_copy = product

    def derivative_of_product(self, cotangent, direction):
        dp = self.balanced(self.s * self.centred(direction))
        ds = (2 - self.alpha) * (self.s / self.p) * dp
        c = self.centred(cotangent)
        product = ds * c - self.s * (_dot(ds, c) / self.total)
        return self.balanced(product).astype(self.dtype)

    def centred(self, direction):
        pivot = np.take_along_axis(direction, self.steepest, axis=1)
        shifted = np.subtract(direction, pivot, dtype=np.float64)
        return shifted - _dot(self.s, shifted) / self.total

    def balanced(self, product):
        np.put_along_axis(product, self.steepest, 0, axis=1)
        rest = -product.sum(axis=1, keepdims=True)
        np.put_along_axis(product, self.steepest, rest, axis=1)
        return product


def _dot(a, b):
    return np.einsum("nk,nk->n", a, b)[:, None]


def power(p, exponent):
    """A new array: p^exponent where p > 0, 0 elsewhere."""
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
