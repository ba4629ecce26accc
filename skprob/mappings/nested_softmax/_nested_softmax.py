"""Nested softmax: softmax over nests of similar classes, and within each nest."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr, xlogy
from sklearn.base import clone

from ..._utils.checks import RealInterval, series_in_order
from ..._utils.typing import Array, ArrayLike
from .._base import Mapping
from .._linearization import Linearization
from .._row_blocks import along_axis
from .._traits import Traits
from ._nests import (
    ClassesOfNests,
    are_by_name,
    check_nests,
    check_scales,
    indices_of,
    number_of,
)

_TRAITS = Traits(has_potential=True)
# Smallest scale that is learnt: at smaller ones classes of a nest hardly differ.
_SMALLEST = 0.01


class NestedSoftmax(Mapping):
    r"""Nested softmax (nested logit): classes of one nest compete more closely.

    The classes are divided into nests B, each with a scale :math:`0 < \mu_B \le 1`:

    .. math:: p_i = P(B)\, P(i \mid B), \quad
        P(i \mid B) = \frac{\exp(z_i / \mu_B)}{\exp I_B}, \quad
        P(B) = \frac{\exp(\mu_B I_B)}{\sum_C \exp(\mu_C I_C)}, \quad
        I_B = \log \sum_{i \in B} \exp(z_i / \mu_B)

    for a class i of nest B. With all scales 1 it is softmax. The smaller the scale, the
    more similar the classes of the nest: when a class becomes less likely, most of its
    probability goes to the other classes of its nest. It is the probability of having
    the largest score after Gumbel noise is added that is correlated within nests, with
    correlation :math:`1 - \mu_B^2`.

    It is the gradient of :math:`F(z) = \log \sum_B \exp(\mu_B I_B)`, with
    :math:`\Omega(p) = \sum_B \mu_B \sum_{i \in B} p_i \log p_i + \sum_B (1 - \mu_B) P_B
    \log P_B` and :math:`P_B = \sum_{i \in B} p_i`. The mapping does not preserve order
    between nests: a class may have a higher score and a lower probability than a class
    of another nest.

    Parameters
    ----------
    nests : list of lists, array-like of shape (n_classes,) or None, default=None
        Lists of class names, such as ``[["bus", "train"], ["car", "taxi"]]``. A
        classifier matches them with its ``classes_``; without a classifier the names
        are numbers of columns. A class in no list is a nest of its own. Or the index of
        the nest of each class: integers from 0 to n_nests - 1, each at least once; a
        classifier matches a pandas Series with its ``classes_`` by name. None stands
        for one nest of all classes.
    scales : float or array-like of shape (n_nests,), default=1.0
        The scale of each nest, above 0 and at most 1; a number is the scale of all
        nests. With one nest the mapping is softmax at this temperature.
    learn_noise : bool, default=False
        Whether :class:`~skprob.linear_model.LinearClassifier` estimates the scales
        together with the coefficients, by maximum likelihood: the log loss. The search
        starts from `scales`, and ends between 0.01 and 1. The scale of a nest with one
        class has no effect and stays. The fitted ``mapping_`` has the estimates.

    See Also
    --------
    Softmax : The same with all scales 1.
    PerturbMax : Correlated noise of other kinds, by its `loadings`.
    nested_softmax : The same as a function, along any axis of an array.

    References
    ----------
    D. McFadden, "Modelling the choice of residential location", in Spatial Interaction
    Theory and Planning Models, 1978.

    K. E. Train, "Discrete Choice Methods with Simulation", second edition, chapter 4,
    2009.

    Examples
    --------
    >>> from skprob.mappings import NestedSoftmax
    >>> car_or_bus = NestedSoftmax(nests=[0, 1, 1], scales=[1.0, 0.01])
    >>> car_or_bus([[0.0, 0.0, 0.0]]).round(3)  # two buses that are the same
    array([[0.498, 0.251, 0.251]])
    >>> NestedSoftmax(nests=[0, 1, 1])([[0.0, 0.0, 0.0]]).round(3)
    array([[0.333, 0.333, 0.333]])

    A nested logit with an estimated scale, from labels that are drawn with the scale
    0.4:

    >>> import numpy as np
    >>> from skprob import LinearClassifier
    >>> rng, names = np.random.default_rng(0), np.array(["bus", "car", "train"])
    >>> X = rng.normal(size=(2000, 2))
    >>> p = NestedSoftmax([[0, 2]], scales=0.4)(X @ [[1.0, 0.0, -1.0], [0.0, 1.0, 1.0]])
    >>> y = names[(p.cumsum(axis=1) < rng.random((2000, 1))).sum(axis=1)]
    >>> nested = NestedSoftmax([["bus", "train"]], learn_noise=True)
    >>> model = LinearClassifier(nested, C=np.inf).fit(X, y)
    >>> round(model.mapping_.scales[0], 1)
    0.4
    """

    _parameter_constraints = {
        "nests": ["array-like", None],
        "scales": [RealInterval(0, 1, closed="right"), "array-like"],
        "learn_noise": ["boolean"],
    }

    def __init__(
        self,
        nests: ArrayLike | list[Any] | None = None,
        scales: float | ArrayLike = 1.0,
        learn_noise: bool = False,
    ) -> None:
        self.nests = nests
        self.scales = scales
        self.learn_noise = learn_noise

    def _validate_params(self):
        super()._validate_params()
        self._checked_scales()

    @property
    def traits(self):
        # Whether all classes are in one nest, or all scales 1.
        is_plain = self.nests is None or bool((np.asarray(self.scales) == 1).all())
        return _TRAITS.but(is_symmetric=is_plain, is_order_preserving=is_plain)

    def for_classes(
        self, n_classes: int, labels: ArrayLike | None = None
    ) -> NestedSoftmax:
        """The mapping with the index of the nest of each class.

        Parameters
        ----------
        n_classes : int
        labels : array-like of shape (n_labels,), default=None
            Names of the first classes; None stands for 0, ..., n_classes - 1.

        Returns
        -------
        mapping : NestedSoftmax
            The mapping itself if its nests are indices without names.

        Raises
        ------
        ValueError
            If a name in the nests is not that of a class, or nests without names are
            not one for each class.
        """
        if hasattr(self.nests, "iloc") and labels is not None:
            nests = series_in_order("nests", self.nests, np.asarray(labels))
            return clone(self).set_params(nests=np.asarray(nests).tolist())
        if not are_by_name(self.nests):
            if self.nests is not None and len(self.nests) != n_classes:
                raise ValueError(
                    f"nests must have an entry for each of the {n_classes} classes; "
                    f"got {len(self.nests)}."
                )
            return self
        names = range(n_classes) if labels is None else np.asarray(labels).tolist()
        nests = indices_of(self.nests, names, n_classes)
        scales = self._checked_scales()
        scales += [1.0] * (nests.max() + 1 - len(scales))
        return clone(self).set_params(nests=nests.tolist(), scales=scales)

    def noise_parameters(self) -> np.ndarray:
        """Logarithms of the scales of nests with several classes, as a vector.

        Returns
        -------
        parameters : ndarray of shape (n_parameters,)
        """
        scales = np.array(self._checked_scales())
        return np.maximum(np.log(scales[self._learnt_nests()]), np.log(_SMALLEST))

    def noise_parameter_bounds(self) -> list[tuple[float, float]]:
        """Lower and upper bound of each parameter, a list of pairs."""
        return [(np.log(_SMALLEST), 0.0)] * len(self._learnt_nests())

    def with_noise_parameters(self, parameters: ArrayLike) -> NestedSoftmax:
        """A copy of the mapping with other scales."""
        scales = np.array(self._checked_scales())
        scales[self._learnt_nests()] = np.minimum(np.exp(parameters), 1.0)
        return clone(self).set_params(scales=scales.tolist())

    def log_noise_gradient(self, scores: ArrayLike, q: ArrayLike) -> Array:
        """Derivatives of Σ_k q_k log p_k in the noise parameters (a kernel).

        Parameters
        ----------
        scores, q : ndarray of shape (n_samples, n_classes)

        Returns
        -------
        gradient : ndarray of shape (n_samples, n_parameters)
        """
        log_p, within, _, nests = self._log_probabilities(scores)
        total = q.sum(axis=1, keepdims=True)
        # Classes that are not available have no part in the sums.
        z = np.where(within > 0, scores, 0)
        mean = nests.spread(nests.sums(within * z))
        inside = nests.sums(q * (mean - z)) / nests.scales
        surplus = nests.sums(q) - total * nests.sums(np.exp(log_p))
        gradient = inside + nests.scales * surplus * nests.sums(entr(within))
        return gradient[:, self._learnt_nests()]

    @property
    def n_nests(self) -> int:
        """Number of nests that have an entry of `scales`."""
        check_nests(self.nests)
        return number_of(self.nests)

    def _learnt_nests(self):
        """Indices of the nests with several classes, if there are several nests."""
        if self.nests is None:
            return np.array([], dtype=int)
        if are_by_name(self.nests):
            sizes = [len(nest) for nest in self.nests]
        else:
            sizes = np.bincount(self.nests)
        return np.flatnonzero(np.array(sizes) > 1)

    def probabilities(self, scores):
        return np.exp(self._log_probabilities(scores)[0])

    def probabilities_and_potential(self, scores):
        log_p, _, potential, _ = self._log_probabilities(scores)
        return np.exp(log_p), potential

    def negative_entropy(self, probabilities):
        p, nests = probabilities, self._of(probabilities.shape[1])
        scales, mass = nests.scales.astype(p.dtype), nests.sums(p)
        of_nests = scales * nests.sums(xlogy(p, p)) + (1 - scales) * xlogy(mass, mass)
        return of_nests.sum(axis=1)

    def negative_entropy_among(self, probabilities, n_available):
        if self.nests is None or not self.traits.is_symmetric:
            return self.negative_entropy(probabilities)
        # With all scales 1 it is the entropy of one nest, for any number of columns.
        return NestedSoftmax().negative_entropy(probabilities)

    def linearize(self, scores):
        return self.linearize_with_potential(scores)[0]

    def linearize_with_potential(self, scores):
        log_p, within, potential, nests = self._log_probabilities(scores)
        p, scale = np.exp(log_p), nests.of_classes(scores.dtype)

        # The change of log p.
        rate = _rate(p, within, nests, scale)

        def product(direction):
            return p * rate(direction)

        def vjp_derivative(cotangent, direction):
            moved = product(direction)
            inside = nests.spread(nests.sums(within * direction))
            turned = within * (direction - inside) / scale
            change = (1 - 1 / scale) * nests.spread(nests.sums(cotangent * turned))
            change -= (cotangent * moved).sum(axis=1, keepdims=True)
            return moved * rate(cotangent) + p * change

        return Linearization(p, product, product, vjp_derivative), potential

    def log_linearize(self, scores):
        log_p, within, _, nests = self._log_probabilities(scores)
        p, scale = np.exp(log_p), nests.of_classes(scores.dtype)

        jvp = _rate(p, within, nests, scale)

        def vjp(cotangent):
            inside = within * nests.spread(nests.sums(cotangent))
            total = cotangent.sum(axis=1, keepdims=True)
            return cotangent / scale + (1 - 1 / scale) * inside - p * total

        def vjp_derivative(cotangent, direction):
            inside = nests.spread(nests.sums(within * direction))
            turned = within * (direction - inside) / scale
            of_nest = nests.spread(nests.sums(cotangent))
            total = cotangent.sum(axis=1, keepdims=True)
            return (1 - 1 / scale) * turned * of_nest - total * p * jvp(direction)

        return Linearization(log_p, jvp, vjp, vjp_derivative)

    def _log_probabilities(self, scores):
        """Log-probabilities of standard scores and the parts of the formulas.

        Returns
        -------
        log_p, within : ndarray of shape (n_samples, n_classes)
            Logarithms of the probabilities; probabilities given the nest.
        potential : ndarray of shape (n_samples,)
        nests : ClassesOfNests
        """
        nests = self._of(scores.shape[1])
        scale = nests.of_classes(scores.dtype)
        scales = nests.scales.astype(scores.dtype)
        top = nests.largest(scores)
        # A nest without an available class has probability zero.
        top = np.where(top > -np.inf, top, 0)
        with np.errstate(divide="ignore", over="ignore"):
            # In place, in the memory order of the scores.
            z = np.subtract(scores, nests.spread(top), out=np.empty_like(scores))
            z /= scale
            e = np.exp(z)
            total = nests.sums(e)
            inclusive = np.log(total)
            values = top + scales * inclusive
            best = values.max(axis=1, keepdims=True)
            potential = best + np.log(np.exp(values - best).sum(axis=1, keepdims=True))
        has_class = total > 0
        of_nest = values - potential - np.where(has_class, inclusive, 0)
        e /= nests.spread(np.where(has_class, total, 1))
        z += nests.spread(of_nest)
        return z, e, potential[:, 0], nests

    def _of(self, n_classes):
        """The :class:`ClassesOfNests` for `n_classes` classes."""
        mapping = self.for_classes(n_classes)
        nests, scales = mapping.nests, mapping._checked_scales()
        nests = np.zeros(n_classes, dtype=int) if nests is None else np.asarray(nests)
        return ClassesOfNests(nests, scales)

    def _checked_scales(self):
        """A scale for each nest, after a check of both parameters."""
        return check_scales(self.scales, self.n_nests)


def _rate(p, within, nests, scale):
    """The Jacobian of log-probabilities, as a function of the direction."""

    def rate(direction):
        inside = nests.spread(nests.sums(within * direction))
        mean = (p * direction).sum(axis=1, keepdims=True)
        return direction / scale + (1 - 1 / scale) * inside - mean

    return rate


def nested_softmax(
    scores: ArrayLike,
    nests: ArrayLike | list[Any] | None = None,
    scales: float | ArrayLike = 1.0,
    axis: int = -1,
) -> Array:
    """Nested softmax along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    nests : array-like of shape (n_classes,), list of lists or None, default=None
        The index of the nest of each class, or lists of positions along the axis; None
        stands for one nest.
    scales : float or array-like of shape (n_nests,), default=1.0
        The scale of each nest, above 0 and at most 1; a number is the scale of all
        nests.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If nests does not hold an index for each class, or a scale is not above 0 and at
        most 1; if the scores are not real numbers, hold NaN or +inf, or only -inf along
        the axis; if there is no such axis.

    See Also
    --------
    NestedSoftmax : The mapping, with its potential, entropy and Jacobian.

    Examples
    --------
    >>> from skprob.mappings import nested_softmax
    >>> nested_softmax([0.0, 0.0, 0.0], nests=[0, 1, 1], scales=0.5).round(3)
    array([0.414, 0.293, 0.293])
    """
    return along_axis(NestedSoftmax(nests, scales), scores, axis)
