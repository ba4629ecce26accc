"""A scorer for each measure of label distributions."""

from __future__ import annotations

from .._utils.fitted import predict_by
from .._utils.names import did_you_mean
from . import _distributions as measures
from ._scorers import Scorer

#: Each measure by name, with the sign that makes greater better.
_SIGNED_MEASURES = {
    "chebyshev": (measures.chebyshev_distance, -1),
    "clark": (measures.clark_distance, -1),
    "canberra": (measures.canberra_distance, -1),
    "kullback_leibler": (measures.kullback_leibler_divergence, -1),
    "cosine": (measures.cosine_similarity, 1),
    "intersection": (measures.intersection_similarity, 1),
}


class DistributionScorer(Scorer):
    """A scorer by a measure of label distributions; greater is better.

    The estimator is fitted to distributions, and has ``predict_proba``.

    Parameters
    ----------
    measure : str
        "chebyshev", "clark", "canberra" or "kullback_leibler", whose negative is the
        score, or "cosine" or "intersection". With "kullback_leibler" the score is -inf
        if a class with a positive true share has probability zero; to search over
        mappings with exact zeros, choose another measure, or :class:`BrierScorer`.

    See Also
    --------
    chebyshev_distance, clark_distance, canberra_distance : Distances.
    kullback_leibler_divergence : Infinite where the prediction is zero by mistake.
    cosine_similarity, intersection_similarity : Similarities.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import KFold, cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skprob import SparsemaxClassifier
    >>> from skprob.metrics import DistributionScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> votes = KNeighborsClassifier(n_neighbors=10).fit(X, y).predict_proba(X)
    >>> result = cross_validate(
    ...     SparsemaxClassifier(C=1.0),
    ...     X,
    ...     votes,
    ...     cv=KFold(5, shuffle=True, random_state=0),
    ...     scoring={m: DistributionScorer(m) for m in ("clark", "intersection")},
    ... )
    >>> for name in "test_clark", "test_intersection":
    ...     print(f"{name} {result[name].mean():.2f}")
    test_clark -0.34
    test_intersection 0.95
    """

    def __init__(self, measure: str) -> None:
        self.measure = measure

    def _score(self, estimator, X, y, sample_weight, arguments):
        names = list(_SIGNED_MEASURES)
        if self.measure not in names:
            raise ValueError(
                f"measure must be one of {names}; got {self.measure!r}."
                f"{did_you_mean(self.measure, names)}"
            )
        measure, sign = _SIGNED_MEASURES[self.measure]
        p = predict_by("predict_proba", estimator, X, **arguments)
        return sign * measure(y, p, sample_weight=sample_weight)
