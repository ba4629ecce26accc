"""The accuracy of predictions of labels, label sets or distributions."""

import numpy as np
from scipy import sparse

from ..._utils.arrays import is_foreign, to_numpy, weighted_mean
from ..._utils.checks import (
    check_sample_weight,
    check_target,
    check_tensor,
    fill_unknown,
    in_order,
    known_part,
)
from ...targets import as_labels, encode_rows, encode_target


def accuracy(predicted, y, sample_weight, model):
    """The accuracy of predictions; see :meth:`BaseLinearClassifier.score`.

    Parameters
    ----------
    predicted : ndarray or CSR array of shape (n_samples,) or (n_samples, n_classes)
    y, sample_weight : object
        The arguments of a user, not checked.
    model : FittedModel

    Returns
    -------
    accuracy : float
    """
    if is_foreign(y):
        check_tensor("y", y)
        y = to_numpy(y)
    classes = to_numpy(model.classes)
    weight = check_sample_weight(sample_weight, predicted)
    if model.target_type == "class":
        # A decision to abstain may be of another type than the labels.
        hit = _labels(y, predicted, classes) == predicted
    else:
        y, is_set = in_order("y", y, classes), model.target_type == "label_set"
        y = check_target(y, "y", len_of=predicted, may_have_unknown=is_set)
        if is_set:
            y, known = fill_unknown(y)
            predicted, weight = known_part("y", known, predicted, weight)
        hit = _HITS[model.target_type](y, predicted, classes)
    return weighted_mean(hit, weight)


def _labels(y, predicted, classes):
    """True labels, of the type of the classes."""
    y = as_labels(check_target(y, "y", len_of=predicted))
    if (y.dtype.kind in "biuf") != (classes.dtype.kind in "biuf"):
        raise ValueError(
            f"y must be labels such as {classes[:10].tolist()}, the classes of the "
            f"fit; got {y[:1].tolist()[0]!r}."
        )
    return y


def _hits_of_sets(y, predicted, classes):
    """Whether each set is the predicted one; both are indicators."""
    target = encode_rows(y, "label_set", np.float64, classes, "cube").target
    ones = np.ones(len(target.columns))
    sets = sparse.csr_array((ones, target.columns, target.indptr), target.shape)
    return np.diff(sparse.csr_array(sets != predicted).indptr) == 0


def _hits_of_distributions(y, predicted, classes):
    """The target probability of each predicted class."""
    target = encode_target(y, "distribution", classes=classes).target
    return target.values[predicted[:, None] == classes]


def _hits_of_candidates(y, predicted, classes):
    """Whether each predicted class is the label, or one of the candidates."""
    if y.ndim == 1 or y.shape[1] == 1:
        return _labels(y, predicted, classes) == predicted
    shares = encode_rows(y, "candidates", np.float64, classes).target
    return shares.inner((predicted[:, None] == classes).astype(float)) > 0


_HITS = {
    "label_set": _hits_of_sets,
    "distribution": _hits_of_distributions,
    "candidates": _hits_of_candidates,
}
