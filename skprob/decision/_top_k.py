"""The most probable labels of each row, a fixed number of them."""

from __future__ import annotations

from sklearn.base import clone

from .._utils.checks import IntegerInterval
from .._utils.typing import AnyArray, MatrixLike
from ..mappings import top_k
from ._base import DecisionRule


class TopK(DecisionRule):
    """The k most probable labels of each row.

    The rule is for classes and for label sets. For classes, the share of the sets that
    contain the true class is the top-k accuracy. The first columns of those with equal
    probabilities are taken, and with fewer than k labels all of them. No fit is needed:
    unfitted, ``predict`` takes any number of columns.

    Parameters
    ----------
    k : int, default=5
        Number of labels in each set; with fewer labels a set has all of them.

    Attributes
    ----------
    n_labels_ : int
        Number of labels.
    label_names_ : ndarray of shape (n_labels,) or None
        Names of the labels, if ``fit`` was given a DataFrame.
    may_be_empty_ : bool
        Whether some rows in ``fit`` had no label. It has no effect: no set is empty.
    polytope_ : str
        "simplex" or "cube", as in ``fit``.

    See Also
    --------
    skprob.metrics.precision_at_k : Share of the k labels that are true.
    ConformalSets : Sets whose size depends on the row, with a guarantee.

    Examples
    --------
    >>> from skprob.decision import TopK
    >>> TopK(k=2).predict([[0.5, 0.1, 0.4], [0.2, 0.2, 0.6]])
    array([[1, 0, 1],
           [1, 0, 1]])
    """

    _parameter_constraints: dict = {"k": [IntegerInterval(1, None, closed="left")]}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def __sklearn_is_fitted__(self):
        return True

    def predict(
        self, probabilities: MatrixLike, X: MatrixLike | None = None
    ) -> AnyArray:
        """Predict the label set of each row.

        Parameters
        ----------
        probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
            Non-negative. Columns of a DataFrame are matched with ``label_names_``.
        X : object, default=None
            Not used: the rule needs no features.

        Returns
        -------
        sets : ndarray or CSR array of shape (n_samples, n_labels)
            0/1 indicator; CSR if `probabilities` is sparse.
        """
        self._validate_params()
        return super().predict(probabilities, X)

    def for_labels(self, n_labels: int) -> TopK:
        """A copy for a number of labels, without a fit.

        Parameters
        ----------
        n_labels : int
            Number of labels, of which each row gets `k`.

        Returns
        -------
        rule : TopK

        Examples
        --------
        >>> from skprob.decision import TopK
        >>> TopK(k=2).for_labels(3).n_labels_
        3
        """
        self._validate_params()
        rule = clone(self)
        rule.n_labels_, rule.label_names_ = n_labels, None
        return rule

    def _fit(self, sample):
        pass

    def _chosen(self, p, sizes):
        return top_k(p, self.k)
