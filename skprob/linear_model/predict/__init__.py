"""What fitted classifiers predict: probabilities, labels, label sets and accuracies.

Read `_fitted_model.py` first, the fitted attributes as plain data, and
`_prediction.py`, which computes predictions for a block of rows at a time.
`_unit_rows.py` scales rows for scores that are cosines, `_one_vs_rest.py` divides
marginals by their sum where the target is class labels. `_accuracy.py` is the default
score, and `_known_rows.py` has predictions that a search has computed for several
models together.

For label sets, `_threshold_rule.py` chooses the threshold of a fit, with the rows of
`_labelled_rows.py`. `_out_of_fold.py` computes the probabilities of rows by models that
were not fitted to them. `_changed_threshold.py` chooses another threshold after a fit,
and `_label_sets.py` applies it.
"""

from ._accuracy import accuracy
from ._changed_threshold import changed_threshold, splits_of
from ._fitted_model import FittedModel
from ._known_rows import KnownPrediction, KnownRows
from ._label_sets import Sets, sets_of_scores, threshold_of
from ._labelled_rows import LabelledRows
from ._one_vs_rest import log_shares_of, one_vs_rest, shares_of
from ._out_of_fold import MOST_JOINED, chained
from ._prediction import check_predictions
from ._threshold_rule import KnownThreshold, threshold_rule
from ._unit_rows import StandardizedFeatures, StandardUnitRows, UnitRows

__all__ = [
    "MOST_JOINED",
    "FittedModel",
    "KnownPrediction",
    "KnownRows",
    "KnownThreshold",
    "LabelledRows",
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
