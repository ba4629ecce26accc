"""The rows that a decision rule is fitted to, checked."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from .._utils.checks import check_sample_weight
from ._blocks import dense_blocks, known_only
from ._empty_sets import has_empty, n_labelled
from ._expected_size import expected_size
from ._input import as_features, as_known_indicator, as_probabilities

# Largest rounding error of a sum of shares. A smaller sum leaves a probability of no
# label.
_ROUNDING = 1e-3


class Sample(NamedTuple):
    """Rows that a rule is fitted to.

    Attributes
    ----------
    blocks : iterable of ndarray of shape (n_rows, n_labels)
        Probabilities, that can be iterated over any number of times.
    labels : CSR array of shape (n_samples, n_labels)
        0/1 indicator with a label in at least one row of positive weight.
    weight : ndarray of shape (n_samples,)
        Weights of the rows.
    sizes : callable or None
        ``sizes()`` is a pair: the :class:`ExpectedSize`, and its out-of-fold
        predictions in the order of the rows. None where there are no features.
    polytope : {"simplex", "cube"}
        "simplex" for shares, which sum to one in each row, "cube" for marginals.
    may_be_empty : bool
        Whether there were rows without a label.
    has_none : bool
        Whether shares sum to less than one; the rest is the probability of no label.
    known : ndarray of bool of shape (n_samples, n_labels) or None
        Which entries of the labels are known; None if all are. The others are zero.
    """

    blocks: object
    labels: sparse.csr_array
    weight: np.ndarray
    sizes: object
    polytope: str
    may_be_empty: bool
    has_none: bool
    known: np.ndarray | None = None

    def with_zeros_for_unknown(self) -> Self:
        """The sample with zeros in place of probabilities that are not known."""
        blocks = known_only(self.blocks, self.known)
        return self._replace(blocks=blocks, known=None)


def checked_sample(probabilities, labels, sample_weight, *, X, polytope):
    """The rows of positive weight, from the arguments of :meth:`DecisionRule.fit`.

    Raises
    ------
    ValueError
        If an argument has another shape or values that are not allowed, or no row of
        positive weight has a label.
    """
    p = as_probabilities(probabilities)
    labels, known = as_known_indicator(labels, p.shape)
    weight = check_sample_weight(sample_weight, p)
    if polytope == "simplex" and known is not None:
        raise ValueError(
            "labels must be 0 or 1 for shares, whose sum is that of all labels; got "
            "NaN. Give marginals with polytope='cube'."
        )
    X = None if X is None else as_features(X, len_of=p)
    keep = np.flatnonzero(weight > 0)
    if len(keep) < len(weight):
        p, labels, weight = p[keep], labels[keep], weight[keep]
        X = None if X is None else X[keep]
        known = None if known is None else known[keep]
    if not n_labelled(labels):
        raise ValueError(
            "labels must have a label in at least one row of positive weight; got "
            f"{len(weight)} rows without any."
        )
    may_be_empty = has_empty(labels, known)
    sums = np.asarray(p.sum(axis=1)).ravel()
    falls_short = sums.min() < 1 - _ROUNDING
    has_none = polytope == "simplex" and may_be_empty and falls_short

    def sizes():
        model = expected_size(X, labels, weight, has_none)
        return model, model.out_of_fold

    return Sample(
        dense_blocks(p),
        labels,
        weight,
        sizes=None if X is None else sizes,
        polytope=polytope,
        may_be_empty=may_be_empty,
        has_none=has_none,
        known=known,
    )
