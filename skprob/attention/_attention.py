"""Scaled dot-product attention, with any mapping in softmax's place."""

from __future__ import annotations

import numpy as np

from .._utils.checks import RealInterval, as_real
from .._utils.names import did_you_mean
from .._utils.typing import Array, ArrayLike
from ..mappings import MappingLike, get_mapping

# Most scores of a block of queries (8 MiB).
_MOST_SCORES = 1 << 20


def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    mapping: MappingLike = "softmax",
    scale: float | None = "sqrt",
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
    key : array-like of shape (..., n_keys, d)
    value : array-like of shape (..., n_keys, d_value)
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
    parts = _Parts(query, key, value, mapping, scale, mask)
    out = np.empty((*parts.batch, parts.n_queries, parts.value.shape[-1]), parts.dtype)
    for where, rows in parts.blocks():
        out[where][rows] = parts.weights(where, rows)[1] @ parts.value[where]
    return out


def attention_vjp(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    cotangent: ArrayLike,
    *,
    mapping: MappingLike = "softmax",
    scale: float | None = "sqrt",
    mask: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """Derivatives of a number that is computed from the result of `attention`.

    Parameters
    ----------
    query, key, value : as for :func:`attention`
    cotangent : array-like of the shape of the result of :func:`attention`
        Derivatives of the number with respect to that result.
    mapping, scale, mask : as for :func:`attention`

    Returns
    -------
    query, key, value : ndarray of the shapes of the three arguments
        Derivatives of the number with respect to the arguments, summed over axes that
        were broadcast.

    Raises
    ------
    ValueError
        As for :func:`attention`, or if the cotangent does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.attention import attention_vjp
    >>> query, key = np.array([[2.0, 0.0]]), np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> of_query, _, _ = attention_vjp(query, key, np.eye(2), np.array([[1.0, 0.0]]))
    >>> of_query.round(3)
    array([[ 0.111, -0.111]])
    """
    parts = _Parts(query, key, value, mapping, scale, mask)
    shape = (*parts.batch, parts.n_queries, parts.value.shape[-1])
    cotangent = checked_numbers("cotangent", cotangent)
    if cotangent.shape != shape:
        raise ValueError(
            f"cotangent must have the shape of the result, {shape}; got "
            f"{cotangent.shape}."
        )
    gradients = [
        np.zeros((*parts.batch, *a.shape[-2:]), parts.dtype) for a in parts.arrays
    ]
    of_query, of_key, of_value = gradients
    for where, rows in parts.blocks():
        scores, weights, factor = parts.weights(where, rows)
        given = cotangent[where][rows].astype(parts.dtype, copy=False)
        of_value[where] += weights.T @ given
        along = given @ parts.value[where].T
        seen = (scores > -np.inf).any(axis=1)
        of_scores = np.zeros_like(scores)
        of_scores[seen] = parts.mapping.vjp(scores[seen], along[seen])
        of_scores *= factor
        of_query[where][rows] = of_scores @ parts.key[where]
        of_key[where] += of_scores.T @ parts.query[where][rows]
    given_shapes = [np.shape(a) for a in (query, key, value)]
    return tuple(map(_summed_to, gradients, given_shapes))


class _Parts:
    """Checked arguments, with leading axes broadcast, and the weights of a block."""

    def __init__(self, query, key, value, mapping, scale, mask):
        named = {"query": query, "key": key, "value": value}
        arrays = [checked_numbers(name, array) for name, array in named.items()]
        self.mapping = get_mapping(mapping)
        self.mapping._validate_params()
        query, key, value = arrays
        if query.shape[-1] != key.shape[-1]:
            raise ValueError(
                "query and key must have the same last axis; got shapes "
                f"{query.shape} and {key.shape}."
            )
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(
                "key and value must have the same number of rows; got shapes "
                f"{key.shape} and {value.shape}."
            )
        self.dtype = np.result_type(*arrays)
        self.n_queries, self.n_keys = query.shape[-2], key.shape[-2]
        leading = [array.shape[:-2] for array in arrays]
        if mask is not None:
            mask = np.asarray(mask)
            if mask.dtype != bool or mask.ndim < 2:
                raise ValueError(
                    "mask must be booleans of shape (..., n_queries, n_keys); got "
                    f"dtype {mask.dtype} and shape {mask.shape}."
                )
            leading.append(mask.shape[:-2])
        try:
            self.batch = np.broadcast_shapes(*leading)
            if mask is not None:
                full = (*self.batch, self.n_queries, self.n_keys)
                mask = np.broadcast_to(mask, full)
        except ValueError:
            raise ValueError(
                "The leading axes of query, key, value and mask must fit, and those "
                f"of mask end in (n_queries, n_keys) = {self.n_queries, self.n_keys}; "
                f"got leading axes {leading}."
            ) from None
        self.mask = mask
        self.arrays = self.query, self.key, self.value = [
            np.broadcast_to(
                a.astype(self.dtype, copy=False), (*self.batch, *a.shape[-2:])
            )
            for a in arrays
        ]
        self.scale = _checked_scale(scale)

    def blocks(self):
        """Indices of the leading axes, and slices of queries, block by block."""
        step = max(1, _MOST_SCORES // max(self.n_keys, 1))
        for where in np.ndindex(self.batch):
            for start in range(0, self.n_queries, step):
                yield where, slice(start, start + step)

    def weights(self, where, rows):
        """Scores and weights of some queries, and the factor of their products."""
        query, key = self.query[where][rows], self.key[where]
        available = np.ones((len(query), self.n_keys), dtype=bool)
        if self.mask is not None:
            available = self.mask[where][rows]
        scale = self.scale
        if scale == "sqrt":
            scale = 1 / np.sqrt(query.shape[-1])
        elif scale == "entropy_invariant":
            n = available.sum(axis=1, keepdims=True)
            scale = np.log(np.maximum(n, 1)) / query.shape[-1]
        factor = np.asarray(scale, dtype=self.dtype)
        scores = (query * factor) @ key.T
        if not np.isfinite(scores).all():
            raise ValueError("query and key must be so small that scores are finite.")
        scores[~available] = -np.inf
        seen = available.any(axis=1)
        weights = np.zeros_like(scores)
        if seen.any():
            weights[seen] = self.mapping(scores[seen])
        return scores, weights, factor


def checked_numbers(name, array):
    """`array` as finite numbers of shape (..., n_rows, n_columns)."""
    array = as_real(name, array)
    if array.ndim < 2 or array.shape[-1] == 0:
        raise ValueError(
            f"{name} must have shape (..., n_rows, n_columns) with at least one "
            f"column; got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers.")
    return array


def _checked_scale(scale):
    if isinstance(scale, str) and scale in ("sqrt", "entropy_invariant"):
        return scale
    if RealInterval(None, None, closed="neither").is_satisfied_by(scale):
        return float(scale)
    raise ValueError(
        f"scale must be 'sqrt', 'entropy_invariant' or a finite number; got {scale!r}."
        f"{did_you_mean(scale, ['sqrt', 'entropy_invariant'])}"
    )


def scale_factor(scale, d):
    """The number that a scale stands for, where it does not depend on the keys."""
    scale = _checked_scale(scale)
    return 1 / np.sqrt(d) if scale == "sqrt" else scale


def _summed_to(array, shape):
    """The sum over axes that broadcasting has added or lengthened."""
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    short = [i for i, n in enumerate(shape) if n == 1 and array.shape[i] != 1]
    return array.sum(axis=tuple(short), keepdims=True)
