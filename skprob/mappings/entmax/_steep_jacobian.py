"""The Jacobian of entmax, with another formula for alpha > 2."""

from ..._utils.arrays import as_type, namespace, one_hot, row_dot, row_sum, widened
from .._jacobian import EntmaxJacobian
from .._row_matrices import RowMatrices


def entmax_jacobian(p, alpha, slopes=None):
    """The Jacobian of entmax-alpha at probabilities p.

    The slopes p^(2 - alpha) may be given where they are known.
    """
    if alpha <= 2:
        return EntmaxJacobian(p, alpha, slopes)
    return SteepJacobian(p, alpha)


class SteepJacobian(RowMatrices):
    """The Jacobian for alpha > 2, where the s of a tiny probability is huge.

    In the usual formula the terms of the largest s would hide all others, and could
    overflow. So directions are shifted to zero at the class of the largest s, and its
    product is minus the sum of the others. Tiny probabilities, whose s would overflow,
    are raised to the smallest one whose s is finite.
    """

    def __init__(self, p, alpha):
        xp = self._xp = namespace(p)
        self.dtype = p.dtype
        self.alpha = alpha
        p = widened(p)
        least, most = (1e-150, 1e75) if xp.finfo(p.dtype).bits == 64 else (1e-15, 1e8)
        self.p = xp.clip(p, max(least, most ** (-1 / (alpha - 2))), None)
        self.s = xp.where(p > 0, self.p ** (2 - alpha), 0.0)
        self.total = row_sum(self.s)
        self.is_steepest = one_hot(xp.argmax(self.s, axis=1), p.shape[1])

    def product(self, direction):
        product = self.balanced(self.s * self.centred(direction))
        return as_type(product, self.dtype)

    def diagonal(self):
        xp, share = self._xp, self.s / self.total
        others = row_sum(xp.where(self.is_steepest, 0.0, self.s))
        diagonal = xp.where(self.is_steepest, others * share, self.s * (1 - share))
        return as_type(diagonal, self.dtype)

    def derivative_of_product(self, cotangent, direction):
        dp = self.balanced(self.s * self.centred(direction))
        ds = (2 - self.alpha) * (self.s / self.p) * dp
        c = self.centred(cotangent)
        product = ds * c - self.s * (row_dot(ds, c) / self.total)
        return as_type(self.balanced(product), self.dtype)

    def centred(self, direction):
        direction = widened(direction)
        pivot = row_sum(self._xp.where(self.is_steepest, direction, 0.0))
        shifted = direction - pivot
        return shifted - row_dot(self.s, shifted) / self.total

    def balanced(self, product):
        product = self._xp.where(self.is_steepest, 0.0, product)
        return self._xp.where(self.is_steepest, -row_sum(product), product)
