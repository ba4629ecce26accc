"""Class labels and a mapping to marginals: one-vs-rest."""

import numpy as np

from ..._utils.arrays import namespace, numpy_dtype
from ...mappings import Softmax


def one_vs_rest(mapping, n_classes):
    """The mapping for class labels.

    Parameters
    ----------
    mapping : Mapping
        A mapping to marginals.
    n_classes : int

    Returns
    -------
    mapping : Mapping
        The pair mapping for two classes, if it is known: a single marginal is enough.

    Raises
    ------
    ValueError
        If the budget of the mapping does not allow the sum 1.
    """
    least, most = mapping.traits.sum_range
    if not least <= 1 <= most:
        raise ValueError(
            "budget must allow the sum 1 for class labels, since each row has one "
            f"class; got ({least:.6g}, {most:.6g})."
        )
    pair = mapping.pair_mapping
    return mapping if n_classes > 2 or pair is None else pair


def shares_of(mapping):
    """A function of scores: the marginals of each row, divided by their sum.

    If all marginals of a row are zero, the shares are the result of the pair mapping
    (entmax for sigmoid) for the scores of all classes.
    """
    log_shares = log_shares_of(mapping)

    def shares(scores):
        p = mapping(scores)
        xp = namespace(p)
        total = xp.sum(p, axis=1, keepdims=True)
        # A smaller sum is zero, or has few correct digits.
        limits = np.finfo(numpy_dtype(p))
        is_tiny = total < float(limits.tiny / limits.eps)
        if not xp.any(is_tiny):
            return p / total
        p = p / xp.where(is_tiny, 1.0, total)
        return xp.where(is_tiny, xp.exp(log_shares(scores)), p)

    return shares


def log_shares_of(mapping):
    """A function of scores: logarithms of the result of :func:`shares_of`."""
    for_empty = mapping.pair_mapping or Softmax()

    def log_shares(scores):
        log_p = mapping.log_probabilities(scores)
        xp = namespace(log_p)
        is_empty = xp.max(log_p, axis=1, keepdims=True) == -np.inf
        if xp.any(is_empty):
            log_p = xp.where(is_empty, for_empty.log_probabilities(scores), log_p)
        log_p = log_p - xp.max(log_p, axis=1, keepdims=True)
        return log_p - xp.log(xp.sum(xp.exp(log_p), axis=1, keepdims=True))

    return log_shares
