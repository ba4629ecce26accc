"""Scores and scorers for labels, label sets and distributions."""

from ._losses import brier_loss, fenchel_young_loss, mean_support_size
from ._scorers import BrierScorer, FenchelYoungScorer, SupportSizeScorer

__all__ = [
    "BrierScorer",
    "FenchelYoungScorer",
    "SupportSizeScorer",
    "brier_loss",
    "fenchel_young_loss",
    "mean_support_size",
]
