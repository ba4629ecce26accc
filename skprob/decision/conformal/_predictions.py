"""Predictions of a calibrated classifier: sets, probabilities and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from ..._utils.arrays import weighted_mean
from ..._utils.checks import check_sample_weight, in_order, known_part
from ..._utils.typing import AnyArray, Array, ArrayLike, MatrixLike
from ...mappings import Entmax, Temperature
from .._blocks import row_slices
from .._input import as_indicator
from ._responses import ResponseType, method_of, response_of
from ._routed_arguments import arguments_of_prediction
from ._scores import nonconformity_of
from ._truth import labels_to_compare, without_unknown

# With more classes, sets are CSR by default.
_MANY_CLASSES = 1000


class SetPredictions:
    """Mixin: predictions by the limit of a fit, a block of rows at a time.

    They depend on ``estimator_``, ``classes_``, ``target_type_``, ``limit_`` and, where
    there is one, ``temperature_``; on ``_fitted_with``, the parameters of the fit by
    name; on ``_needed``, the names of the arguments that rows need; and on ``_seed`` of
    the draws, which is None without.
    """

    def predict_set(self, X: MatrixLike, **params: Any) -> AnyArray:
        """Predict the set of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        **params : dict
            Arguments about these rows that the calibration rows had in ``fit``, such as
            ``available``. A class that is not available is in no set.

        Returns
        -------
        sets : ndarray or CSR array of int64 of shape (n_samples, n_classes)
            0/1 indicator in the order of ``classes_``; CSR by `sparse_output`.

        See Also
        --------
        names_of : The names of the classes in each set.
        """
        return self._indicator(self._fitted_response(X, "predict", params)[0])

    def _fitted_response(self, X, caller, params):
        """The response for new rows, and the arguments of the classifier's methods."""
        # scikit-learn's check computes tags, in the time of a small prediction.
        if "limit_" not in vars(self):
            check_is_fitted(self)
        of_method = arguments_of_prediction(self, caller, params, self._needed)
        return self._response(X, self._nonconformity().response, of_method), of_method

    def _response(self, X, response, of_method):
        """The scores or the probabilities of the fitted classifier, for new rows."""
        response_type = self._response_type(response)
        arguments = of_method(response_type.method)
        return response_of(self.estimator_, X, response_type, arguments)

    def _indicator(self, response):
        """Sets as predict_set returns them."""
        n_classes = len(self.classes_)
        is_sparse = self.sparse_output
        if is_sparse == "auto":
            is_sparse = n_classes > _MANY_CLASSES
        return _indicator_of(self._sets(response), n_classes, is_sparse)

    def predict_proba(self, X: MatrixLike, **params: Any) -> Array:
        """Probabilities that are positive exactly for the classes of the set.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        **params : dict
            As in :meth:`predict_set`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Those of entmax at ``temperature_``. With ``by="class"`` or another score
            function, the classifier's probabilities of the classes in the set, divided
            by their sum; for label sets and "threshold" they are not divided. Where the
            set is empty, the most probable class has 1.
        """
        response, of_method = self._fitted_response(X, "predict_proba", params)
        scores = response.only_available()
        if hasattr(self, "temperature_"):
            alpha = self._fitted_with["alpha"]
            p = Temperature(Entmax(alpha), self.temperature_)(scores)
        elif self._nonconformity().response == "probabilities":
            p = response.values.copy()
        else:
            p = self._response(X, "probabilities", of_method).values
        score_function = self._fitted_with["score_function"]
        if self.target_type_ == "label_set" and score_function == "threshold":
            return _marginals_in_sets(p, self._sets(response))
        return _shares_in_sets(p, self._sets(response), scores)

    def predict(self, X: MatrixLike, **params: Any) -> AnyArray:
        """Predict the best class of each row or, after a fit to label sets, the set.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        **params : dict
            As in :meth:`predict_set`.

        Returns
        -------
        y : ndarray or CSR array of shape (n_samples,) or (n_samples, n_labels)
            The class with the highest score; for label sets the result of
            :meth:`predict_set`. The class is in the set, unless `never_empty` is false
            and either the set is empty or ``by="class"``.
        """
        return self._predicted(self._fitted_response(X, "predict", params)[0])

    def _predicted(self, response):
        if self.target_type_ == "label_set":
            return self._indicator(response)
        best = response.only_available().argmax(axis=1)
        return np.asarray(self.classes_)[best]

    def score(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> float:
        """Accuracy of :meth:`predict`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            Labels or label sets, as in ``fit``. Columns of a DataFrame are matched with
            ``classes_`` by name. Labels of sets that are not known, NaN, are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        **params : dict
            As in :meth:`predict_set`.

        Returns
        -------
        score : float
            Share of the rows whose class, or whole label set, is predicted.
        """
        check_is_fitted(self)
        predicted = self._predicted(self._fitted_response(X, "score", params)[0])
        weight = check_sample_weight(sample_weight, predicted)
        if self.target_type_ != "label_set":
            y = labels_to_compare(y, np.asarray(self.classes_), len(predicted))
            return weighted_mean(y == predicted, weight)
        y, known = without_unknown(in_order("y", y, self.classes_))
        y = as_indicator(y, predicted.shape, "y")
        predicted, weight = known_part("y", known, predicted, weight)
        return accuracy_score(y, predicted, sample_weight=weight)

    def _sets(self, response):
        """Pairs of a slice of the rows, and the boolean indicator of their sets."""
        nonconformity, uniform = self._nonconformity(), None
        if self._seed is not None:
            generator = np.random.RandomState(self._seed)
            uniform = generator.uniform(size=len(response.values))
        for rows in row_slices(response.values.shape):
            draws = None if uniform is None else uniform[rows]
            within = nonconformity.within(response.values[rows], self.limit_, draws)
            if response.absent is not None:
                within &= ~response.absent[rows]
            yield rows, within

    def _response_type(self, response):
        """Kind of prediction of the fitted classifier, by its name."""
        method = method_of(self.estimator_, response)
        is_set = self.target_type_ == "label_set"
        return ResponseType(response, method, len(self.classes_), is_set)

    def _nonconformity(self):
        """The score function of the fit."""
        return nonconformity_of(**self._fitted_with)


def _indicator_of(sets, n_classes, is_sparse):
    """The 0/1 indicator of int64 of all rows, from the pairs of their blocks."""
    if is_sparse:
        parts = [sparse.csr_array(within) for _, within in sets]
        parts = parts or [sparse.csr_array((0, n_classes))]
        return sparse.vstack(parts, format="csr", dtype=np.int64)
    parts = [within.astype(np.int64) for _, within in sets]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([np.zeros((0, n_classes), np.int64), *parts])


def _marginals_in_sets(p, sets):
    """Probabilities that are positive exactly for the labels in the sets, in place."""
    for rows, within in sets:
        _only_in_set(p[rows], within)
    return p


def _shares_in_sets(p, sets, scores):
    """The same for probabilities that sum to one.

    Where the set is empty, the class with the largest of the `scores` has one.
    """
    for rows, within in sets:
        block = p[rows]
        _only_in_set(block, within)
        empty = np.flatnonzero(~within.any(axis=1))
        block[empty, scores[rows][empty].argmax(axis=1)] = 1
        block /= block.sum(axis=1, keepdims=True)
    return p


def _only_in_set(p, within):
    # Where p is that of entmax, both differ by rounding at most.
    p[~within] = 0
    p[within] = np.maximum(p[within], np.finfo(np.float64).tiny)
