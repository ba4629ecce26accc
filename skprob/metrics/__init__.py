"""Metrics and scorers for labels, label sets and distributions.

Metrics are functions of the truth and of predictions, in `_losses.py`,
`_distributions.py`, `_label_sets.py`, `_ranked.py` and `_sets.py`. Read `_losses.py`
first. `_lined_up.py` matches columns by name, and `_truth.py` makes an indicator of the
truth. A scorer calls a fitted estimator and a metric: `_scorers.py` has the base class,
and `_distribution_scorer.py` and `_set_scorers.py` have others.
"""

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
from ._losses import brier_loss_of_target as brier_loss_of_target
from ._ranked import (
    label_propensities,
    precision_at_k,
    propensity_scored_precision_at_k,
)
from ._scorers import BrierScorer, FenchelYoungScorer, SupportSizeScorer
from ._set_scorers import (
    PrecisionAtKScorer,
    PropensityScoredPrecisionAtKScorer,
    SetCoverageScorer,
    SetSizeScorer,
)
from ._sets import mean_set_size, set_coverage

__all__ = [
    "BrierScorer",
    "DistributionScorer",
    "FenchelYoungScorer",
    "PrecisionAtKScorer",
    "PropensityScoredPrecisionAtKScorer",
    "SetCoverageScorer",
    "SetSizeScorer",
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
    "label_propensities",
    "mean_set_size",
    "mean_support_size",
    "precision_at_k",
    "propensity_scored_precision_at_k",
    "set_coverage",
]
