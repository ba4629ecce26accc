"""Sparsemax."""

from __future__ import annotations

from ..._utils.typing import Array, ArrayLike
from .._row_blocks import along_axis
from ._entmax import Entmax


class Sparsemax(Entmax):
    r"""Sparsemax: the Euclidean projection of the scores onto the simplex.

    .. math:: p_i = [z_i - \tau]_+

    with the threshold :math:`\tau` at which the probabilities sum to one: entmax with
    alpha 2. It is the gradient of
    :math:`F(z) = \max_p \langle p, z \rangle - \Omega(p)`, where
    :math:`-\Omega(p) = (1 - \sum_i p_i^2) / 2` is half the Gini index. With s the
    indicator of the support, its Jacobian is
    :math:`\mathrm{diag}(s) - s s^\top / \sum_i s_i`. With two classes it is the hard
    sigmoid of the difference of the scores.

    See Also
    --------
    Entmax : The family that contains softmax and sparsemax.
    sparsemax : The same as a function, along any axis of an array.

    References
    ----------
    A. F. T. Martins and R. F. Astudillo, "From softmax to sparsemax: a sparse model of
    attention and multi-label classification", ICML 2016.

    Examples
    --------
    >>> from skprob.mappings import Sparsemax
    >>> Sparsemax()([[0.5, 0.25, -1.0]])
    array([[0.625, 0.375, 0.   ]])
    >>> Sparsemax().jacobian([[0.5, 0.25, -1.0]])
    array([[[ 0.5, -0.5,  0. ],
            [-0.5,  0.5,  0. ],
            [ 0. ,  0. ,  0. ]]])
    """

    _parameter_constraints = {}
    alpha = 2.0

    def __init__(self) -> None:
        pass


def sparsemax(scores: ArrayLike, axis: int = -1) -> Array:
    """Sparsemax along an axis of an array.

    Parameters
    ----------
    scores : array-like of shape (..., n_classes, ...)
        Real scores; -inf means that the class is not available.
    axis : int, default=-1
        The axis along which the probabilities sum to one.

    Returns
    -------
    probabilities : ndarray of the shape of `scores`
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If the scores are not real numbers, hold NaN or +inf, or only -inf along the
        axis; if there is no such axis.

    See Also
    --------
    Sparsemax : The mapping, with its potential, entropy and Jacobian.

    Examples
    --------
    >>> from skprob.mappings import sparsemax
    >>> sparsemax([0.5, 0.25, -1.0])
    array([0.625, 0.375, 0.   ])
    """
    return along_axis(Sparsemax(), scores, axis)
