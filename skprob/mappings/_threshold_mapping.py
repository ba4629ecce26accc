"""A mapping made of any increasing function, by a threshold."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from .._typing import Array
from ._antiderivative import LOWEST, Antiderivative
from ._base import Mapping
from ._jacobian import ThresholdJacobian
from ._linearization import Linearization
from ._monotone_root import decreasing_root
from ._numerical import numerical_vjp_derivative

# Balances truncation against rounding in a central difference.
_STEP = np.finfo(np.float64).eps ** (1 / 3)


class ThresholdMapping(Mapping):
    r"""A mapping made of any increasing function, by a threshold.

    .. math:: p_i = g(z_i - \lambda), \quad \lambda \text{ such that } \sum_i p_i = 1

    With exp for g it is softmax, with max(x, 0) sparsemax and with
    :math:`\max(\beta x, 0)^{1 / \beta}` entmax of :math:`\alpha = 1 + \beta`. It is the
    gradient of the convex function

    .. math:: F(z) = \min_\lambda \lambda + \sum_i G(z_i - \lambda), \quad
       G(x) = \int_{-\infty}^x g(t) \, dt

    (up to a constant, which is chosen such that F is zero for one class with score
    zero), and with :math:`s_i = g'(z_i - \lambda)` its Jacobian is
    :math:`\mathrm{diag}(s) - s s^\top / \sum_i s_i`. If the integral does not converge,
    there is no potential, and classifiers use the log loss.

    Parameters
    ----------
    g : callable
        ``g(x)`` for an array of float64, element by element. It must be non-negative,
        continuous and non-decreasing, with values from less than 1 / n_classes to 1 or
        more. Where it is above 1 it need not be finite.
    derivative : callable, default=None
        The derivative of `g`. If None, it is computed by central differences, with
        errors of about 1e-10.
    integral : callable, default=None
        An antiderivative of `g`, with any constant. If None, it is computed by
        quadrature, with errors of about 1e-15, from about ten values of `g` for each
        score.

    See Also
    --------
    NormalizedMapping : A function divided by its sum.
    FunctionMapping : Any function from all scores of a row to its probabilities.

    Notes
    -----
    g should have a bounded derivative. Where it has none, as entmax with
    alpha above 2, use :class:`Entmax`, whose Jacobian is more accurate there.

    References
    ----------
    M. Blondel, A. F. T. Martins and V. Niculae, "Learning with Fenchel-Young losses",
    Journal of Machine Learning Research 21, 2020 (separable regularisation).

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.mappings import ThresholdMapping
    >>> ThresholdMapping(np.exp)([[2.0, 1.0, -1.0]]).round(3)  # softmax
    array([[0.705, 0.259, 0.035]])
    >>> ThresholdMapping(lambda x: np.maximum(x, 0))([[0.5, 0.25, -1.0]])  # sparsemax
    array([[0.625, 0.375, 0.   ]])
    >>> ThresholdMapping(lambda x: np.maximum(x / 2, 0) ** 2)(  # entmax
    ...     [[2.0, 1.0, -1.0]]
    ... ).round(3)
    array([[0.831, 0.169, 0.   ]])
    """

    _parameter_constraints = {
        "g": [callable],
        "derivative": [callable, None],
        "integral": [callable, None],
    }

    def __init__(
        self,
        g: Callable[[Array], Array],
        derivative: Callable[[Array], Array] | None = None,
        integral: Callable[[Array], Array] | None = None,
    ) -> None:
        self.g = g
        self.derivative = derivative
        self.integral = integral

    @property
    def has_potential(self):
        if self.integral is None:
            return _antiderivative(self.g).converges
        return bool(abs(self._G(np.array(-1e100))) <= 1e-12)

    @property
    def has_zeros(self):
        return _profile(self.g)[1]

    def probabilities(self, scores):
        return self._solve(scores)[0].astype(scores.dtype, copy=False)

    def probabilities_and_potential(self, scores):
        p, x, lam = self._solve(scores)
        return p.astype(scores.dtype), self._potential(x, lam).astype(scores.dtype)

    def linearize(self, scores):
        return self._linearize(scores)[0]

    def linearize_with_potential(self, scores):
        linear, x, lam = self._linearize(scores)
        return linear, self._potential(x, lam).astype(scores.dtype)

    def negative_entropy(self, probabilities):
        self._needs_integral()
        p = np.asarray(probabilities, dtype=np.float64)
        inside = p > 0
        goal = p[inside]
        top = _profile(self.g)[0]
        # Where g is that small: twice as far down each time.
        low, reach = np.full(goal.shape, float(top)), 1.0
        while reach < -LOWEST and (above := _values(self.g, low) > goal).any():
            low[above] -= reach
            reach *= 2

        def excess(x, which):
            return goal[which] - _values(self.g, x), None

        x = decreasing_root(excess, low, np.full(goal.shape, float(top)))[0]
        terms = np.zeros_like(p)
        terms[inside] = goal * x - self._G(x)
        certain = self._G(np.array(top)) - top
        return (terms.sum(axis=1) + certain).astype(np.asarray(probabilities).dtype)

    def _linearize(self, scores):
        p, x, lam = self._solve(scores)
        linear = self._products(p, x, scores.dtype)

        def vjp_at(points):
            p, x, _ = self._solve(points)
            return self._products(p, x, points.dtype).vjp

        vjp_derivative = numerical_vjp_derivative(vjp_at, scores)
        return linear._replace(vjp_derivative=vjp_derivative), x, lam

    def _products(self, p, x, dtype):
        slopes = self._slopes(x, p)
        total = slopes.sum(axis=1, keepdims=True)
        # In shares of their sum, so that a class alone has no slope, to the last bit.
        shares = np.divide(slopes, total, out=np.zeros_like(slopes), where=total > 0)
        jacobian = ThresholdJacobian(shares.astype(dtype))
        products = jacobian.product, jacobian.product_of_copy, None, jacobian.diagonal
        total = total.astype(dtype)
        return Linearization(p.astype(dtype), *products).in_units(
            lambda product: total * product
        )

    def _solve(self, scores):
        """Probabilities, the arguments of g, and the thresholds, in float64."""
        available = scores > -np.inf
        z = np.where(available, scores, 0).astype(np.float64)
        top = _profile(self.g)[0]
        low = np.full(len(z), -float(top))
        high = np.full(len(z), -_argument(self.g, 1 / z.shape[1], above=False))

        def excess(lam, rows):
            x = np.maximum(z[rows] - lam[:, None], LOWEST)
            p = np.where(available[rows], _values(self.g, x), 0)
            slope = None
            if self.derivative is not None:
                slope = -self._slopes(x, p).sum(axis=1)
            return p.sum(axis=1) - 1, slope

        lam, off = decreasing_root(excess, low, high)
        if np.abs(off).max(initial=0) > 1e-6:
            raise ValueError(
                f"g must be continuous; with {self!r} probabilities of a row sum to "
                f"{1 + off[np.abs(off).argmax()]:.6g} instead of 1."
            )
        x = np.maximum(z - lam[:, None], LOWEST)
        p = np.where(available, _values(self.g, x), 0)
        p /= p.sum(axis=1, keepdims=True)
        return p, np.where(available, x, LOWEST), lam

    def _slopes(self, x, p):
        # A probability of zero stays zero nearby.
        inside = p > 0
        if self.derivative is not None:
            with np.errstate(all="ignore"):
                slopes = np.asarray(self.derivative(x), dtype=np.float64)
            return np.where(inside, slopes, 0)
        step = _STEP * np.maximum(1, np.abs(x))
        here, ahead, behind, far = (
            _values(self.g, x + n * step) for n in (0, 1, -1, 2)
        )
        # Across the edge of the support it would be the mean of two slopes.
        at_edge = behind == 0
        rise = np.where(at_edge, 4 * ahead - 3 * here - far, ahead - behind)
        return np.where(inside, np.maximum(rise, 0) / (2 * step), 0)

    def _potential(self, x, lam):
        self._needs_integral()
        top = _profile(self.g)[0]
        certain = self._G(np.array(top)) - top
        return lam + self._G(x).sum(axis=1) - certain

    def _G(self, x):
        """The integral from minus infinity, and zero there."""
        if self.integral is None:
            return _antiderivative(self.g)(x)
        with np.errstate(all="ignore"):
            ends = self.integral(np.array([LOWEST]))
            return np.where(x <= LOWEST, 0, self.integral(x) - ends[0])

    def _needs_integral(self):
        if not self.has_potential:
            raise self._lacks("a potential", "integral")


def _values(g, x):
    """Values of g, checked; what overflows is a large number."""
    with np.errstate(all="ignore"):
        values = np.asarray(g(x), dtype=np.float64)
    if values.shape != x.shape:
        raise ValueError(
            f"g must return an array of the shape of its argument, {x.shape}; it "
            f"returned shape {values.shape}."
        )
    good = values >= 0
    if not good.all():
        at, value = x[~good].flat[0], values[~good].flat[0]
        raise ValueError(f"g must not be negative or NaN; g({at:.6g}) is {value:.6g}.")
    return np.minimum(values, 1e300)


@functools.lru_cache(maxsize=128)
def _argument(g, value, above):
    """Where g reaches a value, to within a thousandth and from above or below."""
    low, high = -1.0, 1.0
    while _values(g, np.array(low)) > value:
        low *= 2
        if low < LOWEST:
            raise ValueError(
                f"g must become less than {value:.3g} for small arguments."
            )
    while _values(g, np.array(high)) < value:
        high *= 2
        if high > -LOWEST:
            raise ValueError(f"g must become {value:.3g} or more for large arguments.")
    while True:
        middle = low + (high - low) / 2
        is_low = _values(g, np.array(middle)) < value
        # The one end to rounding: it is where a class is certain.
        near = 1e-3 * max(1, abs(middle)) if not above else 0
        if middle in (low, high) or high - low <= near:
            return high if above else low
        low, high = (middle, high) if is_low else (low, middle)


@functools.lru_cache(maxsize=128)
def _profile(g):
    """Where g is 1, and whether it is exactly zero somewhere, not by underflow."""
    top = _argument(g, 1.0, above=True)
    x = top - np.concatenate([[0], np.geomspace(1e-6, 1e4, 400)])
    values = _values(g, x)
    if (np.diff(values) > 1e-12).any():
        at = np.argmax(np.diff(values))
        raise ValueError(
            f"g must be increasing; g({x[at + 1]:.6g}) is {values[at + 1]:.6g} and "
            f"g({x[at]:.6g}) is {values[at]:.6g}."
        )
    zero = np.flatnonzero(values == 0)
    # Powers are far from underflow right beside their zero, exponentials are not.
    return top, bool(len(zero) and values[zero[0] - 1] > 1e-200)


@functools.lru_cache(maxsize=128)
def _antiderivative(g):
    top = _argument(g, 1.0, above=True)
    return Antiderivative(lambda x: _values(g, x), top)
