"""Entropy-invariant softmax: softmax scaled by the log of the number of classes."""

from __future__ import annotations

import math
from numbers import Integral

import numpy as np

from .._utils.arrays import as_type, asarray_like, namespace
from .._utils.checks import RealInterval
from .._utils.typing import Array, ArrayLike
from ._base import Mapping
from ._row_blocks import along_axis
from ._softmax import Softmax
from ._traits import Traits


class EntropyInvariantSoftmax(Mapping):
    r"""Softmax of the scores times the logarithm of the number of classes.

    .. math:: p = \mathrm{softmax}(\lambda z), \quad \lambda = \kappa \log n,

    where n is the number of available classes of the row, those whose score is not
    -inf. The more classes there are, the closer softmax of similar scores is to the
    uniform distribution. The factor keeps its entropy about the same, which is useful
    in attention over sequences of different lengths. With one class, its probability is
    1.

    It is the gradient of :math:`F(z) = \log \sum_i \exp(\lambda z_i) / \lambda`, with
    :math:`\Omega(p) = \sum_i p_i \log p_i / \lambda`; its Jacobian is
    :math:`\lambda (\mathrm{diag}(p) - p p^\top)`.

    Parameters
    ----------
    kappa : float, default=1.0
        Positive and finite.

    See Also
    --------
    entropy_invariant_softmax : The same as a function, along any axis of an array.
    Temperature : A factor that is the same for all rows.

    Notes
    -----
    :meth:`entropy` assumes that all classes are available.

    References
    ----------
    J. Su, "从熵不变性看Attention的Scale操作" (the scale of attention from the viewpoint
    of entropy invariance), https://kexue.fm/archives/8823, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.mappings import EntropyInvariantSoftmax
    >>> EntropyInvariantSoftmax()([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, -np.inf, -np.inf]])
    array([[0.57142857, 0.14285714, 0.14285714, 0.14285714],
           [0.66666667, 0.33333333, 0.        , 0.        ]])
    """

    _parameter_constraints = {"kappa": [RealInterval(0, None, closed="neither")]}
    traits = Traits(
        has_potential=True, depends_on_n_available=True, supports_array_api=True
    )

    def __init__(self, kappa: float = 1.0) -> None:
        self.kappa = kappa

    def probabilities(self, scores):
        return Softmax().probabilities(self._scaled(scores)[0])

    def probabilities_and_potential(self, scores):
        scores, factor = self._scaled(scores)
        p, potential = Softmax().probabilities_and_potential(scores)
        return p, potential / factor[:, 0]

    def negative_entropy(self, probabilities):
        return self.negative_entropy_among(probabilities, probabilities.shape[1])

    def negative_entropy_among(self, probabilities, n_available):
        entropy = Softmax().negative_entropy(probabilities)
        if isinstance(n_available, Integral):
            return entropy / float(self._factor(n_available))
        n_available = as_type(asarray_like(n_available, entropy), entropy.dtype)
        return entropy / self._factor(n_available)

    def linearize(self, scores):
        scores, factor = self._scaled(scores)
        return Softmax().linearize(scores).in_units(lambda array: factor * array)

    def log_linearize(self, scores):
        scores, factor = self._scaled(scores)
        return Softmax().log_linearize(scores).in_units(lambda array: factor * array)

    def _factor(self, n_available):
        # A single class has probability 1 and potential z for any factor.
        xp = np if isinstance(n_available, Integral) else namespace(n_available)
        return self.kappa * xp.log(xp.where(n_available == 1, math.e, n_available))

    def _scaled(self, scores):
        xp = namespace(scores)
        n_available = xp.count_nonzero(scores > -np.inf, axis=1)
        if xp is not np:
            factor = self._factor(xp.astype(n_available, scores.dtype))[:, None]
            return scores * factor, factor
        factor = self._factor(n_available).astype(scores.dtype, copy=False)[:, None]
        with np.errstate(over="ignore"):
            return np.multiply(scores, factor, out=scores), factor


def entropy_invariant_softmax(
    scores: ArrayLike, kappa: float = 1.0, axis: int = -1
) -> Array:
    """Entropy-invariant softmax along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available, and not counted.
    kappa : float, default=1.0
        Positive and finite.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If kappa is not positive and finite; if the scores are not real numbers, hold
        NaN or +inf, or only -inf along the axis; if there is no such axis.

    See Also
    --------
    EntropyInvariantSoftmax : The mapping, with its potential, entropy and Jacobian.

    Examples
    --------
    >>> from skprob.mappings import entropy_invariant_softmax
    >>> entropy_invariant_softmax([1.0, 0.0, 0.0, 0.0]).round(3)
    array([0.571, 0.143, 0.143, 0.143])
    >>> entropy_invariant_softmax([1.0, 0.0], kappa=2.0).round(3)
    array([0.8, 0.2])
    """
    return along_axis(EntropyInvariantSoftmax(kappa), scores, axis)
