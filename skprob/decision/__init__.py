"""Decision rules: from probabilities to a set of labels, or a label, for each row.

The rules can be used with the probabilities of any classifier. Fit them to out-of-fold
probabilities, or to probabilities of held-out rows. A model is too confident for the
rows of its fit, and cuts that are chosen on these rows are too high.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_attribute
from ._base import DecisionRule, Sample
from ._base import ThresholdLike as ThresholdLike
from ._best_threshold import best_threshold
from ._blocks import known_only
from ._cuts import CommonCut, LabelCuts
from ._expected_size import ExpectedSize, expected_size, has_empty, n_labelled
from ._input import as_indicator
from ._least_cost import LeastCost
from ._names import names_of
from ._registry import RULES, get_rule
from ._row_wise import ExampleF1, MetaLabeler
from ._stacked import StackedLabels
from ._top_k import TopK

if TYPE_CHECKING:
    from .conformal import ConformalSets

__all__ = [
    "RULES",
    "CommonCut",
    "ConformalSets",
    "DecisionRule",
    "ExampleF1",
    "ExpectedSize",
    "LabelCuts",
    "LeastCost",
    "MetaLabeler",
    "Sample",
    "StackedLabels",
    "TopK",
    "as_indicator",
    "best_threshold",
    "expected_size",
    "get_rule",
    "has_empty",
    "known_only",
    "n_labelled",
    "names_of",
]


# Imported when used: scikit-learn's model selection is not needed by the rules.
_MODULES = {"ConformalSets": "conformal"}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
