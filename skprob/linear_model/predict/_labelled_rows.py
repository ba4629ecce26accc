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

# Most labels for which "auto" selects ``StackedLabels``. Time grows with the third
# power of the number of labels, memory with the second.
_MOST_STACKED = 1000
# Largest number of labels, divided by the degrees of freedom of their fits, at which
# ``StackedLabels`` uses leave-one-out probabilities. With 5 on birds and 7 to 41 on
# CAL500, at strong penalties, micro-F1 is up to 6 points lower than with folds.
_MOST_LABELS_PER_DEGREE = 4


class LabelledRows:
    """Rows with known labels, by which thresholds of label sets are chosen.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    labels : CSR array of shape (n_samples, n_labels)
        0/1 indicator.
    weight : ndarray of shape (n_samples,)
        Positive weights of the rows in the F1 score.
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

    def fitted_threshold(self, threshold, blocks, order):
        """The threshold with the best score, for probabilities of the rows.

        Parameters
        ----------
        threshold : str or DecisionRule
        blocks : iterable of ndarray of shape (n_rows, n_labels)
            The probabilities; it can be iterated over any number of times.
        order : ndarray of int or slice
            The numbers of the rows, in the order of the blocks.

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
        """Whether a rule could compute the labels of a row from its left-out fit.

        A fit without a row has smaller probabilities of the labels of this row, and
        larger ones of other labels. The fits of all labels change probabilities in as
        many directions as they have degrees of freedom. If there are many more labels,
        the other directions show which labels the row has.

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
        # A row's residual is its left-out residual times one minus its leverage, and
        # the leverages sum to the degrees of freedom.
        n_degrees = n_rows * (1 - of_fit / max(of_left_out, np.finfo(float).tiny))
        return n_labels > _MOST_LABELS_PER_DEGREE * n_degrees

    @cached_property
    def _expected_size(self):
        X = to_numpy(self.X)
        return expected_size(X, self.labels, self.weight, self._has_none)
