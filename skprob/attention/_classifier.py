"""A classifier by attention to the training rows."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import (
    OneOf,
    RealInterval,
    check_sample_weight,
    check_target,
    in_order,
)
from .._utils.typing import Array, ArrayLike, MatrixLike, same_signature
from ..mappings import MappingLike
from ..targets import as_labels, column_names, encode_target
from ._base import ATTRIBUTES, PARAMETERS, BaseAttention


class AttentionClassifier(ClassifierMixin, BaseAttention):
    __doc__ = f"""Classifier whose probabilities are means of training targets.

    The weights of the mean are computed by a mapping from similarities: the training
    rows are the keys, their targets the values (Nadaraya-Watson). With softmax every
    training row has a positive weight, with sparsemax only the nearest ones.

    Parameters
    ----------
    {PARAMETERS}
    target_type : {{"auto", "class", "label_set", "distribution"}}, default="auto"
        What `y` is: labels, a 0/1 indicator of label sets, or distributions over the
        classes. "auto" reads it off `y`.
    threshold : float, default=0.5
        A label is in a predicted set if its marginal is more than this.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; where `y` is a matrix, the names of its columns or, if they
        have none, their numbers.
    target_type_ : str
        "class", "label_set" or "distribution": what `y` was in ``fit``.
    {ATTRIBUTES}

    See Also
    --------
    AttentionRegressor : The same for numbers.
    sklearn.neighbors.KNeighborsClassifier : A fixed number of neighbours.

    References
    ----------
    E. A. Nadaraya, "On estimating regression", Theory of Probability and its
    Applications 9, 1964.

    O. Anava and K. Y. Levy, "k*-nearest neighbors: from global to local", NeurIPS 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob.attention import AttentionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AttentionClassifier(temperature=10.0).fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(3)
    array([[1.   , 0.   , 0.   ],
           [0.   , 0.415, 0.585]])
    """

    # Public module of the class, which pickle and skops store.
    __module__ = __name__.rpartition(".")[0]

    _parameter_constraints: dict = {
        **BaseAttention._parameter_constraints,
        "target_type": [OneOf("auto", "class", "label_set", "distribution")],
        "threshold": [RealInterval(0, 1, closed="left")],
    }

    def __init__(
        self,
        mapping: MappingLike = "sparsemax",
        *,
        similarity: Literal["distance", "dot"] = "distance",
        temperature: float = 1.0,
        n_neighbors: int | None = 100,
        target_type: str = "auto",
        threshold: float = 0.5,
    ) -> None:
        super().__init__(
            mapping,
            similarity=similarity,
            temperature=temperature,
            n_neighbors=n_neighbors,
        )
        self.target_type = target_type
        self.threshold = threshold

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @same_signature(_fit_context(prefer_skip_nested_validation=True))
    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Store the training rows and their targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows: the keys.
        y : array-like or sparse matrix
            Labels of shape (n_samples,), or an indicator or distributions of shape
            (n_samples, n_classes).

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed, or X or y hold NaN or infinity, do not fit
            together, or are none of the kinds above.
        """
        X = self._check_X(X, reset=True)
        given, y = y, check_target(y, "y", len_of=X)
        names = column_names(given, y.shape)
        # Label sets are 0/1 rows: their weighted mean is a marginal for each label.
        encoded = encode_target(y, self.target_type, X.dtype)
        if encoded.target_type == "label_set":
            encoded = encode_target(y, encoded.target_type, X.dtype, polytope="cube")
        self._fit_keys(X)
        self.target_type_, self._threshold = encoded.target_type, self.threshold
        is_named = names is not None and encoded.target_type != "class"
        self.classes_ = np.asarray(names) if is_named else encoded.classes
        values = encoded.target.to_dense(X.dtype)
        # Labels and sets have few non-zeros in a row.
        is_sparse = encoded.target_type != "distribution"
        self._values = sparse.csr_array(values) if is_sparse else values
        return self

    def predict_proba(self, X: MatrixLike) -> Array:
        """Probabilities of the classes, or marginals of the labels.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New rows.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            The columns are in the order of ``classes_``. After a fit to label sets they
            are marginals, which do not sum to one.
        """
        return self._means(X, lambda means: np.clip(means, 0, 1))

    def predict(self, X: MatrixLike) -> Array:
        """Predicted labels, label sets, or most probable classes.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New rows.

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_classes)
            The most probable label; after a fit to label sets the 0/1 indicator of the
            labels above ``threshold``, to distributions the column number of the most
            probable class.
        """
        p = self.predict_proba(X)
        if self.target_type_ == "label_set":
            return (p > self._threshold).astype(np.int64)
        columns = p.argmax(axis=1)
        return self.classes_[columns] if self.target_type_ == "class" else columns

    def score(
        self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Accuracy of the predictions.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New rows.
        y : array-like or sparse matrix
            Targets of the kind that was fitted.
        sample_weight : array-like of shape (n_queries,), default=None
            Weights of the rows; None weights all equally.

        Returns
        -------
        score : float
            The share of right labels, or of whole sets; for distributions the mean
            target probability of the predicted class.
        """
        check_is_fitted(self)
        predicted = self.predict(X)
        weight = check_sample_weight(sample_weight, predicted)
        weight = weight / weight.max()  # The sum of large weights would overflow.
        if self.target_type_ == "class":
            y = as_labels(check_target(y, "y", len_of=predicted))
            return accuracy_score(y, predicted, sample_weight=weight)
        y = check_target(in_order("y", y, self.classes_), "y", len_of=predicted)
        if self.target_type_ == "label_set":
            return accuracy_score(y, predicted, sample_weight=weight)
        target = encode_target(y, "distribution").target.to_dense(np.float64)
        hit = target[np.arange(len(predicted)), predicted]
        return float(np.average(hit, weights=weight))
