"""Decision rules: from probabilities to a set of labels, or a label, for each row.

The rules can be used with the probabilities of any classifier. Fit them to out-of-fold
probabilities, or to those of held-out rows: a model is too confident for the rows that
it was fitted to, and cuts that are chosen by these are too high.
"""

from ._base import DecisionRule, Sample
from ._base import ThresholdLike as ThresholdLike
from ._best_threshold import best_threshold
from ._cuts import CommonCut, LabelCuts
from ._expected_size import ExpectedSize, expected_size, has_empty, n_labelled
from ._input import as_indicator
from ._least_cost import LeastCost
from ._registry import RULES, get_rule
from ._row_wise import ExampleF1, MetaLabeler
from ._stacked import StackedLabels

__all__ = [
    "RULES",
    "CommonCut",
    "DecisionRule",
    "ExampleF1",
    "ExpectedSize",
    "LabelCuts",
    "LeastCost",
    "MetaLabeler",
    "Sample",
    "StackedLabels",
    "as_indicator",
    "best_threshold",
    "expected_size",
    "get_rule",
    "has_empty",
    "n_labelled",
]
