"""A mapping that divides a positive function by its sum."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from ..._utils.arrays import row_dot
from ..._utils.scores import standard_scores
from ..._utils.typing import Array
from .._base import Mapping
from .._linearization import Linearization
from .._numerical import STEP, numerical_vjp_derivative
from .._traits import Traits
from ._user_function import check_derivative, check_values, values_of

# Arguments of both signs, at which f is compared with a power.
_SCALES = np.array([0.01, 0.7, 1.0, 5.3, 100.0, -0.01, -0.7, -1.0, -5.3, -100.0])
# Arguments at which f is compared with its values at the last use.
_PROBES = np.array([-20.0, -3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0, 20.0])
# Number of scores at which a given derivative is compared with differences of f.
_N_CHECKED = 25


class NormalizedMapping(Mapping):
    r"""A mapping that divides a positive function by its sum.

    .. math:: p_i = f(z_i) / \textstyle\sum_j f(z_j)

    With :math:`r = f' / f` its Jacobian is
    :math:`\partial p_i / \partial z_j = p_i r(z_j) (\delta_{ij} - p_j)`, which is not
    symmetric unless r is constant: there is no potential, and the loss is the log loss.

    Parameters
    ----------
    f : callable
        ``f(x)`` for an array of float64 of any shape, element by element. Its values
        must be float64, finite, not negative, and for at least one class of each row
        positive.
    derivative : callable, default=None
        The derivative of `f`, in the same form. If None, it is computed by central
        differences, with errors of about 1e-10.

    See Also
    --------
    ThresholdMapping : A function of the scores less a threshold; it has a potential.
    TaylorSoftmax : With Taylor polynomials of exp, computed to full precision.

    Notes
    -----
    Unless f is an exponential, adding a constant to all scores changes the
    probabilities, so the trait ``is_shift_invariant`` is False.

    If f(0) is 0, a row of zeros, at which other fits start, has no probabilities. Then
    a classifier starts with all intercepts 1 (or -1, if f(1) is 0 and f(-1) is
    positive) or, without intercepts, from the means of the classes. With :math:`f(x) =
    x^2` this is the spherical softmax. A power of the scores gives the same
    probabilities for scores that are all multiplied by a positive number. So
    coefficients close to zero have the same loss and nearly no penalty, and the penalty
    has no effect on the minimum. Classifiers omit it, and ``C_`` is infinite.

    Two classes have the scores -u/2 and u/2. An even f gives both the probability 1/2,
    and a power depends only on the sign of u; a fit to two classes refuses both. Use
    :math:`f(x + 1)`, for instance.

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
    >>> NormalizedMapping(np.square)([[2.0, 1.0, 0.0]])  # spherical softmax
    array([[0.8, 0.2, 0. ]])
    """

    _parameter_constraints = {"f": [callable], "derivative": [callable, None]}

    def __init__(
        self,
        f: Callable[[Array], Array],
        derivative: Callable[[Array], Array] | None = None,
    ) -> None:
        self.f = f
        self.derivative = derivative

    @property
    def traits(self):
        # The values of a function may change between uses.
        values = values_of("f", self.f, _PROBES).tobytes()
        try:
            return _traits_of(self.f, values)
        except TypeError:  # The function has no hash.
            return _traits_of.__wrapped__(self.f, values)

    def _standard(self, scores, first_row=0):
        # The traits are not used, because they need values of f.
        return standard_scores(scores, False, first_row)

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
            return rise * (direction - row_dot(p, direction))

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
            return self._given_derivative(z)
        step = STEP * np.maximum(1, np.abs(z))
        up, down = z + step, z - step
        return (_values(self.f, up) - _values(self.f, down)) / (up - down)

    def _given_derivative(self, z):
        """Values of the given derivative, which is checked at some of the scores."""

        def derivative(x):
            return values_of("derivative", self.derivative, x)

        values = derivative(z)
        is_finite = np.isfinite(values)
        check_values("derivative", z, values, is_finite, "be finite for all scores")
        points = z.ravel()[:: max(1, z.size // _N_CHECKED)]
        steps = STEP * np.maximum(1, np.abs(points))
        f = partial(values_of, "f", self.f)
        check_derivative(
            "derivative",
            derivative,
            function_name="f",
            function=f,
            x=points,
            step=steps,
        )
        return values


@lru_cache(maxsize=128)
def _traits_of(f, values):
    """Traits of the mapping of a function with these values."""
    return Traits(
        # Whether there are zeros for scores of the usual size.
        has_zeros=bool((_values(f, np.linspace(-20, 20, 401)) == 0).any()),
        base_score=_base_score(f),
        is_scale_invariant=_is_scale_invariant(f),
        is_shift_invariant=False,
        # The order is unknown.
        is_order_preserving=False,
    )


def _base_score(f):
    """Score at which f is positive: 0, or else 1 or -1."""
    at_zero, at_one, below = values_of("f", f, np.array([0.0, 1.0, -1.0]))
    if 0 < at_zero < np.inf:
        return 0.0
    return -1.0 if not at_one > 0 and below > 0 else 1.0


def _is_scale_invariant(f):
    """Whether f is a power, up to a factor for each sign."""
    values = [values_of("f", f, factor * _SCALES) for factor in (1, 2, 3)]
    if not np.isfinite(values).all():
        return False
    return all(_is_multiple(ahead, values[0]) for ahead in values[1:])


def _values(f, x):
    values = values_of("f", f, x)
    good = (values >= 0) & (values < np.inf)
    check_values("f", x, values, good, "be finite and not negative")
    return values


def _is_multiple(values, others):
    """Whether values are a positive multiple of others, up to rounding."""
    factor = values.sum() / others.sum() if others.sum() > 0 else 0.0
    return factor > 0 and np.allclose(values, factor * others, rtol=1e-12, atol=0)
