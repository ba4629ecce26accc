"""Each mapping as nodes of a graph: from scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mappings import (
    Entmax,
    EntropyInvariantSoftmax,
    Mapping,
    NestedSoftmax,
    Sigmoid,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    TaylorSoftmax,
    Temperature,
    get_mapping,
)
from ._entmax import entmax, softmax

# Share of p at which a sum of probabilities has reached p, up to rounding errors.
_NEARLY = 1 - 8 * np.finfo(np.float64).eps


def _softmax(mapping, scores, n_classes):
    return softmax(scores)


def _entmax(mapping, scores, n_classes):
    return entmax(scores, mapping.alpha, n_classes)


def _temperature(mapping, scores, n_classes):
    inner = get_mapping(mapping.mapping)
    return probabilities(inner, scores / mapping.temperature, n_classes)


def _entropy_invariant_softmax(mapping, scores, n_classes):
    return softmax(scores * (mapping.kappa * np.log(n_classes)))


def _taylor_softmax(mapping, scores, n_classes):
    # The unit is the largest score, so that no power overflows. Polynomials of one
    # degree have the same ratio in all units. They have no real zeros, so all factors
    # are positive.
    unit = scores.abs().max().maximum(1)
    product = None
    for zero in mapping.zeros:
        deviation = (scores - zero.real) / unit
        factor = deviation * deviation + (zero.imag / unit) * (zero.imag / unit)
        product = factor if product is None else product * factor
    return product / product.sum()


def _sparse_softmax(mapping, scores, n_classes):
    if mapping.p is None:
        k = 10 if mapping.k == "auto" else mapping.k
        values, columns = scores.largest(min(int(k), n_classes))
        kept = softmax(values)
    else:
        values, columns = scores.largest(n_classes)
        weights = (values - values.max()).exp()
        if mapping.p < 1:
            mass = weights.cumsum()
            enough = weights.sum() * (mapping.p * _NEARLY)
            # A class is kept if the mass of the classes before it is below p.
            weights = weights.where(mass - weights < enough)
        kept = weights / weights.sum()
    return (scores * 0).put(columns, kept)


def _sigmoid(mapping, scores, n_classes):
    if mapping.budget is not None:
        raise NotImplementedError(
            "The sigmoid mapping with a budget has no ONNX converter: budget must be "
            f"None; got {mapping.budget!r}."
        )
    if mapping.alpha == 1:
        return 1 / ((-scores).exp() + 1)
    if mapping.alpha == 2:
        return ((scores + 1) / 2).clip(0, 1)
    lower = -scores.abs().with_axis()
    pair = entmax((lower * 0).stacked(lower), mapping.alpha, 2)
    first, second = (pair.columns([k]).without_axis() for k in (0, 1))
    return first.where(scores > 0, second)


def _nested_softmax(mapping, scores, n_classes):
    mapping = mapping.for_classes(n_classes)
    nests = mapping.nests
    nests = np.zeros(n_classes, int) if nests is None else np.asarray(nests)
    scales = np.broadcast_to(mapping.scales, nests.max() + 1)
    parts, values = [], []
    scores = scores - scores.max()
    for nest, scale in enumerate(scales):
        z = scores.columns(np.flatnonzero(nests == nest))
        top = z.max()
        weights = ((z - top) / scale).exp()
        total = weights.sum()
        parts.append(weights / total)
        values.append(top + total.log() * scale)
    shares = softmax(values[0].stacked(*values[1:]))
    parts = [part * shares.columns([nest]) for nest, part in enumerate(parts)]
    order = np.argsort(np.argsort(nests, kind="stable"))
    return parts[0].stacked(*parts[1:]).columns(order)


_CONVERTERS = {
    Softmax: _softmax,
    Sparsemax: _entmax,
    Entmax: _entmax,
    Temperature: _temperature,
    EntropyInvariantSoftmax: _entropy_invariant_softmax,
    TaylorSoftmax: _taylor_softmax,
    SparseSoftmax: _sparse_softmax,
    Sigmoid: _sigmoid,
    NestedSoftmax: _nested_softmax,
}


def probabilities(mapping, scores, n_classes):
    """The probabilities of a mapping for scores.

    Parameters
    ----------
    mapping : Mapping
    scores : Tensor of shape (n_samples, n_classes)
    n_classes : int

    Returns
    -------
    probabilities : Tensor of shape (n_samples, n_classes)

    Raises
    ------
    NotImplementedError
        If the mapping has no converter.
    """
    # The exact class: a subclass may have other probabilities.
    converter = _CONVERTERS.get(type(mapping))
    if converter is None:
        known = ", ".join(sorted(cls.__name__ for cls in _CONVERTERS))
        raise NotImplementedError(
            f"The mapping {mapping!r} has no ONNX converter. Those that have one are "
            f"{known}; skprob.onnx.register_mapping adds another."
        )
    return converter(mapping, scores, n_classes)


def register_mapping(mapping: type[Mapping], converter: Callable[..., Any]) -> None:
    r"""Register a converter to ONNX for a class of mappings.

    Parameters
    ----------
    mapping : type
        The class of the mapping. Its subclasses do not get the converter.
    converter : callable
        ``converter(mapping, scores, n_classes)`` returns the probabilities of such a
        mapping. Scores and probabilities are tensors of a graph, in float64 and of
        shape (n_samples, n_classes): they take ``+ - * / **`` and ``< <= > >=``, with
        each other or with numbers, and have the methods ``exp``, ``log``, ``sqrt``,
        ``abs``, ``maximum``, ``minimum``, ``where``, and, over rows, ``sum``, ``max``
        and ``min``.

    Raises
    ------
    TypeError
        If `mapping` is not a class, or the converter cannot be called.

    See Also
    --------
    mapping_to_onnx : Convert a mapping without a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.mappings import Mapping, Traits
    >>> from skprob.onnx import register_mapping
    >>> class Squares(Mapping):
    ...     traits = Traits(is_shift_invariant=False, is_order_preserving=False)
    ...
    ...     def probabilities(self, scores):
    ...         squares = 1 + scores**2
    ...         return squares / squares.sum(axis=1, keepdims=True)
    >>> def squares(mapping, scores, n_classes):
    ...     squares = 1 + scores**2
    ...     return squares / squares.sum()
    >>> register_mapping(Squares, squares)
    """
    if not isinstance(mapping, type):
        raise TypeError(f"mapping must be a class; got {mapping!r}.")
    if not callable(converter):
        raise TypeError(f"converter must be a function; got {converter!r}.")
    _CONVERTERS[mapping] = converter
