"""The label sets that a fitted model predicts."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from ..._utils.arrays import as_type, beside, namespace, to_numpy
from ...decision import DecisionRule
from .._checks import check_X
from .._known_threshold import check_labels_of_rule, check_threshold


def predicted_sets(model, X, **given):
    # The threshold may have been assigned.
    threshold = check_threshold(model.threshold_, model._n_classes)
    check_labels_of_rule(threshold, model.classes_)
    if isinstance(threshold, DecisionRule):
        features = None
        if threshold.uses_features:
            features = to_numpy(check_X(model, X, reset=False))
        probabilities = model._probabilities(X, **given).on_host()
        return Sets(threshold, probabilities, features, _num_samples(X))

    def sets(scores):
        p = model.mapping_(scores)[:, : model._n_classes]
        cuts = beside(np.asarray(threshold), p)
        return as_type(p > cuts, namespace(p).int64)

    return model._predicted(X, sets, **given)


class Sets:
    """The label sets that a rule makes of a model's probabilities, block by block.

    Parameters
    ----------
    rule : DecisionRule
        Fitted.
    blocks : iterable of ndarray of shape (n_rows, n_classes)
    features : ndarray or CSR matrix of shape (n_samples, n_features) or None
        Of all rows, if the rule uses them.
    n_samples : int
    """

    def __init__(self, rule, blocks, features, n_samples):
        self._rule, self._blocks, self._features = rule, blocks, features
        self._shape = n_samples, rule.n_labels_

    def __iter__(self):
        return self._rule.predict_blocks(self._blocks, self._features)

    def to_dense(self):
        """All of them as one array."""
        result, start = np.empty(self._shape, dtype=np.int64), 0
        for block in self:
            result[start : start + len(block)] = block
            start += len(block)
        return result

    def to_sparse(self):
        """All of them as one CSR array."""
        return sparse.vstack([sparse.csr_array(block) for block in self], format="csr")
