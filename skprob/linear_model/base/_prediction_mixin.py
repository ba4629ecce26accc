"""The methods of a fitted classifier that predict."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..._utils.arrays import (
    asarray_like,
    is_dask,
    is_foreign,
    namespace,
    take,
    to_numpy,
)
from ..._utils.checks import check_X
from ..._utils.typing import AnyArray, ArrayLike, MatrixLike
from ...decision import DecisionRule
from .._docstrings import with_shared_arguments
from .._given import Given
from ..predict import (
    FittedModel,
    KnownPrediction,
    Sets,
    UnitRows,
    accuracy,
    sets_of_scores,
    threshold_of,
)
from ._prediction_method import prediction_method


class PredictionMixin:
    """A classifier that predicts, from its fitted attributes."""

    @prediction_method
    def decision_function(
        self,
        X: MatrixLike,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> AnyArray:
        """Linear scores.

        Parameters
        ----------
        {X}
        {available}
        {offset}

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,)
            The score of each class; -inf where a class is not available. For labels of
            two classes it is one number for each row, positive where the second class
            is more probable: the difference of the scores or, for a mapping that does
            not preserve order, of the probabilities. The score of "no label" is not
            included.
        """
        check_is_fitted(self)
        model = self._fitted_model()

        def of_scores(scores):
            if model.target_type != "class" or model.n_classes > 2:
                return scores[:, : model.n_classes]
            # The difference of the two scores, also where there are two outputs.
            if not model.mapping.traits.is_order_preserving:
                scores = model.mapping(scores)
            return scores[:, 1] - scores[:, 0]

        return self._predicted(model, X, of_scores, available, offset).to_dense()

    @prediction_method
    def predict_proba(
        self,
        X: MatrixLike,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> AnyArray:
        """Probabilities of the classes; some may be exactly zero.

        Parameters
        ----------
        {X}
        {available}
        {offset}

        Returns
        -------
        probabilities : ndarray or CSR array of shape (n_samples, n_classes)
            In the order of ``classes_``. Rows sum to one, unless the probabilities are
            marginals of labels. Marginals after a fit to class labels are divided by
            their sum in the row. If ``has_none_class_`` is True they sum to one minus
            the probability of "no label". With ``sparse_output`` a CSR array of the
            non-zeros.
        """
        check_is_fitted(self)
        probabilities = self._probabilities(X, available, offset)
        if self.sparse_output:
            return probabilities.to_sparse()
        return probabilities.to_dense()

    @prediction_method
    def predict_log_proba(
        self,
        X: MatrixLike,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> AnyArray:
        """Logarithms of the probabilities; -inf where a probability is zero.

        Parameters
        ----------
        {X}
        {available}
        {offset}

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            A dense array, also with ``sparse_output``.
        """
        check_is_fitted(self)
        model = self._fitted_model()
        of_scores = model.log_probabilities_of_scores
        return self._predicted(model, X, of_scores, available, offset).to_dense()

    @prediction_method
    def predict(
        self,
        X: MatrixLike,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> AnyArray:
        """Predicted labels, label sets, or most probable classes.

        Parameters
        ----------
        {X}
        {available}
        {offset}

        Returns
        -------
        y : ndarray or CSR array of shape (n_samples,) or (n_samples, n_classes)
            After a fit to labels, the most probable label of each row. Where
            ``threshold_`` is a ``LeastCost``, it is the available label of least
            expected cost. After a fit to label sets, a 0/1 indicator of the labels
            that ``threshold_`` chooses; with ``sparse_output`` it is a CSR array. After
            a fit to distributions or candidates, the most probable class: its name if
            ``classes_`` are names, else its column number.
        """
        check_is_fitted(self)
        if self.target_type_ == "label_set":
            sets = self._predicted_sets(X, available, offset)
            if self.sparse_output:
                return sets.to_sparse()
            indicator = sets.to_dense()
            return asarray_like(indicator, X) if is_foreign(X) else indicator
        model = self._fitted_model()
        rule = model.rule_of_labels
        if rule is not None:
            probabilities = model.probabilities_of_scores

            def of_scores(scores):
                available = scores > -namespace(scores).inf
                return rule.decide(probabilities(scores), model.classes, available)

        else:

            def of_scores(scores):
                if not model.mapping.traits.is_order_preserving:
                    scores = model.mapping(scores)
                return self._labels_of(namespace(scores).argmax(scores, axis=1))

        return self._predicted(model, X, of_scores, available, offset).to_dense()

    @with_shared_arguments
    def score(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> float:
        """Accuracy of the predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            Labels, label sets, distributions or candidates, as in ``fit``. After a fit
            to candidates also labels. Columns of a DataFrame are matched with
            ``classes_`` by name. Entries of label sets that are not known are NaN.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None weights all equally.
        {available}
        {offset}

        Returns
        -------
        score : float
            For labels, the proportion of correct predictions. For label sets, the
            proportion of rows whose known labels are all predicted correctly; rows
            without known labels are left out. For distributions, the mean target
            probability of the predicted class (the expected accuracy). For candidates,
            the proportion of predicted classes that are candidates, which is at least
            the accuracy.
        """
        check_is_fitted(self)
        given = Given(available, offset).arguments
        if any(map(is_dask, (X, y, sample_weight))):
            from ..dask import refuse_for_dask, score

            refuse_for_dask(**given)
            check_columns = partial(check_X, self, reset=False)
            return score(self.score, check_columns, X, y, sample_weight)
        if self.target_type_ == "label_set":
            # scikit-learn compares sparse indicators.
            predicted = self._predicted_sets(X, available, offset).to_sparse()
        else:
            predicted = to_numpy(self.predict(X, **given))
        return accuracy(predicted, y, sample_weight, self._fitted_model())

    #: ``KnownRows`` with computed predictions, in a copy that a search scores; else
    #: None.
    _known_rows = None

    def _predicted(self, model, X, of_scores, available, offset):
        """The result of a function of the fitted model's scores, for a user's X."""
        known = self._known_rows
        if known is not None and known.are_arguments(X, available, offset):
            if known.scores is not None:
                return KnownPrediction(of_scores(known.scores))
            available, offset = known.given
        X = check_X(self, X, reset=False)
        return model.predicted(X, of_scores, model.checked_given(X, available, offset))

    def _probabilities(self, X, available, offset):
        """Probabilities of the classes, for a user's X."""
        known = self._known_rows
        if known is not None and known.are_arguments(X, available, offset):
            if known.probabilities is not None:
                return KnownPrediction(known.probabilities)
        model = self._fitted_model()
        of_scores = model.probabilities_of_scores
        return self._predicted(model, X, of_scores, available, offset)

    def _predicted_sets(self, X, available, offset):
        """The label sets that the threshold chooses, for a user's X."""
        model = self._fitted_model()
        threshold = threshold_of(model)
        if not isinstance(threshold, DecisionRule):
            of_scores = sets_of_scores(threshold, model)
            return self._predicted(model, X, of_scores, available, offset)
        features = None
        if threshold.uses_features:
            features = to_numpy(check_X(self, X, reset=False))
        probabilities = self._probabilities(X, available, offset).on_host()
        may_have = None
        if available is not None:
            checked = check_X(self, X, reset=False)
            may_have = model.checked_given(checked, available, None).available
        return Sets(threshold, probabilities, features, _num_samples(X), may_have)

    def _fitted_model(self):
        """The fitted attributes that predictions use, as plain data."""
        return FittedModel(
            coef=self.coef_,
            intercept=self.intercept_,
            classes=self.classes_,
            target_type=self.target_type_,
            mapping=self.mapping_,
            has_none=self.has_none_class_,
            unit_rows=self._fitted_unit_rows(),
            threshold=getattr(self, "threshold_", None),
        )

    def _fitted_unit_rows(self):
        """The transformation of rows of X to norm one, or None."""
        # A model whose coefficients were assigned, as for a warm start, may lack it.
        similarity = getattr(self, "similarity_", self.similarity)
        return UnitRows() if similarity == "cosine" else None

    def _labels_of(self, columns):
        """The classes of columns, on their device unless the classes are text."""
        classes = self.classes_
        if isinstance(columns, np.ndarray):
            return to_numpy(classes)[columns]
        if isinstance(classes, np.ndarray) and classes.dtype.kind not in "biuf":
            return classes[to_numpy(columns)]
        return take(asarray_like(classes, columns), columns)
