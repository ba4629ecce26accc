"""Sparse softmax: softmax over the best classes only."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import xlogy

from ..._utils.arrays import namespace
from ..._utils.checks import IntegerInterval, OneOf, RealInterval
from ..._utils.typing import Array, ArrayLike
from .._base import Mapping
from .._row_blocks import along_axis
from .._softmax import Softmax
from .._traits import Traits
from . import _array_api, _selection

_DEFAULT_K = 10


_TRAITS = Traits(supports_array_api=True)


class SparseSoftmax(Mapping):
    r"""Sparse softmax: softmax over the best classes, zero for all others.

    The kept classes are either the k classes with the largest scores (top-k), or the
    smallest number of leading classes whose softmax probabilities sum to p or more
    (top-p, nucleus). The first of several classes with equal scores is kept.

    Top-k is the gradient, wherever it exists, of the convex function

    .. math:: F(z) = \max_{|S| = k} \log \sum_{i \in S} \exp(z_i)
       = \log \sum_{i \in \text{top-}k} \exp(z_i).

    For a distribution q with at most k non-zeros, :math:`\Omega(q) = \sum q_i \log q_i`
    as for softmax. In general, with q in descending order and r the smallest number
    for which :math:`\theta_r = \sum_{i > r} q_i / (k - r)` is at least
    :math:`q_{r + 1}`,

    .. math:: \Omega(q) = \sum_{i \le r} q_i \log q_i
       + \Bigl(\sum_{i > r} q_i\Bigr) \log \theta_r.

    The probabilities are discontinuous where the kept set changes. So the mapping is
    meant for fine-tuning a model that was trained with softmax. Top-p has no potential.

    Parameters
    ----------
    k : int or None, default="auto"
        The number of classes that are kept, at least 1; if there are fewer, all are
        kept. "auto" is 10, or None if p is given. Exactly one of k and p must be given.
    p : float, default=None
        The sum of the softmax probabilities that the kept classes must reach, in (0,
        1].

    See Also
    --------
    sparse_softmax : The same as a function, along any axis of an array.
    skprob.losses.SparseSoftmaxLoss : Its loss, with choices for labels not kept.
    Entmax : Exact zeros without jumps.

    References
    ----------
    S. Sun, Z. Zhang, B. Huang, P. Lei, J. Su, S. Pan and J. Cao, "Sparse-softmax: a
    simpler and faster alternative softmax transformation", arXiv:2112.12433, 2021
    (top-k).

    A. Holtzman, J. Buys, L. Du, M. Forbes and Y. Choi, "The curious case of neural
    text degeneration", ICLR 2020 (top-p).

    Examples
    --------
    >>> from skprob.mappings import SparseSoftmax
    >>> SparseSoftmax(k=2)([[2.0, 1.0, 0.0, -1.0]]).round(3)
    array([[0.731, 0.269, 0.   , 0.   ]])
    >>> SparseSoftmax(p=0.9)([[2.0, 1.0, 0.0, -1.0]]).round(3)
    array([[0.665, 0.245, 0.09 , 0.   ]])
    """

    _parameter_constraints = {
        "k": [IntegerInterval(1, None, closed="left"), OneOf("auto"), None],
        "p": [RealInterval(0, 1, closed="right"), None],
    }

    def __init__(
        self, k: int | Literal["auto"] | None = "auto", p: float | None = None
    ) -> None:
        self.k = k
        self.p = p

    def _validate_params(self):
        super()._validate_params()
        if (self._k is None) == (self.p is None):
            raise ValueError(
                "Exactly one of k and p must be given to SparseSoftmax; got "
                f"k={self.k!r} and p={self.p!r}."
            )

    @property
    def traits(self):
        has_zeros = self.p != 1
        return _TRAITS.but(
            has_potential=self.p is None,
            has_zeros=has_zeros,
            # They jump where another class is kept.
            is_continuous=not has_zeros,
            is_lipschitz=not has_zeros,
        )

    def _standard(self, scores, first_row=0):
        standard = super()._standard(scores, first_row)
        # After the subtraction a score may equal a kept one by rounding: lower it.
        kept = self.kept(scores)
        xp = namespace(scores)
        least, bottom = (
            xp.min(xp.where(kept, array, xp.inf), axis=1, keepdims=True)
            for array in (standard, scores)
        )
        clash = (standard >= least) & (scores < bottom)
        if xp.any(clash):
            lower = least * (1 + 4 * float(xp.finfo(standard.dtype).eps))
            standard = xp.where(clash, lower, standard)
        return standard

    def probabilities(self, scores):
        return Softmax().probabilities(self._restricted(scores))

    def probabilities_and_potential(self, scores):
        self._needs_k("potential")
        return Softmax().probabilities_and_potential(self._restricted(scores))

    def negative_entropy(self, probabilities):
        self._needs_k("entropy")
        k, width = self._k, probabilities.shape[1]
        if width <= k:
            return Softmax().negative_entropy(probabilities)
        if not isinstance(probabilities, np.ndarray):
            return _array_api.top_k_entropy(probabilities, k)
        parts = np.partition(probabilities, width - k, axis=1)
        head = -np.sort(-parts[:, width - k :], axis=1)
        tail = parts[:, : width - k].sum(axis=1, keepdims=True)
        # Rest of a row after its first 0, 1, ..., k - 1 entries, and the rest divided
        # by the number of remaining places.
        remaining = tail + head[:, ::-1].cumsum(axis=1)[:, ::-1]
        theta = remaining / np.arange(k, 0, -1)
        taken = head > theta
        r = taken.sum(axis=1)[:, None]
        entropy = xlogy(head, head).sum(axis=1, where=taken)
        remaining = np.take_along_axis(remaining, r, axis=1)
        return entropy + xlogy(remaining, np.take_along_axis(theta, r, axis=1))[:, 0]

    def linearize(self, scores):
        return Softmax().linearize(self._restricted(scores))

    def log_linearize(self, scores):
        return Softmax().log_linearize(self._restricted(scores))

    def kept(self, scores: Array) -> Array:
        """Mask of the kept classes (a kernel, for any scores)."""
        if self.p == 1:
            return scores > -np.inf
        kernels = _selection if isinstance(scores, np.ndarray) else _array_api
        if self.p is None:
            return kernels.largest(scores, self._k)
        return kernels.largest_with_mass(scores, self.p)

    @property
    def _k(self):
        if self.k != "auto":
            return self.k
        return _DEFAULT_K if self.p is None else None

    def _restricted(self, scores):
        kept = self.kept(scores)
        if not isinstance(scores, np.ndarray):
            return namespace(scores).where(kept, scores, -np.inf)
        np.copyto(scores, -np.inf, where=~kept)
        return scores

    def _needs_k(self, what):
        if self.p is not None:
            raise TypeError(
                f"SparseSoftmax with p has no {what}: it is not the gradient of a "
                "convex function. With k it has one."
            )


def sparse_softmax(
    scores: ArrayLike,
    k: int | Literal["auto"] | None = "auto",
    p: float | None = None,
    axis: int = -1,
) -> Array:
    """Softmax over the best classes along an axis of an array, zero for the others.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    k : int or None, default="auto"
        The number of classes that are kept, at least 1; if there are fewer, all are
        kept. "auto" is 10, or None if p is given. Exactly one of k and p must be given.
    p : float, default=None
        The sum of the softmax probabilities that the kept classes must reach, in (0,
        1].
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If both or neither of k and p are given, or one is out of range; if the scores
        are not real numbers, hold NaN or +inf, or only -inf along the axis; if there
        is no such axis.

    See Also
    --------
    SparseSoftmax : The mapping, with its Jacobian and, for k, its potential.

    Examples
    --------
    >>> from skprob.mappings import sparse_softmax
    >>> sparse_softmax([2.0, 1.0, 0.0, -1.0], k=2).round(3)
    array([0.731, 0.269, 0.   , 0.   ])
    >>> sparse_softmax([1.0, 2.0, 2.0, 2.0], k=2)  # of equal classes, the first
    array([0. , 0.5, 0.5, 0. ])
    """
    return along_axis(SparseSoftmax(k, p), scores, axis)
