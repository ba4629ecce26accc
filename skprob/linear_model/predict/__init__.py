"""What fitted classifiers predict: probabilities, labels, label sets and accuracies.

Read `_fitted_model.py` first, the fitted attributes as plain data, and
`_prediction.py`, which computes predictions for a block of rows at a time.
`_unit_rows.py` scales rows for scores that are cosines, `_one_vs_rest.py` divides
marginals by their sum where the target is class labels. `_threshold.py` chooses
thresholds of label sets from probabilities and labels of rows, `_label_sets.py` applies
them. `_known_rows.py` has predictions that a search has computed for several models
together, and `_accuracy.py` the default score.
"""

from ._accuracy import accuracy
from ._fitted_model import FittedModel
from ._known_rows import KnownRows, OneBlock
from ._label_sets import Sets, sets_of_scores, threshold_of
from ._one_vs_rest import log_shares_of, one_vs_rest, shares_of
from ._prediction import check_predictions
from ._threshold import (
    LabelledRows,
    chained,
    changed_threshold,
    splits_of,
    threshold_rule,
)
from ._unit_rows import StandardizedFeatures, StandardUnitRows, UnitRows

__all__ = [
    "FittedModel",
    "KnownRows",
    "LabelledRows",
    "OneBlock",
    "Sets",
    "StandardUnitRows",
    "StandardizedFeatures",
    "UnitRows",
    "accuracy",
    "chained",
    "changed_threshold",
    "check_predictions",
    "log_shares_of",
    "one_vs_rest",
    "sets_of_scores",
    "shares_of",
    "splits_of",
    "threshold_of",
    "threshold_rule",
]
