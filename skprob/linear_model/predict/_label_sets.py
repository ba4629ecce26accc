"""The label sets that a fitted model predicts."""

import numpy as np

from ..._utils.arrays import as_type, asarray_like, namespace
from .._known_threshold import check_labels_of_rule, check_threshold
from ._prediction import Prediction


def threshold_of(model):
    """The threshold of a fitted model, checked because it may have been assigned."""
    threshold = check_threshold(model.threshold, model.classes)
    check_labels_of_rule(threshold, model.classes)
    return threshold


def sets_of_scores(cuts, model):
    """A function of scores: the label sets whose probabilities are above cuts."""

    def sets(scores):
        p = model.mapping(scores)[:, : model.n_classes]
        return as_type(p > asarray_like(np.asarray(cuts), p), namespace(p).int64)

    return sets


class Sets(Prediction):
    """The label sets that a rule makes of a model's probabilities.

    Parameters
    ----------
    rule : DecisionRule
        A fitted rule.
    blocks : iterable of ndarray of shape (n_rows, n_classes)
    features : ndarray or CSR matrix of shape (n_samples, n_features) or None
        The features of all rows, if the rule uses them.
    n_samples : int
    available : ndarray of bool of shape (n_samples, n_classes) or None
        The labels that each row may have; None if it may have all.
    """

    def __init__(self, rule, blocks, features, n_samples, available):
        self._rule, self._blocks, self._features = rule, blocks, features
        self.n_rows, self._available = n_samples, available

    def __iter__(self):
        sets = self._rule.predict_blocks(self._blocks, self._features)
        if self._available is None:
            yield from sets
            return
        start = 0
        for block in sets:
            yield block * self._available[start : start + len(block)]
            start += len(block)
