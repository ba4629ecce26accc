"""Sigmoid: a marginal for each label, a point of the cube instead of the simplex."""

from __future__ import annotations

import numpy as np
from scipy.special import log_expit

from ..._utils.arrays import namespace
from ..._utils.checks import RealInterval, is_number
from ..._utils.typing import Array, ArrayLike
from .._base import Mapping
from .._jacobian import linearization_of, power
from .._linearization import Linearization
from .._row_blocks import along_axis
from .._row_matrices import DiagonalMatrices, RowMatrices
from .._traits import Traits
from ..entmax import Entmax, linearize_pair
from ._budget import within_budget

_TRAITS = Traits(polytope="cube", has_potential=True)


class Sigmoid(Mapping):
    r"""The probability of each label, by two-class entmax of its score and zero.

    .. math:: p_k = \mathrm{entmax}_\alpha(0, z_k)_2 \in [0, 1]

    The probabilities are marginals: each is the probability that label k is in the set.
    They do not sum to one. With ``alpha=1`` they are logistic functions of the scores,
    and a fit is one logistic regression for each label (one-vs-rest); with ``alpha=2``
    the hard sigmoid :math:`\min(\max((1 + z_k) / 2, 0), 1)`, which can be exactly zero
    and exactly one.

    The mapping is the gradient of :math:`F(z) = \sum_k F_\alpha(0, z_k)`, where
    :math:`F_\alpha` is the potential of :class:`Entmax` of two classes. Its
    Fenchel-Young loss is the sum of the losses of the labels, its Jacobian is diagonal.

    With a budget, the sum of the probabilities, which is the expected number of labels,
    is within bounds: if it is not, one number is subtracted from all scores of the row.
    This is the Bregman projection onto the points of the cube whose sum is within the
    bounds. The loss and the Jacobian are those of the projection.

    Parameters
    ----------
    alpha : float, default=1.0
        At least 1. If it is larger than 1, a label with a low enough score has
        probability zero, and one with a high enough score has probability one.
    budget : (float, float) or None, default=None
        Lower and upper bound of the sum of the probabilities of a row, with 0 <= lower
        <= upper and upper > 0. None means no bounds. The targets must be within the
        bounds.

    Attributes
    ----------
    sum_range : tuple of float
        The budget; (0, inf) without a budget.

    See Also
    --------
    Entmax : Probabilities of classes that exclude each other.
    sigmoid : The same as a function, along any axis of an array.

    References
    ----------
    M. Blondel, "Structured prediction with projection oracles", NeurIPS 2019.

    M. Blondel, A. F. T. Martins and V. Niculae, "Learning with Fenchel-Young losses",
    Journal of Machine Learning Research 21, 2020.

    Examples
    --------
    >>> from skprob.mappings import Sigmoid
    >>> Sigmoid()([[2.0, 0.0, -1.0]]).round(3)
    array([[0.881, 0.5  , 0.269]])
    >>> Sigmoid(alpha=2.0)([[2.0, 0.0, -0.5]])
    array([[1.  , 0.5 , 0.25]])
    >>> Sigmoid(alpha=2.0, budget=(0, 1))([[2.0, 0.0, -0.5]])
    array([[1., 0., 0.]])
    """

    _parameter_constraints = {
        "alpha": [RealInterval(1, None, closed="left")],
        "budget": ["array-like", None],
    }

    def __init__(
        self, alpha: float = 1.0, budget: tuple[float, float] | None = None
    ) -> None:
        self.alpha = alpha
        self.budget = budget

    def _validate_params(self):
        super()._validate_params()
        _bounds_of(self.budget)

    @property
    def traits(self):
        is_free = self.budget is None
        # A fit reads the traits before it checks the mapping.
        least, most = _bounds_of(self.budget)
        return _TRAITS.but(
            sum_range=(float(least), float(most)),
            # With equal bounds the sum of the probabilities is fixed.
            is_shift_invariant=least == most,
            has_zeros=self.alpha > 1,
            is_separable=is_free,
            supports_array_api=is_free,
        )

    @property
    def pair_mapping(self):
        """Entmax with the same alpha."""
        return Entmax(self.alpha)

    def probabilities(self, scores):
        return self.probabilities_and_potential(scores)[0]

    def probabilities_and_potential(self, scores):
        linear, potential = self.linearize_with_potential(scores)
        return linear.probabilities, potential

    def negative_entropy(self, probabilities):
        xp = namespace(probabilities)
        p = xp.reshape(probabilities, (-1,))
        entropies = Entmax(self.alpha).negative_entropy(xp.stack([p, 1 - p], axis=1))
        return xp.sum(xp.reshape(entropies, probabilities.shape), axis=1)

    def linearize(self, scores):
        return self.linearize_with_potential(scores)[0]

    def linearize_with_potential(self, scores):
        linear, potential = self._linearize_freely(scores)
        if self.budget is None:
            return linear, potential
        shifted, threshold, bound = self._within_budget(scores, linear.probabilities)
        is_active = ~np.isnan(bound)
        if not is_active.any():
            return linear, potential
        linear, potential = self._linearize_freely(shifted)
        # Potential of the dual problem minus the sum of the positive scores.
        raised = np.maximum(shifted, 0) - np.maximum(scores, 0)
        added = raised.sum(axis=1) + threshold * np.where(is_active, bound, 0)
        potential = (potential + added).astype(scores.dtype, copy=False)
        jacobian = BudgetJacobian(linear, is_active)
        return linearization_of(linear.probabilities, jacobian), potential

    def _within_budget(self, scores, marginals):
        """The result of `within_budget` for scores and marginals without a budget."""
        total, alpha = marginals.sum(axis=1, dtype=np.float64), float(self.alpha)
        return within_budget(
            scores, total, self._marginals, alpha, *self.traits.sum_range
        )

    def _marginals(self, scores):
        """Marginals without a budget, and a function that returns their derivatives."""
        linear, _ = self._linearize_freely(scores)
        return linear.probabilities, linear.jacobian.diagonal

    def _linearize_freely(self, scores):
        # The kernels of pairs take vectors, in memory order.
        xp = namespace(scores)
        is_turned = xp is np and scores.flags.f_contiguous
        flat = xp.reshape(scores.T if is_turned else scores, (-1,))
        pair = Entmax(self.alpha).linearize_difference(flat)
        if pair is None:
            pair = linearize_pair(flat, float(self.alpha))

        def laid_out(vector):
            if is_turned:
                return vector.reshape(scores.shape[::-1]).T
            return xp.reshape(vector, scores.shape)

        def derivative_of_product(cotangent, direction):
            curvature = laid_out(_second_derivative(pair, self.alpha))
            return cotangent * direction * curvature

        # The potential of a pair is that of standard scores, of 0 and z.
        potential = xp.sum(laid_out(pair.potential), axis=1)
        p = laid_out(pair.second)
        jacobian = MarginalsJacobian(p, self.alpha, lambda: laid_out(pair.derivative()))
        product = jacobian.product
        linear = Linearization(p, product, product, derivative_of_product, jacobian)
        return linear, potential

    def log_linearize(self, scores):
        linear = super().log_linearize(scores)
        if self.alpha > 1:
            return linear
        if self.budget is not None:
            scores = self._within_budget(scores, self._marginals(scores)[0])[0]
        # log(p) of a probability p close to one is inaccurate.
        log_p = log_expit if namespace(scores) is np else _log_expit
        return linear._replace(probabilities=log_p(scores))


def _bounds_of(budget):
    """Lower and upper bound of the sum; raise if a budget is not two such numbers."""
    if budget is None:
        return 0.0, np.inf
    bounds = tuple(budget) if np.iterable(budget) else ()
    if not (len(bounds) == 2 and all(map(is_number, bounds))):
        raise ValueError(
            f"budget must be two numbers, lower and upper bound; got {budget!r}."
        )
    least, most = bounds
    if not (0 <= least <= most and 0 < most and least < np.inf):
        raise ValueError(
            "budget must be (lower, upper) with 0 <= lower <= upper, a finite "
            f"lower bound and a positive upper bound; got {bounds!r}."
        )
    return bounds


def _log_expit(scores):
    xp = namespace(scores)
    return xp.where(scores < 0, scores, 0.0) - xp.log1p(xp.exp(-abs(scores)))


class MarginalsJacobian(DiagonalMatrices):
    """The Jacobian of marginals without a budget.

    With s = p^(2 - alpha) and t = (1 - p)^(2 - alpha) a derivative is s t / (s + t).
    """

    def __init__(self, marginals, alpha, derivatives):
        super().__init__(derivatives)
        self._marginals, self._alpha = marginals, alpha

    def after(self, change):
        if self._alpha >= 2:
            return None
        p = np.clip(self._marginals + change, 0, 1)
        s, t = (power(each, 2 - self._alpha) for each in (p, 1 - p))
        return DiagonalMatrices(lambda: s * t / (s + t))


class BudgetJacobian(RowMatrices):
    """The Jacobian if the sum of some rows is given.

    With the derivatives s of marginals without a budget, the Jacobian of such a row is
    diag(s) - s sᵀ / Σs.

    Parameters
    ----------
    free : Linearization
        Linearization of the marginals without a budget.
    is_active : ndarray of bool of shape (n_samples,)
        Rows whose sum is given.
    """

    def __init__(self, free, is_active):
        self._free, self._is_active = free, is_active

    def product(self, direction):
        return self._free.jvp(_centred(direction, self._shares()))

    def diagonal(self):
        return self._free.jacobian.diagonal() * (1 - self._shares())

    def derivative_of_product(self, cotangent, direction):
        shares = self._shares()
        both = _centred(cotangent, shares), _centred(direction, shares)
        slope = self._free.vjp_derivative(*both)
        return slope - shares * slope.sum(axis=1, keepdims=True)

    def _shares(self):
        """Shares s / Σs in rows with a given sum, zero in other rows."""
        s = self._free.jacobian.diagonal()
        total = s.sum(axis=1, keepdims=True)
        where = self._is_active[:, None] & (total > 0)
        return np.divide(s, total, out=np.zeros_like(s), where=where)


def _centred(direction, shares):
    return direction - (shares * direction).sum(axis=1, keepdims=True)


def _second_derivative(pair, alpha):
    """Second derivative of the probability p: p' d(p')/dp with p' = s t / (s + t).

    With u = 1 / s and v = 1 / t it is p' (2 - alpha) (u / p - v / q) / (u + v)².
    """
    p, q = pair.second, 1 - pair.second
    inside = (p > 0) & (q > 0)
    where = namespace(p).where
    p, q = (where(inside, a, 0.5) for a in (p, q))
    if alpha > 2:
        # The powers s and t may overflow.
        u, v = p ** (alpha - 2), q ** (alpha - 2)
        slope = (2 - alpha) * (u / p - v / q) / (u + v) ** 2
    else:
        s, t = p ** (2 - alpha), q ** (2 - alpha)
        slope = (2 - alpha) * (t**2 * s / p - s**2 * t / q) / (s + t) ** 2
    return where(inside, slope * pair.derivative(), 0.0)


def sigmoid(
    scores: ArrayLike,
    alpha: float = 1.0,
    axis: int = -1,
    budget: tuple[float, float] | None = None,
) -> Array:
    """Marginals of scores: two-class entmax of each of them and zero.

    Parameters
    ----------
    scores : array-like
        Real scores; -inf means that the label is not available.
    alpha : float, default=1.0
        At least 1: the logistic function is 1, the hard sigmoid 2.
    axis : int, default=-1
        The axis of the labels. Without a budget each label's probability depends on
        its score alone.
    budget : (float, float) or None, default=None
        Lower and upper bound of the sum of the probabilities along the axis.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`

    Raises
    ------
    ValueError
        If scores are not real numbers, or hold NaN or +inf; if `alpha` is below 1; if
        the budget is malformed or its lower bound exceeds the number of available
        labels.

    See Also
    --------
    Sigmoid : The mapping, with its potential, entropy and Jacobian.
    entmax : Probabilities that sum to one.

    References
    ----------
    M. Blondel, "Structured prediction with projection oracles", NeurIPS 2019.

    Examples
    --------
    >>> from skprob.mappings import sigmoid
    >>> sigmoid([2.0, 0.0, -0.5], alpha=2.0)
    array([1.  , 0.5 , 0.25])
    >>> sigmoid([2.0, 0.0, -0.5], alpha=2.0, budget=(2, 2))
    array([1.   , 0.625, 0.375])
    """
    return along_axis(Sigmoid(alpha, budget), scores, axis)
