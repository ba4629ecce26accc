"""Scaled dot-product attention, with any mapping in softmax's place."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .._utils.parts import slices
from .._utils.typing import Array, ArrayLike
from ..mappings import MappingLike, get_mapping
from ._checked_arrays import (
    checked_arrays,
    checked_numbers,
    checked_scale,
    common_leading_axes,
    with_leading_axes,
)

# Most scores of a block of queries (8 MiB).
_MOST_SCORES = 1 << 20


def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    mapping: MappingLike = "softmax",
    scale: float | Literal["sqrt", "entropy_invariant"] = "sqrt",
    mask: ArrayLike | None = None,
) -> Array:
    r"""Scaled dot-product attention: weighted means of values.

    .. math:: \mathrm{out}_i = \sum_j p_{ij} v_j, \quad
       p_i = \mathrm{mapping}(\lambda_i \langle q_i, k_1 \rangle, \dots,
       \lambda_i \langle q_i, k_n \rangle)

    The leading axes, for batches and heads, are broadcast.

    Parameters
    ----------
    query : array-like of shape (..., n_queries, d)
        A vector for each query, with any leading axes, such as batches and heads.
    key : array-like of shape (..., n_keys, d)
        A vector for each key; leading axes are broadcast with those of the queries.
    value : array-like of shape (..., n_keys, d_value)
        A vector for each key, of which each result is a weighted mean.
    mapping : Mapping, callable or str, default="softmax"
        The mapping from scores to the weights of the keys. With sparsemax or entmax
        only a few keys have a positive weight.
    scale : {"sqrt", "entropy_invariant"} or float, default="sqrt"
        The factor λ: "sqrt" is :math:`1 / \sqrt{d}`; "entropy_invariant" is
        :math:`\log(n) / d`, where n is the number of keys that are not masked for the
        query, which makes the entropy nearly independent of n; a number is the factor
        itself.
    mask : array-like of bool of shape (..., n_queries, n_keys), default=None
        True where the query may use the key. The result is zero for a query without any
        key.

    Returns
    -------
    out : ndarray of shape (..., n_queries, d_value)
        float32 if all three arrays are, else float64.

    Raises
    ------
    ValueError
        If the arrays are not finite or do not fit together, or a parameter is not
        allowed.

    See Also
    --------
    attention_vjp : Its derivatives.
    taylor_attention : With Taylor softmax, in linear time in the number of keys.

    References
    ----------
    A. Vaswani and others, "Attention is all you need", NeurIPS 2017.

    G. M. Correia, V. Niculae and A. F. T. Martins, "Adaptively sparse transformers",
    EMNLP 2019 (entmax).

    J. Su, "从熵不变性看Attention的Scale操作" (the scale of attention from the viewpoint
    of entropy invariance), https://kexue.fm/archives/8823, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.attention import attention
    >>> query = np.array([[2.0, 0.0]])
    >>> key = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> attention(query, key, np.eye(3)).round(3)
    array([[0.768, 0.187, 0.045]])
    >>> attention(query, key, np.eye(3), mapping="sparsemax")
    array([[1., 0., 0.]])
    """
    arguments = _Arguments(query, key, value, mapping=mapping, scale=scale, mask=mask)
    out = np.empty(arguments.result_shape, arguments.dtype)
    for where, rows in arguments.blocks():
        _, weights, _ = arguments.weights(where, rows)
        out[where][rows] = weights @ arguments.value[where]
    return out


def attention_vjp(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    cotangent: ArrayLike,
    *,
    mapping: MappingLike = "softmax",
    scale: float | Literal["sqrt", "entropy_invariant"] = "sqrt",
    mask: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """Derivatives of a number that is computed from the result of `attention`.

    Parameters
    ----------
    query, key, value : as for :func:`attention`
        The arguments of the call whose derivatives are wanted.
    cotangent : array-like of the shape of the result of :func:`attention`
        Derivatives of the number with respect to that result.
    mapping, scale, mask : as for :func:`attention`
        The same values as in that call.

    Returns
    -------
    query, key, value : ndarray of the shapes of the three arguments
        Derivatives of the number with respect to the arguments, summed over axes that
        were broadcast.

    Raises
    ------
    ValueError
        As for :func:`attention`, or if the cotangent does not fit.

    See Also
    --------
    attention : The function that is differentiated.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.attention import attention_vjp
    >>> query, key = np.array([[2.0, 0.0]]), np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> of_query, _, _ = attention_vjp(query, key, np.eye(2), np.array([[1.0, 0.0]]))
    >>> of_query.round(3)
    array([[ 0.111, -0.111]])
    """
    arguments = _Arguments(query, key, value, mapping=mapping, scale=scale, mask=mask)
    cotangent = checked_numbers("cotangent", cotangent)
    if cotangent.shape != arguments.result_shape:
        raise ValueError(
            "cotangent must have the shape of the result, "
            f"{arguments.result_shape}; got {cotangent.shape}."
        )
    dtype = arguments.dtype
    gradients = [
        np.zeros(array.shape, dtype)
        for array in (arguments.query, arguments.key, arguments.value)
    ]
    of_query, of_key, of_value = gradients
    for where, rows in arguments.blocks():
        scores, weights, factor = arguments.weights(where, rows)
        given = cotangent[where][rows].astype(dtype, copy=False)
        of_value[where] += weights.T @ given
        along = given @ arguments.value[where].T
        seen = (scores > -np.inf).any(axis=1)
        of_scores = np.zeros_like(scores)
        of_scores[seen] = arguments.mapping.vjp(scores[seen], along[seen])
        of_scores *= factor
        of_query[where][rows] = of_scores @ arguments.key[where]
        of_key[where] += of_scores.T @ arguments.query[where][rows]
    given_shapes = [np.shape(a) for a in (query, key, value)]
    return tuple(map(_summed_to, gradients, given_shapes))


class _Arguments:
    """Checked arguments, with leading axes broadcast, and the weights of a block."""

    def __init__(self, query, key, value, *, mapping, scale, mask):
        arrays = query, key, value = checked_arrays(query, key, value)
        self.mapping = get_mapping(mapping)
        self.mapping._validate_params()
        self.dtype = np.result_type(*arrays)
        masks = {} if mask is None else {"mask": _checked_mask(mask)}
        axes = common_leading_axes(query=query, key=key, value=value, **masks)
        self.query, self.key, self.value = (
            with_leading_axes(array.astype(self.dtype, copy=False), axes)
            for array in arrays
        )
        self.mask = None
        if mask is not None:
            shape = (*axes, query.shape[-2], key.shape[-2])
            self.mask = _broadcast_mask(masks["mask"], shape)
        self.scale = checked_scale(scale, ("sqrt", "entropy_invariant"))

    @property
    def result_shape(self):
        return *self.query.shape[:-1], self.value.shape[-1]

    def blocks(self):
        """Indices of the leading axes, and slices of queries, block by block."""
        *axes, n_queries, _ = self.query.shape
        size = max(1, _MOST_SCORES // max(self.key.shape[-2], 1))
        for where in np.ndindex(*axes):
            for rows in slices(n_queries, size):
                yield where, rows

    def weights(self, where, rows):
        """Scores and weights of some queries, and the factor of their products."""
        query, key = self.query[where][rows], self.key[where]
        if self.mask is None:
            available = np.ones((len(query), len(key)), dtype=bool)
        else:
            available = self.mask[where][rows]
        n_available = available.sum(axis=1, keepdims=True)
        scale = self.scale
        if scale == "sqrt":
            scale = 1 / np.sqrt(query.shape[-1])
        elif scale == "entropy_invariant":
            scale = np.log(np.maximum(n_available, 1)) / query.shape[-1]
        factor = np.asarray(scale, dtype=self.dtype)
        scores = (query * factor) @ key.T
        if not np.isfinite(scores).all():
            raise ValueError("query and key must be so small that scores are finite.")
        scores[~available] = -np.inf
        seen = n_available[:, 0] > 0
        weights = np.zeros_like(scores)
        if seen.any():
            weights[seen] = self.mapping(scores[seen])
        return scores, weights, factor


def _checked_mask(mask):
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.ndim < 2:
        raise ValueError(
            "mask must be booleans of shape (..., n_queries, n_keys); got "
            f"dtype {mask.dtype} and shape {mask.shape}."
        )
    return mask


def _broadcast_mask(mask, shape):
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"mask must have a shape (..., n_queries, n_keys) that broadcasts to "
            f"{shape}; got {mask.shape}."
        ) from None


def _summed_to(array, shape):
    """The sum over axes that broadcasting has added or lengthened."""
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    short = [i for i, n in enumerate(shape) if n == 1 and array.shape[i] != 1]
    return array.sum(axis=tuple(short), keepdims=True)
