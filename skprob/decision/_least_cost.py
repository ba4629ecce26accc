"""The class of least expected cost."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.arrays import as_type, asarray_like, namespace, take, to_numpy
from .._utils.checks import (
    RealInterval,
    as_costs,
    as_points,
    distinct_classes,
    in_order,
    names_of_columns,
)
from .._utils.names import KeywordsChecked
from .._utils.typing import AnyArray, Array, ArrayLike, MatrixLike


class LeastCost(KeywordsChecked, BaseEstimator):
    r"""The class label of least expected cost, or no decision where all cost too much.

    With probabilities p of the true class, decision j has the expected cost
    :math:`\sum_i p_i C_{ij}`. For calibrated probabilities no other rule has a smaller
    cost on average. The rule needs no fit. As the ``threshold`` of a classifier it
    replaces the most probable class in ``predict``.

    Parameters
    ----------
    costs : array-like or pandas DataFrame of shape (n_classes, n_classes)
        Cost of each decision (column) for each true class (row): any finite real
        numbers. Rows and columns of a DataFrame are matched with the classes by name.
    abstain : float, default=None
        Cost of no decision, such as that of asking a person. In rows in which the
        expected cost of every label is larger, `abstain_label` is predicted. With None
        a class is always predicted.
    abstain_label : object, default="auto"
        Prediction where no class is chosen. "auto" is -1 if the classes are numbers,
        and None otherwise. scikit-learn's metrics do not compare None with text: give
        them a text, such as "?".

    See Also
    --------
    skprob.losses.MarginLoss : Costs in training.

    References
    ----------
    Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.

    Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
    Information Theory 1970.

    Examples
    --------
    A false alarm costs 1, a missed illness 10, and a second opinion 0.6:

    >>> import numpy as np
    >>> from skprob.decision import LeastCost
    >>> p = np.array([[0.99, 0.01], [0.93, 0.07], [0.8, 0.2]])
    >>> names = np.array(["well", "sick"])
    >>> LeastCost([[0, 1], [10, 0]]).predict(p, names)
    array(['well', 'well', 'sick'], dtype='<U4')
    >>> LeastCost([[0, 1], [10, 0]], abstain=0.6).predict(p, names)
    array(['well', None, None], dtype=object)
    """

    _parameter_constraints: dict = {
        "costs": ["array-like"],
        "abstain": [RealInterval(None, None, closed="neither"), None],
        "abstain_label": "no_validation",
    }

    def __init__(
        self,
        costs: ArrayLike,
        abstain: float | None = None,
        abstain_label: Any = "auto",
    ) -> None:
        self.costs = costs
        self.abstain = abstain
        self.abstain_label = abstain_label

    def expected_costs(
        self, probabilities: MatrixLike, classes: ArrayLike | None = None
    ) -> Array:
        """Expected cost of each decision.

        Parameters
        ----------
        probabilities : array-like or sparse matrix of shape (n_samples, n_classes)
            Rows on the simplex, such as those of ``predict_proba``. Columns of a
            DataFrame are matched with the classes by name.
        classes : array-like of shape (n_classes,), default=None
            Names of the columns, such as ``classes_`` of the classifier. None stands
            for the names of a DataFrame. If only the costs have names, the columns of
            `probabilities` must be in the order of the costs. Without any names the
            labels are the numbers of the columns.

        Returns
        -------
        costs : ndarray of shape (n_samples, n_classes)

        Raises
        ------
        ValueError
            If probabilities or costs are malformed, or have other classes.

        Examples
        --------
        >>> from skprob.decision import LeastCost
        >>> LeastCost([[0, 1], [10, 0]]).expected_costs([[0.75, 0.25]])
        array([[2.5 , 0.75]])
        """
        return self._checked(probabilities, classes)[0]

    def predict(
        self, probabilities: MatrixLike, classes: ArrayLike | None = None
    ) -> AnyArray:
        """The label of least expected cost in each row.

        Parameters
        ----------
        probabilities, classes : as for :meth:`expected_costs`
            The probabilities of each row, and the classes of their columns.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Entries of `classes`, the first of several with the same cost;
            `abstain_label` where no decision is cheaper.

        Raises
        ------
        ValueError
            As :meth:`expected_costs`; if `abstain_label` is a class.
        """
        costs, classes = self._checked(probabilities, classes)
        return self._labels(costs, np, classes)

    def _checked(self, probabilities, classes):
        """Expected costs, and the names of the columns."""
        self._validate_params()
        if classes is None:
            classes = names_of_columns("probabilities", probabilities)
        else:
            classes = distinct_classes(classes)
            probabilities = in_order("probabilities", probabilities, classes)
        p = as_points(probabilities, "simplex", "probabilities")
        if classes is None:
            known = names_of_columns("costs", self.costs)
            classes = np.arange(p.shape[1]) if known is None else known
        if len(classes) != p.shape[1]:
            raise ValueError(
                f"probabilities must have a column for each of the {len(classes)} "
                f"classes; got {p.shape[1]}."
            )
        return p @ self.for_classes(classes)._costs_like(p), classes

    def for_classes(self, classes: Array) -> LeastCost:
        """A checked copy, whose costs are an array in the order of the classes.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            The classes, in the order of the probabilities.

        Returns
        -------
        rule : LeastCost

        Raises
        ------
        ValueError
            If the costs are malformed or have other classes, or `abstain_label` is a
            class.

        Examples
        --------
        >>> import numpy as np
        >>> from skprob.decision import LeastCost
        >>> LeastCost([[0, 1], [2, 0]]).for_classes(np.array(["no", "yes"])).costs
        array([[0., 1.],
               [2., 0.]])
        """
        self._validate_params()
        costs = as_costs("costs", self.costs, len(classes), classes)
        label = self.label_of_abstention(classes)
        if np.ndim(label):
            raise ValueError(f"abstain_label must be a single label; got {label!r}.")
        if self.abstain is not None and label in classes.tolist():
            raise ValueError(
                f"abstain_label must not be a class; got {label!r}, which is one of "
                f"{classes.tolist()[:10]}."
            )
        return LeastCost(costs, self.abstain, self.abstain_label)

    def decide(
        self, probabilities: Array, classes: Array, available: Array | None = None
    ) -> AnyArray:
        """The labels of checked probabilities, by a rule of :meth:`for_classes`.

        Parameters
        ----------
        probabilities : array of shape (n_samples, n_classes)
            Of any library.
        classes : array of shape (n_classes,)
            Of the same library, or NumPy's text.
        available : array of bool of shape (n_samples, n_classes), default=None
            The labels that may be chosen in each row; None stands for all labels.

        Returns
        -------
        labels : array of shape (n_samples,)

        Examples
        --------
        >>> import numpy as np
        >>> from skprob.decision import LeastCost
        >>> names = np.array([4, 7])
        >>> rule = LeastCost([[0, 1], [2, 0]], abstain=0.5).for_classes(names)
        >>> rule.decide(np.array([[0.9, 0.1], [0.6, 0.4]]), names)
        array([ 4, -1])
        """
        costs = probabilities @ self._costs_like(probabilities)
        xp = namespace(costs)
        if available is not None:
            costs = xp.where(available, costs, xp.inf)
        return self._labels(costs, xp, classes)

    def _costs_like(self, probabilities):
        """The costs in the library and type of the probabilities."""
        with np.errstate(over="ignore"):
            costs = as_type(
                asarray_like(self.costs, probabilities), probabilities.dtype
            )
        xp = namespace(costs)
        if not xp.all(xp.isfinite(costs)):
            raise ValueError(
                "costs must be finite numbers of the type of the probabilities, "
                f"{costs.dtype}; got numbers from {self.costs.min():.6g} to "
                f"{self.costs.max():.6g}."
            )
        return costs

    def _labels(self, costs, xp, classes):
        """The labels of least cost, of arrays of a library."""
        columns = xp.argmin(costs, axis=1)
        if isinstance(classes, np.ndarray):
            columns, labels = to_numpy(columns), self._with_abstention(classes)
        else:
            labels = asarray_like(self._with_abstention(to_numpy(classes)), costs)
        if self.abstain is not None:
            too_much = xp.min(costs, axis=1) > self.abstain
            columns = xp.where(asarray_like(too_much, columns), len(classes), columns)
        return take(labels, columns)

    def _with_abstention(self, classes):
        """The classes and, if there may be no decision, its label."""
        if self.abstain is None:
            return classes
        label, kind = self.label_of_abstention(classes), classes.dtype.kind
        fits = isinstance(label, str) if kind == "U" else isinstance(label, Real)
        if not fits or kind not in "Uiuf":
            classes = classes.astype(object)
        return np.append(classes, np.array([label], object if not fits else None))

    def label_of_abstention(self, classes: Array) -> Any:
        """The prediction where no class is chosen.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            The classes, in the order of the probabilities.

        Returns
        -------
        label : object

        Examples
        --------
        >>> import numpy as np
        >>> from skprob.decision import LeastCost
        >>> LeastCost([[0, 1], [2, 0]]).label_of_abstention(np.array([4, 7]))
        -1
        """
        if not (isinstance(self.abstain_label, str) and self.abstain_label == "auto"):
            return self.abstain_label
        return -1 if classes.dtype.kind in "iuf" else None
