"""Scores and scorers for labels, label sets and distributions."""

from ._label_sets import harmonic_macro_f1_score
from ._losses import brier_loss, fenchel_young_loss, mean_support_size
from ._scorers import BrierScorer, FenchelYoungScorer, SupportSizeScorer

__all__ = [
    "BrierScorer",
    "FenchelYoungScorer",
    "SupportSizeScorer",
    "brier_loss",
    "fenchel_young_loss",
    "harmonic_macro_f1_score",
    "mean_support_size",
]
