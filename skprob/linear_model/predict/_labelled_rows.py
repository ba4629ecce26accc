"""Rows with known labels, by which thresholds of label sets are chosen."""

from functools import cached_property

from ..._utils.arrays import to_numpy
from ...decision import (
    LabelCuts,
    Sample,
    best_threshold,
    expected_size,
    get_rule,
    has_empty,
    known_only,
)

# Most labels for which "auto" corrects the probabilities of labels by each other. Time
# grows with the third power of the number of labels, memory with the second.
_MOST_STACKED = 1000


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

        if isinstance(threshold, str) and threshold == "auto":
            is_small = self.labels.shape[1] <= _MOST_STACKED
            threshold = "micro" if is_small else LabelCuts("micro")
        sample = Sample(
            blocks,
            labels,
            weight,
            sizes,
            self._polytope,
            self._may_be_empty,
            self._has_none,
            known,
        )
        return get_rule(threshold).fit_sample(sample)

    @cached_property
    def _expected_size(self):
        X = to_numpy(self.X)
        return expected_size(X, self.labels, self.weight, self._has_none)
