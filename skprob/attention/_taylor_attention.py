"""Attention with Taylor softmax, in a time that is linear in the number of keys."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from .._utils.checks import is_integer
from .._utils.parts import slices
from .._utils.typing import Array, ArrayLike
from ._checked_arrays import (
    checked_arrays,
    checked_scale,
    common_leading_axes,
    with_leading_axes,
)

_MOST_FEATURES = 100_000
# Most numbers in the features of a block of queries or keys.
_MOST_NUMBERS = 1 << 20


def taylor_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    order: int = 2,
    causal: bool = False,
    scale: float | Literal["sqrt"] = "sqrt",
) -> Array:
    r"""Attention with Taylor softmax for weights, linear in the number of keys.

    The weights :math:`f_k(\lambda \langle q, k \rangle)` of
    :class:`~skprob.mappings.TaylorSoftmax` are inner products of the features
    :math:`(1, x, x \otimes x / \sqrt{2}, \dots)` of query and key. So the sums over the
    keys are formed once for all queries, in :math:`O(n d^k d_{\mathrm{value}})` instead
    of :math:`O(n^2)`.

    Parameters
    ----------
    query : array-like of shape (..., n_queries, d)
        A vector for each query, with any leading axes, such as batches and heads.
    key : array-like of shape (..., n_keys, d)
        A vector for each key; leading axes are broadcast with those of the queries.
    value : array-like of shape (..., n_keys, d_value)
        A vector for each key, of which each result is a weighted mean.
    order : int, default=2
        The order of the Taylor polynomial, even. There are :math:`d^{order}` features,
        at most 100,000.
    causal : bool, default=False
        Whether query i uses only the keys up to i; the numbers of queries and keys must
        then be equal.
    scale : "sqrt" or float, default="sqrt"
        The factor λ of the inner products: "sqrt" is :math:`1 / \sqrt{d}`.

    Returns
    -------
    out : ndarray of shape (..., n_queries, d_value)
        float32 if all three arrays are, else float64; computed in float64.

    Raises
    ------
    ValueError
        If the arrays are not finite or do not fit together, or a parameter is not
        allowed.

    See Also
    --------
    attention : With any mapping, in quadratic time.

    References
    ----------
    A. Katharopoulos, A. Vyas, N. Pappas and F. Fleuret, "Transformers are RNNs: fast
    autoregressive transformers with linear attention", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.attention import attention, taylor_attention
    >>> query, key, value = np.random.default_rng(0).standard_normal((3, 50, 4))
    >>> fast = taylor_attention(query, key, value)
    >>> np.allclose(fast, attention(query, key, value, mapping="taylor_softmax"))
    True
    """
    arrays = query, key, value = checked_arrays(query, key, value)
    dtype = np.result_type(*arrays)
    _check_causal(causal, query.shape[-2], key.shape[-2])
    d = query.shape[-1]
    order = _checked_order(order, d)
    scale = checked_scale(scale, ("sqrt",))
    batch = common_leading_axes(query=query, key=key, value=value)
    query, key, value = (
        with_leading_axes(array.astype(np.float64, copy=False), batch)
        for array in arrays
    )
    query = query * (1 / np.sqrt(d) if scale == "sqrt" else scale)
    out = np.empty((*batch, query.shape[-2], value.shape[-1]))
    for where in np.ndindex(batch):
        # The column of ones gives the sums of the weights.
        ones = np.ones((len(value[where]), 1))
        extended = np.concatenate([value[where], ones], axis=1)
        rule = _causal if causal else _all_keys
        totals = rule(query[where], key[where], extended, order)
        out[where] = totals[:, :-1] / totals[:, -1:]
    if not np.isfinite(out).all():
        raise ValueError("query and key must be so small that weights are finite.")
    return out.astype(dtype, copy=False)


def _all_keys(query, key, value, order):
    """Weighted sums of the values of all keys, for each query."""
    step = _step(query.shape[1], order)
    total = 0.0
    for rows in slices(len(key), step):
        total = total + _features(key[rows], order).T @ value[rows]
    out = np.empty((len(query), value.shape[1]))
    for rows in slices(len(query), step):
        out[rows] = _features(query[rows], order) @ total
    return out


def _causal(query, key, value, order):
    """Weighted sums of the values of the keys up to that of each query.

    A block of queries has the sum over all blocks before it, and the lower triangle of
    the weights inside it.
    """
    step = min(_step(query.shape[1], order), 128)
    total, out = 0.0, np.empty((len(query), value.shape[1]))
    for rows in slices(len(key), step):
        products = query[rows] @ key[rows].T
        weights = np.tril(
            sum(products**m / math.factorial(m) for m in range(order + 1))
        )
        out[rows] = weights @ value[rows]
        if rows.start:
            out[rows] += _features(query[rows], order) @ total
        total = total + _features(key[rows], order).T @ value[rows]
    return out


def _features(x, order):
    """All products of up to `order` entries of each row, each over sqrt(m!)."""
    power, powers = np.ones((len(x), 1)), [np.ones((len(x), 1))]
    for m in range(1, order + 1):
        power = (power[:, :, None] * x[:, None, :]).reshape(len(x), -1) / math.sqrt(m)
        powers.append(power)
    return np.concatenate(powers, axis=1)


def _step(d, order):
    """Number of rows of a block."""
    return max(1, _MOST_NUMBERS // (d + 1) ** order)


def _checked_order(order, d):
    if not (is_integer(order) and order >= 2 and order % 2 == 0):
        raise ValueError(f"order must be an even number of at least 2; got {order!r}.")
    order = int(order)  # Powers of np.int8 overflow.
    if d**order > _MOST_FEATURES:
        raise ValueError(
            f"order must be so small that d**order is at most {_MOST_FEATURES}; got "
            f"order={order} for d={d}."
        )
    return order


def _check_causal(causal, n_queries, n_keys):
    if n_keys == 0:
        raise ValueError("key must hold at least one key; it holds none.")
    if not isinstance(causal, (bool, np.bool_)):
        raise ValueError(f"causal must be True or False; got {causal!r}.")
    if causal and n_queries != n_keys:
        raise ValueError(
            "With causal=True there must be as many queries as keys; got "
            f"{n_queries} and {n_keys}."
        )
