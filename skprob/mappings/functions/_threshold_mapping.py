"""A mapping that subtracts a threshold from the scores of an increasing function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._utils.arrays import copied
from ..._utils.scores import standard_scores
from ..._utils.typing import Array
from .._base import Mapping
from .._jacobian import ThresholdJacobian
from .._linearization import Linearization
from .._numerical import STEP, numerical_vjp_derivative
from .._row_matrices import ScaledMatrices
from .._traits import Traits
from ._antiderivative import LOWEST
from ._increasing_function import increasing_function
from ._monotone_root import decreasing_root
from ._user_function import check_values, values_of

# Largest rounding error of a given derivative at its zeros.
_NEGATIVE = 1e-8


class ThresholdMapping(Mapping):
    r"""A mapping that subtracts a threshold from the scores of an increasing function.

    .. math:: p_i = g(z_i - \lambda), \quad \lambda \text{ such that } \sum_i p_i = 1

    With exp for g it is softmax, with max(x, 0) sparsemax and with
    :math:`\max(\beta x, 0)^{1 / \beta}` entmax of :math:`\alpha = 1 + \beta`. It is the
    gradient of the convex function

    .. math:: F(z) = \min_\lambda \lambda + \sum_i G(z_i - \lambda), \quad
       G(x) = \int_{-\infty}^x g(t) \, dt

    (up to a constant, which is chosen such that F is zero for one class with score
    zero), and with :math:`s_i = g'(z_i - \lambda)` its Jacobian is
    :math:`\mathrm{diag}(s) - s s^\top / \sum_i s_i`. If the integral is infinite,
    there is no potential, and classifiers use the log loss.

    Parameters
    ----------
    g : callable
        ``g(x)`` for an array of float64 of any shape, element by element. It must be
        non-negative, continuous and non-decreasing, with values from less than
        1 / n_classes to 1 or more, and return float64. Where it is above 1 it need not
        be finite.
    derivative : callable, default=None
        The derivative of `g`, in the same form. If None, it is computed by central
        differences, with errors of about 1e-10.
    integral : callable, default=None
        An antiderivative of `g`, with any constant, in the same form. If None, it is
        computed by quadrature, with errors of about 1e-15, from about ten values of `g`
        for each score.

    See Also
    --------
    NormalizedMapping : A function divided by its sum.
    FunctionMapping : Any function from all scores of a row to its probabilities.

    Notes
    -----
    For a potential the integral of g from minus infinity must be finite: g must
    decrease to zero, faster than :math:`1 / |x|`. The power of the tail is estimated at
    values of g of about 1e-12. With a power of 1.01 or less the integral counts as
    infinite. With a power of less than about 1.13 it converges too slowly for double
    precision. In these cases there is no potential, unless `integral` is given and
    converges.

    The quadrature takes at most 1,000,000 values of g, once for each g. This is enough
    for about a thousand kinks. An error above 1e-7 raises a ValueError. If g computes
    small values as differences of numbers near one, such as :math:`1 + x / \sqrt{1 +
    x^2}`, the potential has an error of about 1e-8.

    Derivative and integral are compared with g at 25 points. The state of g may change
    between calls, and g need not be hashable.

    g should have a bounded derivative. For entmax with alpha above 2 it is unbounded:
    use :class:`Entmax`, whose Jacobian is more accurate.

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
    def traits(self):
        function = increasing_function(self.g)
        because = self._no_potential_because(function)
        return Traits(
            has_potential=not because,
            no_potential_because=because,
            has_zeros=function.has_zeros,
        )

    def _standard(self, scores, first_row=0):
        # The traits are not used, because they need values of g.
        return standard_scores(scores, True, first_row)

    def _no_potential_because(self, function):
        """Reason why there is no potential; '' if there is one."""
        if self.integral is None:
            return function.no_integral_because
        return self._given_integral_diverges()

    def _given_integral_diverges(self):
        """Reason why the given integral does not converge; '' if it does."""
        low, far = values_of("integral", self.integral, np.array([LOWEST, -1e100]))
        if np.isnan(low) or np.isnan(far):
            raise ValueError(
                "integral must not be NaN, also for small arguments; it is "
                f"{low:.3g} at {LOWEST:.3g} and {far:.3g} at -1e+100."
            )
        if np.isfinite(low) and abs(far - low) <= 1e-12:
            return ""
        return (
            "the integral of g from minus infinity is infinite: the given one is "
            f"{low:.3g} at {LOWEST:.3g} and {far:.3g} at -1e+100"
        )

    def probabilities(self, scores):
        return self._solve(self._function(), scores)[0].astype(scores.dtype, copy=False)

    def probabilities_and_potential(self, scores):
        g = self._function()
        p, x, lam = self._solve(g, scores)
        return p.astype(scores.dtype), self._potential(g, x, lam).astype(scores.dtype)

    def linearize(self, scores):
        return self._linearize(self._function(), scores)[0]

    def linearize_with_potential(self, scores):
        g = self._function()
        linear, x, lam = self._linearize(g, scores)
        return linear, self._potential(g, x, lam).astype(scores.dtype)

    def negative_entropy(self, probabilities):
        self._needs_integral()
        g = self._function()
        p = np.asarray(probabilities, dtype=np.float64)
        inside = p > 0
        goal = p[inside]
        # Double the distance until g is small enough.
        low, reach = np.full(goal.shape, g.top), 1.0
        while reach < -LOWEST and (above := g(low) > goal).any():
            low[above] -= reach
            reach *= 2

        def excess(x, which):
            return goal[which] - g(x), None

        x = decreasing_root(excess, low, np.full(goal.shape, g.top))[0]
        terms = np.zeros_like(p)
        terms[inside] = goal * x - self._G(g, x)
        certain = self._G(g, np.array([g.top]))[0] - g.top
        return (terms.sum(axis=1) + certain).astype(np.asarray(probabilities).dtype)

    def _function(self):
        """The function g, after its derivative and integral have been checked."""
        g = increasing_function(self.g)
        if self.derivative is not None:
            g.check_derivative(self._derivative)
        if self.integral is not None:
            g.check_integral(self._integral)
        return g

    def _linearize(self, g, scores):
        p, x, lam = self._solve(g, scores)
        linear = self._products(g, p, x, scores.dtype)

        def vjp_at(points):
            p, x, _ = self._solve(g, points)
            return self._products(g, p, x, points.dtype).vjp

        vjp_derivative = numerical_vjp_derivative(vjp_at, scores)
        return linear._replace(vjp_derivative=vjp_derivative), x, lam

    def _products(self, g, p, x, dtype):
        slopes = self._slopes(g, x, p)
        total = slopes.sum(axis=1, keepdims=True)
        # With shares of the sum, the slope of a single class is exactly zero.
        shares = np.divide(slopes, total, out=np.zeros_like(slopes), where=total > 0)
        total = total.astype(dtype)
        jacobian = ScaledMatrices(
            ThresholdJacobian(shares.astype(dtype)), lambda product: total * product
        )

        def vjp(direction):
            return jacobian.product(copied(direction))

        return Linearization(p.astype(dtype), jacobian.product, vjp, None, jacobian)

    def _solve(self, g, scores):
        """Probabilities, the arguments of g, and the thresholds, in float64."""
        available = scores > -np.inf
        z = np.where(available, scores, 0).astype(np.float64)
        low = np.full(len(z), -g.top)
        high = np.full(len(z), -g.argument_below(1 / z.shape[1]))

        def excess(lam, rows):
            x = np.maximum(z[rows] - lam[:, None], LOWEST)
            p = np.where(available[rows], g(x), 0)
            slope = None
            if self.derivative is not None:
                slope = -self._slopes(g, x, p).sum(axis=1)
            return p.sum(axis=1) - 1, slope

        lam, errors = decreasing_root(excess, low, high)
        if np.abs(errors).max(initial=0) > 1e-6:
            raise ValueError(
                f"g must be continuous; with {self!r} probabilities of a row sum to "
                f"{1 + errors[np.abs(errors).argmax()]:.6g} instead of 1."
            )
        x = np.maximum(z - lam[:, None], LOWEST)
        p = np.where(available, g(x), 0)
        p /= p.sum(axis=1, keepdims=True)
        return p, np.where(available, x, LOWEST), lam

    def _slopes(self, g, x, p):
        # A probability of zero is also zero at nearby scores.
        inside = p > 0
        if self.derivative is not None:
            slopes = np.where(inside, self._derivative(x), 0)
            good = (slopes >= -_NEGATIVE) & (slopes < np.inf)
            requirement = "be finite and not negative where g is positive"
            check_values("derivative", x, slopes, good, requirement)
            return np.maximum(slopes, 0)
        step = STEP * np.maximum(1, np.abs(x))
        middle, ahead, behind, far = (g(x + n * step) for n in (0, 1, -1, 2))
        # At the edge of the support a central difference is the mean of two slopes.
        at_edge = behind == 0
        rise = np.where(at_edge, 4 * ahead - 3 * middle - far, ahead - behind)
        return np.where(inside, np.maximum(rise, 0) / (2 * step), 0)

    def _potential(self, g, x, lam):
        self._needs_integral()
        certain = self._G(g, np.array([g.top]))[0] - g.top
        return lam + self._G(g, x).sum(axis=1) - certain

    def _G(self, g, x):
        """The integral from minus infinity, which is zero at minus infinity."""
        if self.integral is None:
            return g.antiderivative(x)
        end = self._integral(np.array([LOWEST]))[0]
        total = np.where(x <= LOWEST, 0, self._integral(x) - end)
        check_values("integral", x, total, np.isfinite(total), "be finite")
        return total

    def _derivative(self, x):
        return values_of("derivative", self.derivative, x)

    def _integral(self, x):
        return values_of("integral", self.integral, x)

    def _needs_integral(self):
        because = self._no_potential_because(increasing_function(self.g))
        if because:
            raise TypeError(
                f"ThresholdMapping does not provide a potential: {because}."
            )
