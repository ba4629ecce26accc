"""Metrics and scorers for labels, label sets and distributions."""

from ._distribution_scorer import DistributionScorer
from ._distributions import (
    canberra_distance,
    chebyshev_distance,
    clark_distance,
    cosine_similarity,
    intersection_similarity,
    kullback_leibler_divergence,
)
from ._label_sets import harmonic_macro_f1_score
from ._losses import brier_loss, fenchel_young_loss, mean_support_size
from ._scorers import BrierScorer, FenchelYoungScorer, SupportSizeScorer

__all__ = [
    "BrierScorer",
    "DistributionScorer",
    "FenchelYoungScorer",
    "SupportSizeScorer",
    "brier_loss",
    "canberra_distance",
    "chebyshev_distance",
    "clark_distance",
    "cosine_similarity",
    "fenchel_young_loss",
    "harmonic_macro_f1_score",
    "intersection_similarity",
    "kullback_leibler_divergence",
    "mean_support_size",
]
