"""Rules that choose the set of each row on its own."""

from abc import abstractmethod

import numpy as np

from ._base import DecisionRule


class _SizeRule(DecisionRule):
    """A number of the most probable labels, which depends on the expected size."""

    def _fit(self, sample):
        self.expected_size_, self.has_none_ = None, sample.has_none
        if sample.polytope == "simplex":
            if sample.sizes is None:
                raise ValueError(
                    f"X must be given to {type(self).__name__} with shares: the "
                    "expected size of a set is regressed on the features."
                )
            self.expected_size_, _ = sample.sizes()

    def _chosen(self, p, sizes):
        marginals = p if sizes is None else p * sizes[:, None]
        # The sum of shares is below one where a row may have no label.
        sizes = marginals.sum(axis=1)
        order = np.argsort(-marginals, axis=1, kind="stable")
        ordered = np.take_along_axis(marginals, order, axis=1)
        none = np.maximum(1 - p.sum(axis=1), 0) if self.has_none_ else None
        number = self._numbers(ordered, sizes, none)
        if not self.may_be_empty_:
            number = np.maximum(number, 1)
        chosen = np.zeros(p.shape, dtype=bool)
        is_first = np.arange(p.shape[1]) < number[:, None]
        np.put_along_axis(chosen, order, is_first, axis=1)
        return chosen

    @abstractmethod
    def _numbers(self, marginals, sizes, none):
        """Number of labels of each row, from marginals in descending order.

        `none` is the probability of no label, or None where it is not known.
        """


class ExampleF1(_SizeRule):
    r"""For each row the set with the highest expected F1 of the row (example-F1).

    Where the true set has m labels and q are the marginals, the expected F1 of a set T
    is 2 sum(q_k, k in T) / (m + \|T\|). It is maximised exactly over all sets T, with
    the expected size of the true set in place of m. For shares, m is predicted from the
    features by ridge regression, and the marginals are the shares times m; for
    marginals, m is their sum.

    If some rows in ``fit`` had no label, the empty set is a candidate, too. Its F1 is
    one if the true set is empty and zero otherwise, so its expected F1 is the
    probability of "no label": one minus the sum of the shares or, for marginals of
    independent labels, prod(1 - q_k).

    Attributes
    ----------
    expected_size_ : callable or None
        ``expected_size_(X)`` gives the expected sizes of the sets, for shares; None for
        marginals.
    has_none_ : bool
        Whether the shares of some rows in ``fit`` summed to less than one; the rest is
        the probability of "no label".
    n_labels_ : int
        Number of labels.
    label_names_ : ndarray of shape (n_labels,) or None
        Names of the labels, if ``fit`` was given a DataFrame.
    may_be_empty_ : bool
        Whether some rows in ``fit`` had no label.
    polytope_ : str
        "simplex" or "cube", as in ``fit``.

    See Also
    --------
    LabelCuts : Cuts for a high micro-F1 or macro-F1.
    MetaLabeler : A number of labels for each row, with less computation.

    References
    ----------
    Waegeman, Dembczynski, Jachnik, Cheng, Huellermeier, "On the Bayes-optimality of
    F-measure maximizers", Journal of Machine Learning Research 2014.

    Examples
    --------
    >>> from skprob.decision import ExampleF1
    >>> p = [[0.9, 0.6, 0.1], [0.2, 0.9, 0.3]]
    >>> rule = ExampleF1().fit(p, [[1, 1, 0], [0, 1, 0]], polytope="cube")
    >>> rule.predict(p)
    array([[1, 1, 0],
           [0, 1, 0]])
    """

    def _numbers(self, marginals, sizes, none):
        number = np.arange(1, marginals.shape[1] + 1)
        total = number + sizes[:, None]
        f1 = 2 * np.cumsum(marginals, axis=1) / total
        best = f1.argmax(axis=1)
        if not self.may_be_empty_:
            return 1 + best
        empty = none
        if none is None:
            empty = np.prod(np.maximum(1 - marginals, 0), axis=1)
        return np.where(empty > f1[np.arange(len(f1)), best], 0, 1 + best)


class MetaLabeler(_SizeRule):
    """As many of the most probable labels as the expected size of the set.

    The expected size is rounded. With the true size and calibrated probabilities, the
    set maximises the expected number of right labels. For shares, the size is predicted
    from the features by ridge regression; for marginals, it is their sum.

    Attributes
    ----------
    expected_size_ : callable or None
        ``expected_size_(X)`` gives the expected sizes of the sets, for shares; None for
        marginals.
    has_none_ : bool
        Whether the shares of some rows in ``fit`` summed to less than one; the rest is
        the probability of "no label".
    n_labels_ : int
        Number of labels.
    label_names_ : ndarray of shape (n_labels,) or None
        Names of the labels, if ``fit`` was given a DataFrame.
    may_be_empty_ : bool
        Whether some rows in ``fit`` had no label.
    polytope_ : str
        "simplex" or "cube", as in ``fit``.

    See Also
    --------
    TopK : The same number of labels for each row.
    ExpectedSize : The regression that gives the number.

    References
    ----------
    Tang, Rajan, Narayanan, "Large scale multi-label classification via MetaLabeler",
    WWW 2009.

    Examples
    --------
    >>> from skprob.decision import MetaLabeler
    >>> p = [[0.9, 0.6, 0.1], [0.2, 0.9, 0.3]]
    >>> rule = MetaLabeler().fit(p, [[1, 1, 0], [0, 1, 0]], polytope="cube")
    >>> rule.predict(p)
    array([[1, 1, 0],
           [0, 1, 0]])
    """

    def _numbers(self, marginals, sizes, none):
        return np.rint(sizes).astype(int)
