"""A mapping made of any positive function, divided by its sum."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from .._typing import Array
from ._base import Mapping
from ._linearization import Linearization
from ._numerical import numerical_vjp_derivative

# Balances truncation against rounding in a central difference.
_STEP = np.finfo(np.float64).eps ** (1 / 3)


class NormalizedMapping(Mapping):
    r"""A mapping made of any positive function, divided by its sum.

    .. math:: p_i = f(z_i) / \textstyle\sum_j f(z_j)

    With :math:`r = f' / f` its Jacobian is
    :math:`\partial p_i / \partial z_j = p_i r(z_j) (\delta_{ij} - p_j)`, which is not
    symmetric unless r is constant: there is no potential, and the loss is the log loss.

    Parameters
    ----------
    f : callable
        ``f(x)`` for an array of float64, element by element: finite, not negative, and
        for at least one class of each row positive.
    derivative : callable, default=None
        The derivative of `f`. If None, it is computed by central differences, with
        errors of about 1e-10.

    See Also
    --------
    ThresholdMapping : A function of the scores less a threshold; it has a potential.
    TaylorSoftmax : With Taylor polynomials of exp, computed to full precision.

    Notes
    -----
    Unless f is an exponential, adding a constant to all scores changes the
    probabilities, so ``is_shift_invariant`` is False.

    References
    ----------
    A. de Brébisson and P. Vincent, "An exploration of softmax alternatives belonging
    to the spherical loss family", ICLR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.mappings import NormalizedMapping
    >>> NormalizedMapping(lambda x: 1 + x + x**2 / 2)([[2.0, 1.0, 0.0]]).round(3)
    array([[0.588, 0.294, 0.118]])
    """

    _parameter_constraints = {"f": [callable], "derivative": [callable, None]}
    is_shift_invariant = False
    # Not known, so what would break if it were wrong is not relied on.
    is_order_preserving = False

    def __init__(
        self,
        f: Callable[[Array], Array],
        derivative: Callable[[Array], Array] | None = None,
    ) -> None:
        self.f = f
        self.derivative = derivative

    @property
    def has_zeros(self):
        return _has_zeros(self.f)

    def probabilities(self, scores):
        return self._solve(scores)[0].astype(scores.dtype, copy=False)

    def linearize(self, scores):
        dtype = scores.dtype
        p, jvp, vjp = self._products(scores)

        def in_type(function):
            return lambda direction: function(direction).astype(dtype, copy=False)

        vjp_derivative = numerical_vjp_derivative(
            lambda points: self._products(points)[2], scores
        )
        return Linearization(
            p.astype(dtype, copy=False), in_type(jvp), in_type(vjp), vjp_derivative
        )

    def _products(self, scores):
        p, z, total = self._solve(scores)
        rise = self._derivative(z)
        rise[scores == -np.inf] = 0
        rise /= total

        def jvp(direction):
            moved = rise * direction
            return moved - p * moved.sum(axis=1, keepdims=True)

        def vjp(direction):
            return rise * (direction - _dot(p, direction))

        return p, jvp, vjp

    def _solve(self, scores):
        """Probabilities, scores and the sums of f, in float64."""
        available = scores > -np.inf
        z = np.where(available, scores, 0).astype(np.float64)
        values = np.where(available, _values(self.f, z), 0)
        total = values.sum(axis=1, keepdims=True)
        good = (total > 0) & (total < np.inf)
        if not good.all():
            row = int(np.argmin(good))
            raise ValueError(
                "The sum of f over the scores of a row must be positive and finite; "
                f"in row {row} it is {total[row, 0]:.6g}."
            )
        return values / total, z, total

    def _derivative(self, z):
        if self.derivative is not None:
            return np.array(self.derivative(z), dtype=np.float64)
        step = _STEP * np.maximum(1, np.abs(z))
        up, down = z + step, z - step
        return (_values(self.f, up) - _values(self.f, down)) / (up - down)


def _values(f, x):
    with np.errstate(all="ignore"):
        values = np.asarray(f(x), dtype=np.float64)
    if values.shape != x.shape:
        raise ValueError(
            f"f must return an array of the shape of its argument, {x.shape}; it "
            f"returned shape {values.shape}."
        )
    good = (values >= 0) & (values < np.inf)
    if not good.all():
        at, value = x[~good].flat[0], values[~good].flat[0]
        raise ValueError(
            f"f must be finite and not negative; f({at:.6g}) is {value:.6g}."
        )
    return values


@functools.lru_cache(maxsize=128)
def _has_zeros(f):
    """Whether f is zero for scores of the usual size."""
    return bool((_values(f, np.linspace(-20, 20, 401)) == 0).any())


def _dot(a, b):
    return np.einsum("nk,nk->n", a, b)[:, None]
