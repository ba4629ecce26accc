"""Decision rules: from probabilities to a set of labels, or a label, for each row.

The rules can be used with the probabilities of any classifier. Fit them to out-of-fold
probabilities, or to probabilities of held-out rows. A model is too confident for the
rows of its fit, and cuts that are chosen on these rows are too high.

Read `_base.py` first, the class of all rules of label sets, and `_sample.py`, the rows
that a rule is fitted to. `_cuts.py`, `_row_wise.py`, `_top_k.py` and `_stacked.py` have
the rules; `_cut_candidates.py` counts hits of cuts, and `_expected_size.py` predicts
how many labels a row has. A new rule is a subclass of :class:`DecisionRule` and a line
in `_registry.py`. `_least_cost.py` is the rule of class labels, and `conformal/` has
sets with a coverage.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_attribute
from ._base import DecisionRule
from ._base import ThresholdLike as ThresholdLike
from ._best_threshold import best_threshold
from ._blocks import known_only as known_only
from ._cuts import CommonCut, LabelCuts
from ._empty_sets import has_empty as has_empty
from ._empty_sets import n_labelled as n_labelled
from ._expected_size import ExpectedSize
from ._expected_size import expected_size as expected_size
from ._input import as_indicator as as_indicator
from ._least_cost import LeastCost
from ._names import names_of
from ._registry import RULES, get_rule
from ._row_wise import ExampleF1, MetaLabeler
from ._sample import Sample
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
    "best_threshold",
    "get_rule",
    "names_of",
]


# Imported when used: scikit-learn's model selection is not needed by the rules.
_MODULES = {"ConformalSets": "conformal"}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
