"""The accuracy of predictions of labels, label sets or distributions."""

import numpy as np
from sklearn.metrics import accuracy_score

from ..._utils.arrays import check_no_gradient, is_foreign, to_numpy
from ..._utils.columns import in_order
from ..._utils.validation import check_sample_weight
from ...targets import as_labels, check_target, encode_target
from .._checks import is_dask, refuse_for_dask
from ._label_sets import predicted_sets


def accuracy(model, X, y, sample_weight, given):
    """The accuracy of a fitted model; see :meth:`BaseLinearClassifier.score`."""
    if any(is_dask(data) for data in (X, y, sample_weight)):
        from ..dask._prediction import score

        refuse_for_dask(**given)
        return score(model, X, y, sample_weight)
    if model.target_type_ == "label_set":
        # Sparse in any case: that is how scikit-learn compares them.
        predicted = predicted_sets(model, X, **given).to_sparse()
    else:
        predicted = to_numpy(model.predict(X, **given))
    if is_foreign(y):
        check_no_gradient("y", y)
        y = to_numpy(y)
    if is_foreign(sample_weight):
        sample_weight = to_numpy(sample_weight)
    if model.target_type_ == "class":
        y = as_labels(y)
        if getattr(model._rule_of_labels, "abstain", None) is not None:
            # Where there is no decision, the label may be of another type.
            weight = check_sample_weight(sample_weight, predicted)
            return float(np.average(y == predicted, weights=weight))
    else:
        y = in_order("y", y, model.classes_)
    if model.target_type_ != "distribution":
        return accuracy_score(y, predicted, sample_weight=sample_weight)
    y = check_target(y, "y", len_of=predicted)
    classes = to_numpy(model.classes_)
    target = encode_target(y, "distribution", classes=classes).target
    hit = target.values[predicted[:, None] == classes]
    weight = check_sample_weight(sample_weight, predicted)
    return float(np.average(hit, weights=weight))
