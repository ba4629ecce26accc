"""A marginal for each label: points of the cube instead of the simplex."""

import numpy as np
from scipy.special import log_expit

from .._validation import RealInterval
from ._base import DifferenceLinearization, Linearization, Mapping
from ._entmax import Entmax
from ._jacobian import power
from ._rows import along_axis


class Sigmoid(Mapping):
    r"""Each label's own probability, by two-class entmax of its score and zero.

    .. math:: p_k = \mathrm{entmax}_\alpha(0, z_k)_2 \in [0, 1]

    The probabilities are marginals: how likely is it that label k is in the set? They
    do not sum to one. With ``alpha=1`` they are logistic functions of the scores, and
    a fit is one logistic regression for each label (one-vs-rest); with ``alpha=2`` the
    hard sigmoid :math:`\min(\max((1 + z_k) / 2, 0), 1)`, which can be exactly zero and
    exactly one.

    The mapping is the gradient of :math:`F(z) = \sum_k F_\alpha(0, z_k)`, where
    :math:`F_\alpha` is the potential of :class:`Entmax` of two classes. Its
    Fenchel-Young loss is the sum of the losses of the labels, its Jacobian is diagonal.

    Parameters
    ----------
    alpha : float, default=1.0
        At least 1. Above it a label whose score is low enough has probability zero,
        and one whose score is high enough has probability one.

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
    """

    _parameter_constraints = {"alpha": [RealInterval(1, None, closed="left")]}
    polytope = "cube"
    has_potential = True
    is_shift_invariant = False
    is_separable = True

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    @property
    def has_zeros(self):
        return self.alpha > 1

    @property
    def is_lipschitz(self):
        """Whether probabilities rise from zero with a finite slope."""
        return self.alpha <= 2

    def probabilities(self, scores):
        return self.probabilities_and_potential(scores)[0]

    def probabilities_and_potential(self, scores):
        linear, potential = self.linearize_with_potential(scores)
        return linear.probabilities, potential

    def negative_entropy(self, probabilities):
        p = np.asarray(probabilities)
        pairs = np.stack([p.ravel(), 1 - p.ravel()], axis=1)
        entropies = Entmax(self.alpha).negative_entropy(pairs)
        return entropies.reshape(p.shape).sum(axis=1)

    def linearize(self, scores):
        return self.linearize_with_potential(scores)[0]

    def linearize_with_potential(self, scores):
        # In the order of the memory: the kernels of pairs take vectors.
        order = "F" if scores.flags.f_contiguous else "C"
        flat = scores.ravel(order)
        pair = Entmax(self.alpha).linearize_difference(flat)
        if pair is None:
            pair = _by_entmax(flat, float(self.alpha))

        def laid_out(vector):
            return vector.reshape(scores.shape, order=order)

        def diagonal():
            return laid_out(pair.derivative())

        def product(direction):
            return direction * diagonal()

        def derivative_of_product(cotangent, direction):
            curvature = laid_out(_second_derivative(pair, self.alpha))
            return cotangent * direction * curvature

        # That of a pair is less the larger of its scores, which are 0 and z.
        potential = laid_out(pair.potential).sum(axis=1)
        p = laid_out(pair.second)
        return (
            Linearization(p, product, product, derivative_of_product, diagonal),
            potential,
        )

    def log_linearize(self, scores):
        linear = super().log_linearize(scores)
        if self.alpha > 1:
            return linear
        # The logarithm of a probability next to one has digits that it has not.
        return linear._replace(probabilities=log_expit(scores))


def _by_entmax(difference, alpha):
    """The pairs' linearization from that of two classes, for any alpha."""
    scores = np.zeros((2, len(difference)), dtype=difference.dtype)
    np.negative(np.abs(difference), out=scores[1])
    p, potential = Entmax(alpha).probabilities_and_potential(scores.T)

    def derivative():
        s, t = power(p, 2 - alpha).T
        total = s + t
        return np.divide(s * t, total, out=np.zeros_like(total), where=total > 0)

    second = np.where(difference > 0, p[:, 0], p[:, 1])
    return DifferenceLinearization(second, potential, derivative)


def _second_derivative(pair, alpha):
    """That of the second probability p, p' d(p')/dp with p' = s t / (s + t)."""
    p, q = pair.second, 1 - pair.second
    inside = (p > 0) & (q > 0)
    p, q = (np.where(inside, a, 0.5) for a in (p, q))
    s, t = p ** (2 - alpha), q ** (2 - alpha)
    slope = (2 - alpha) * (t**2 * s / p - s**2 * t / q) / (s + t) ** 2
    return np.where(inside, slope * pair.derivative(), 0)


def sigmoid(scores, alpha=1.0, axis=-1):
    """Marginals of scores: two-class entmax of each of them and zero.

    Parameters
    ----------
    scores : array-like
        Real scores; -inf means that the label is not available.
    alpha : float, default=1.0
        At least 1: the logistic function is 1, the hard sigmoid 2.
    axis : int, default=-1
        The axis of the labels. Each label's probability depends on its score alone.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`

    Raises
    ------
    ValueError
        If scores are not real numbers, or NaN or +inf, or `alpha` is below 1.

    References
    ----------
    M. Blondel, "Structured prediction with projection oracles", NeurIPS 2019.

    Examples
    --------
    >>> from skprob.mappings import sigmoid
    >>> sigmoid([2.0, 0.0, -0.5], alpha=2.0)
    array([1.  , 0.5 , 0.25])
    """
    return along_axis(Sigmoid(alpha), scores, axis)
