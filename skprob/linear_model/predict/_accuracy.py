"""The accuracy of predictions of labels, label sets or distributions."""

import numpy as np
from sklearn.metrics import accuracy_score

from ..._utils.arrays import check_no_gradient, is_foreign, to_numpy
from ..._utils.checks import check_sample_weight
from ..._utils.columns import in_order
from ...targets import as_labels, check_target, encode_rows, encode_target


def accuracy(predicted, y, sample_weight, model):
    """The accuracy of predictions; see :meth:`BaseLinearClassifier.score`.

    Parameters
    ----------
    predicted : ndarray or CSR array of shape (n_samples,) or (n_samples, n_classes)
    y, sample_weight : object
        Of a user.
    model : FittedModel

    Returns
    -------
    accuracy : float
    """
    if is_foreign(y):
        check_no_gradient("y", y)
        y = to_numpy(y)
    if is_foreign(sample_weight):
        sample_weight = to_numpy(sample_weight)
    if model.target_type == "class":
        y = as_labels(y)
        if getattr(model.rule_of_labels, "abstain", None) is not None:
            # Where there is no decision, the label may be of another type.
            weight = check_sample_weight(sample_weight, predicted)
            return float(np.average(y == predicted, weights=weight))
    else:
        y = in_order("y", y, model.classes)
    if model.target_type == "candidates":
        return _among_candidates(predicted, y, sample_weight, to_numpy(model.classes))
    if model.target_type == "label_set":
        y = check_target(y, "y", len_of=predicted)
    if model.target_type != "distribution":
        return accuracy_score(y, predicted, sample_weight=sample_weight)
    y = check_target(y, "y", len_of=predicted)
    classes = to_numpy(model.classes)
    target = encode_target(y, "distribution", classes=classes).target
    hit = target.values[predicted[:, None] == classes]
    weight = check_sample_weight(sample_weight, predicted)
    return float(np.average(hit, weights=weight))


def _among_candidates(predicted, y, sample_weight, classes):
    """Proportion of predictions that are the label, or one of the candidates."""
    y = check_target(y, "y", len_of=predicted)
    if y.ndim == 1 or y.shape[1] == 1:
        return accuracy_score(as_labels(y), predicted, sample_weight=sample_weight)
    shares = encode_rows(y, "candidates", np.float64, classes).target
    hit = shares.inner((predicted[:, None] == classes).astype(float)) > 0
    weight = check_sample_weight(sample_weight, predicted)
    return float(np.average(hit, weights=weight))
