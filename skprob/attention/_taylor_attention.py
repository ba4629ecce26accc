"""Attention with Taylor softmax, in a time that is linear in the number of keys."""

from __future__ import annotations

import math

import numpy as np

from .._utils.checks import is_integer
from .._utils.typing import Array, ArrayLike
from ._attention import checked_numbers, scale_factor

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
    scale: float | None = "sqrt",
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
    key : array-like of shape (..., n_keys, d)
    value : array-like of shape (..., n_keys, d_value)
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
    named = {"query": query, "key": key, "value": value}
    arrays = [checked_numbers(name, array) for name, array in named.items()]
    dtype = np.result_type(*arrays)
    query, key, value = (array.astype(np.float64, copy=False) for array in arrays)
    d = query.shape[-1]
    _check_shapes(query, key, value, causal)
    order = _checked_order(order, d)
    if scale == "entropy_invariant":
        raise ValueError(
            "scale must be 'sqrt' or a finite number in taylor_attention; got "
            "'entropy_invariant'."
        )
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in (query, key, value)))
    query, key, value = (
        np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in (query, key, value)
    )
    query = query * scale_factor(scale, d)
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
    step = _step(query.shape[1], order)
    total = 0.0
    for rows in _slices(len(key), step):
        total = total + _features(key[rows], order).T @ value[rows]
    out = np.empty((len(query), value.shape[1]))
    for rows in _slices(len(query), step):
        out[rows] = _features(query[rows], order) @ total
    return out


def _causal(query, key, value, order):
    """Sums over the chunks before a chunk, and the lower triangle of its weights."""
    step = min(_step(query.shape[1], order), 128)
    total, out = 0.0, np.empty((len(query), value.shape[1]))
    for rows in _slices(len(key), step):
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
    return max(1, _MOST_NUMBERS // (d + 1) ** order)


def _slices(n, step):
    return [slice(start, start + step) for start in range(0, n, step)]


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


def _check_shapes(query, key, value, causal):
    (n_queries, d), (n_keys, d_key) = query.shape[-2:], key.shape[-2:]
    shapes = f"{query.shape}, {key.shape} and {value.shape}"
    if d != d_key or n_keys != value.shape[-2] or n_keys == 0:
        raise ValueError(
            "query, key and value must have shapes (..., n_queries, d), "
            "(..., n_keys, d) and (..., n_keys, d_value) with at least one key; got "
            f"{shapes}."
        )
    if not isinstance(causal, (bool, np.bool_)):
        raise ValueError(f"causal must be True or False; got {causal!r}.")
    if causal and n_queries != n_keys:
        raise ValueError(
            f"With causal=True there must be as many queries as keys; got {shapes}."
        )
    try:
        np.broadcast_shapes(*(a.shape[:-2] for a in (query, key, value)))
    except ValueError:
        raise ValueError(
            f"The leading axes of query, key and value must fit; got {shapes}."
        ) from None
