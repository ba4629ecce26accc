"""Rows with known labels, by which thresholds of label sets are chosen."""

from functools import cached_property

import numpy as np

from ..._utils.arrays import to_numpy
from ...decision import (
    LabelCuts,
    Sample,
    StackedLabels,
    best_threshold,
    expected_size,
    get_rule,
    has_empty,
    known_only,
)

# Most labels for which "auto" corrects the probabilities of labels by each other. Time
# grows with the third power of the number of labels, memory with the second.
_MOST_STACKED = 1000
# Most labels for each degree of freedom of their fits at which probabilities of labels
# are corrected by those of rows that are left out one by one. With 5 on birds and 7 to
# 41 on CAL500, at strong penalties, micro-F1 was up to 6 points lower than with folds.
_MOST_LABELS_PER_DEGREE = 4


class LabelledRows:
    """Rows with known labels, by which thresholds of label sets are chosen.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    labels : CSR array of shape (n_samples, n_labels)
        Indicator.
    weight : ndarray of shape (n_samples,)
        Positive; weights of the rows in the F1 score.
    polytope : {"simplex", "cube"}
        The polytope of the probabilities.
    has_none : bool
        Whether there is a class for rows without a label.
    any_empty : bool, default=False
        Whether there were rows without a label that are not among these.
    known : ndarray of bool of shape (n_samples, n_labels), default=None
        Which entries of the labels are known; None if all are.
    """

    def __init__(
        self, X, labels, weight, polytope, has_none, any_empty=False, known=None
    ):
        if not labels.nnz:
            raise ValueError(
                "y must have a label in at least one row of positive weight; it has "
                "none."
            )
        self.X, self.labels, self.weight, self.known = X, labels, weight, known
        self._polytope, self._has_none = polytope, has_none
        self._may_be_empty = any_empty or has_empty(labels, known)

    def threshold(self, threshold, blocks, order):
        """The threshold with the best score by probabilities of rows.

        Parameters
        ----------
        threshold : str or DecisionRule
        blocks : iterable of ndarray of shape (n_rows, n_labels)
            The probabilities; it can be iterated over any number of times.
        order : ndarray of int or slice
            The numbers of the rows, in the order in which they come.

        Returns
        -------
        threshold : float or DecisionRule
        """
        labels, weight = self.labels[order], self.weight[order]
        known = None if self.known is None else self.known[order]
        if threshold == "cv":
            return best_threshold(known_only(blocks, known), labels, weight)

        def sizes():
            return self._expected_size, self._expected_size.out_of_fold[order]

        sample = Sample(
            blocks,
            labels,
            weight,
            sizes=sizes,
            polytope=self._polytope,
            may_be_empty=self._may_be_empty,
            has_none=self._has_none,
            known=known,
        )
        return self._rule(threshold).fit_sample(sample)

    def _rule(self, threshold):
        if isinstance(threshold, str) and threshold == "auto":
            is_small = self.labels.shape[1] <= _MOST_STACKED
            threshold = "micro" if is_small else LabelCuts("micro")
        return get_rule(threshold)

    def labels_are_revealed(self, threshold, left_out, blocks):
        """Whether a rule could compute labels from the probabilities without the row.

        Leaving out a row makes the probabilities of its labels smaller, and those of
        labels that it does not have larger. The fits of all labels move probabilities
        in as many directions as they have degrees of freedom. Where there are many more
        labels, the other directions show which labels the row has.

        Parameters
        ----------
        threshold : str or DecisionRule
        left_out : ndarray of shape (n_samples, n_labels)
            Probabilities of each row by the model without it.
        blocks : iterable of ndarray of shape (n_rows, n_labels)
            Probabilities by the model of all rows.
        """
        if threshold == "cv" or not isinstance(self._rule(threshold), StackedLabels):
            return False
        n_rows, n_labels = self.labels.shape
        labels = self.labels.toarray()
        known = True if self.known is None else self.known
        of_fit, of_left_out = (
            np.linalg.norm((labels - p) * known)
            for p in (np.concatenate(list(blocks)), left_out)
        )
        # The residual of a row of the fit is that without it times one minus its
        # leverage, and leverages sum to the degrees of freedom.
        n_degrees = n_rows * (1 - of_fit / max(of_left_out, np.finfo(float).tiny))
        return n_labels > _MOST_LABELS_PER_DEGREE * n_degrees

    @cached_property
    def _expected_size(self):
        X = to_numpy(self.X)
        return expected_size(X, self.labels, self.weight, self._has_none)
