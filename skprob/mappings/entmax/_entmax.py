"""Entmax: a family of mappings that contains softmax and sparsemax."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..._utils.checks import RealInterval, as_rows, refuse_arrays
from ..._utils.scores import FEW_CLASSES
from ..._utils.typing import Array, ArrayLike
from .._base import Mapping
from .._jacobian import linearization_of
from .._row_blocks import along_axis
from .._softmax import Softmax
from .._traits import Traits
from . import _array_api
from ._candidates import compact
from ._pair import linearize_pair
from ._projection import by_projection
from ._quadratic import by_quadratic
from ._sorting import by_sorting
from ._steep_jacobian import entmax_jacobian
from ._tails import by_tails, log_linearize
from ._threshold import by_threshold


class Entmax(Mapping):
    r"""Entmax with parameter alpha: softmax at 1, sparsemax at 2, sparse above 1.

    .. math:: p_i = [(\alpha - 1) z_i - \tau]_+^{1 / (\alpha - 1)}

    with the threshold :math:`\tau` at which the probabilities sum to one (at
    :math:`\alpha = 1` the limit, softmax). The larger alpha is, the more classes with
    low scores have a probability of exactly zero. Below 1 no probability is zero, and
    that of a class falls like the power :math:`1 / (1 - \alpha)` of the distance to the
    largest score, where softmax falls exponentially.

    It is the gradient of :math:`F(z) = \max_p \langle p, z \rangle - \Omega(p)`, where
    :math:`-\Omega(p) = (1 - \sum_i p_i^\alpha) / (\alpha (\alpha - 1))` is the Tsallis
    entropy. With :math:`s_i = p_i^{2 - \alpha}` on the support, 0 elsewhere, its
    Jacobian is :math:`\mathrm{diag}(s) - s s^\top / \sum_i s_i`.

    Parameters
    ----------
    alpha : float, default=1.5
        Positive: 1 is softmax, 2 is sparsemax. Larger values make more probabilities
        zero.

    See Also
    --------
    Softmax, Sparsemax : The mappings of alpha 1 and 2.
    entmax : The same as a function, along any axis of an array.

    References
    ----------
    B. Peters, V. Niculae and A. F. T. Martins, "Sparse sequence-to-sequence models",
    ACL 2019.

    G. M. Correia, V. Niculae and A. F. T. Martins, "Adaptively sparse transformers",
    EMNLP 2019.

    M. Blondel, A. F. T. Martins and V. Niculae, "Learning with Fenchel-Young losses",
    Journal of Machine Learning Research 21, 2020.

    Examples
    --------
    >>> from skprob.mappings import Entmax
    >>> Entmax(alpha=1.5)([[2.0, 1.0, -1.0]]).round(3)
    array([[0.831, 0.169, 0.   ]])
    >>> Entmax(alpha=1.0)([[2.0, 1.0, -1.0]]).round(3)
    array([[0.705, 0.259, 0.035]])
    >>> Entmax(alpha=0.5)([[2.0, 1.0, -1.0]]).round(3)
    array([[0.573, 0.301, 0.126]])
    """

    _parameter_constraints = {"alpha": [RealInterval(0, None, closed="neither")]}

    def __init__(self, alpha: float = 1.5) -> None:
        self.alpha = alpha

    @property
    def traits(self):
        return _traits_of(self.alpha)

    def probabilities(self, scores):
        return self.probabilities_and_potential(scores)[0]

    def probabilities_and_potential(self, scores):
        alpha = float(self.alpha)
        if alpha == 1:
            return Softmax().probabilities_and_potential(scores)
        if not isinstance(scores, np.ndarray):
            return _array_api.entmax(scores, alpha)
        if _are_few(scores) or alpha < 1:
            return _solve(scores, alpha)
        # A class this far below the largest score has probability zero.
        candidates, scatter = compact(scores, 1 / (1 - alpha))
        p, potential = _solve(candidates, alpha)
        return scatter(p), potential

    def negative_entropy(self, probabilities):
        alpha = float(self.alpha)
        if alpha == 1:
            return Softmax().negative_entropy(probabilities)
        if not isinstance(probabilities, np.ndarray):
            return _array_api.tsallis(probabilities, alpha)
        positive = probabilities > 0
        change = np.log(probabilities, where=positive, out=np.zeros_like(probabilities))
        change *= alpha - 1
        np.expm1(change, out=change)
        change *= probabilities
        return change.sum(axis=1) / (alpha * (alpha - 1))

    def linearize(self, scores):
        return self.linearize_with_potential(scores)[0]

    def linearize_with_potential(self, scores):
        alpha, slopes = float(self.alpha), None
        if alpha == 1:
            return Softmax().linearize_with_potential(scores)
        if alpha == 1.5 and _are_few(scores):
            # The slopes are the square roots of the probabilities.
            slopes, potential = by_quadratic(scores)
            p = np.square(slopes)
        else:
            p, potential = self.probabilities_and_potential(scores)
        return linearization_of(p, entmax_jacobian(p, alpha, slopes)), potential

    def linearize_difference(self, difference):
        alpha = float(self.alpha)
        if alpha == 1:
            return Softmax().linearize_difference(difference)
        return linearize_pair(difference, alpha) if alpha <= 2 else None

    def log_linearize(self, scores):
        if self.alpha == 1:
            return Softmax().log_linearize(scores)
        if self.alpha < 1:
            return log_linearize(scores, float(self.alpha))
        return super().log_linearize(scores)

    def alpha_derivative(self, scores: ArrayLike) -> Array:
        """Derivative of the probabilities in alpha.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_classes)
            Real scores; -inf means that the class is not available.

        Returns
        -------
        derivative : ndarray of shape (n_samples, n_classes)
            Rows sum to zero; zero outside the support.

        References
        ----------
        G. M. Correia, V. Niculae and A. F. T. Martins, "Adaptively sparse
        transformers", EMNLP 2019.

        Examples
        --------
        >>> from skprob.mappings import Entmax
        >>> Entmax(alpha=1.5).alpha_derivative([[1.0, 0.0]]).round(4)
        array([[ 0.2485, -0.2485]])
        """
        self._validate_params()
        refuse_arrays("alpha_derivative", scores=scores)
        scores = as_rows(scores)
        # Compute in float64: the derivative is less accurate than the probability.
        p = self(scores.astype(np.float64, copy=False))
        beta = float(self.alpha) - 1
        derivative = _near_softmax if beta < 0.5 else _far_from_softmax
        return derivative(p, beta).astype(scores.dtype, copy=False)


# Cached, because a fit reads the traits several times in each evaluation.
@lru_cache(maxsize=256)
def _traits_of(alpha):
    return Traits(
        has_potential=True,
        supports_array_api=True,
        has_zeros=bool(alpha > 1),
        # With a larger alpha the slope is infinite at probability zero.
        is_lipschitz=bool(alpha <= 2),
        is_projection=bool(alpha == 2),
    )


def _are_few(scores):
    """Whether the classes are so few that rows need not be made narrower."""
    return isinstance(scores, np.ndarray) and scores.shape[1] <= FEW_CLASSES


def _solve(scores, alpha):
    if alpha < 1:
        return by_tails(scores, alpha)
    if alpha == 1.5:
        roots, potential = by_quadratic(scores)
        return np.square(roots, out=roots), potential
    if alpha < 2:
        return by_threshold(scores, alpha)
    if alpha == 2:
        return by_projection(scores)
    return by_sorting(scores, alpha)


def entmax(scores: ArrayLike, alpha: float = 1.5, axis: int = -1) -> Array:
    """Entmax along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    alpha : float, default=1.5
        Positive: softmax is 1, sparsemax is 2.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If alpha is not a positive number; if the scores are not real numbers,
        hold NaN or +inf, or only -inf along the axis; if there is no such axis.

    See Also
    --------
    Entmax : The mapping, with its potential, entropy and Jacobian.

    Examples
    --------
    >>> from skprob.mappings import entmax
    >>> entmax([2.0, 1.0, -1.0]).round(3)
    array([0.831, 0.169, 0.   ])
    >>> entmax([[0.0, 2.0], [0.0, 0.0]], alpha=2, axis=0)
    array([[0.5, 1. ],
           [0.5, 0. ]])
    """
    return along_axis(Entmax(alpha), scores, axis)


def _near_softmax(p, beta):
    """Derivative of entmax in alpha = 1 + beta, for a small beta.

    It is the sum of two terms: the derivative of log p = log1p(beta (z - lam)) / beta
    for fixed lam, computed without the cancellation of a division by beta², and the
    effect of the change of lam.
    """
    support = p > 0
    log_p = np.log(p, where=support, out=np.zeros_like(p))
    still = -p * log_p**2 * _exp_tail(-beta * log_p)
    s = np.exp((1 - beta) * log_p, where=support, out=np.zeros_like(p))
    total = still.sum(axis=1, keepdims=True) / s.sum(axis=1, keepdims=True)
    return still - s * total


def _far_from_softmax(p, beta):
    """Derivative of entmax in alpha = 1 + beta, for a large beta.

    With r = p (1 - beta log p) and the shares w of s = p^(1 - beta) in its sum, it is
    (r - w sum(r)) / beta². The powers s may overflow, but only their shares are used.
    """
    support = p > 0
    log_p = np.log(p, where=support, out=np.zeros_like(p))
    share = np.where(support, (1 - beta) * log_p, -np.inf)
    share = np.exp(share - share.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    r = p * (1 - beta * log_p)
    return (r - share * r.sum(axis=1, keepdims=True)) / beta**2


def _exp_tail(x):
    """(exp(x) - 1 - x) / x², without cancellation near zero."""
    small = np.abs(x) < 0.5
    near = np.where(small, x, 0)
    series = np.zeros_like(x)
    for n in range(17, 1, -1):
        series = 1 / math.factorial(n) + near * series
    far = np.where(small, 1, x)
    return np.where(small, series, (np.expm1(far) - far) / far**2)
