"""The public methods of all linear classifiers: fitting and predicting."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

from ..._utils.arrays import beside, is_foreign, namespace, numpy_dtype, take, to_numpy
from ..._utils.blas import serial_blas
from ..._utils.saving import PlainState
from ..._utils.typing import AnyArray, ArrayLike, MatrixLike, same_signature
from ...decision import LeastCost, ThresholdLike
from .._checks import check_X
from .._docstrings import with_shared_arguments
from .._given import Given
from .._known_threshold import checked_rule
from ..fit._fit import fit_to_rows
from ..fit._fitted import unchanged_on_error
from ..fit._rows import training_rows
from ..predict._accuracy import accuracy
from ..predict._label_sets import predicted_sets
from ..predict._one_vs_rest import log_shares_of, shares_of
from ..predict._prediction import BlockwisePrediction, of_classes, prediction_method
from ..predict._threshold import changed_threshold
from ._onnx import OnnxConvertible
from ._parameters import LinearParameters
from ._sparse_coef import SparseCoef


class BaseLinearClassifier(
    CallbackSupportMixin,
    ClassifierMixin,
    OnnxConvertible,
    SparseCoef,
    PlainState,
    LinearParameters,
):
    """Linear scores, a mapping to probabilities and a loss.

    A subclass says which mapping, in :meth:`_mapping`. The parameters, attributes
    and conventions are documented in :class:`~skprob.LinearClassifier`.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = self._supports_array_api()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        # Without an intercept no class can be favoured for every x, which
        # scikit-learn's check of class weights asks for.
        tags.classifier_tags.poor_score = self.similarity == "cosine"
        return tags

    @same_signature(_fit_context(prefer_skip_nested_validation=True))
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data. float32 and float64 are used as they are, dense in C or
            Fortran order or as CSR; anything else is converted to float64. A
            ``numpy.memmap`` is not copied. For a Dask array, of dense or CSR blocks, or
            a Dask dataframe the computations are done on the workers that have its
            partitions; for an array of another library under scikit-learn's
            ``array_api_dispatch=True``, on its device.
        y : array-like or sparse matrix
            What is learnt (see ``target_type``): labels of shape (n_samples,); a
            0/1 indicator of shape (n_samples, n_classes), dense or sparse, of each
            row's set of labels; or a distribution over the classes in each row. With a
            Dask X, a Dask collection with the same partitions or, if the lengths of
            these are known, an array in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The classes, in the order of ``classes_``, that are available to each row.
            The others have probability zero and no influence on the loss of the row.
            None stands for all classes. Columns of a DataFrame are matched with
            ``classes_`` by name, as are those of `offset`.
        offset : array-like, default=None
            Known numbers that are added to the scores, of shape (n_samples, n_classes).
            For two classes the shape may be (n_samples,): numbers that are added to the
            score of the second class minus that of the first. None stands for zero.
            They are not kept: give those of the rows to the methods that predict.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed; if X, y or sample_weight hold NaN or
            infinity, have different numbers of rows, or are none of the kinds above; if
            a class of a row's target is not available to the row; if the columns of a
            DataFrame have other names than the classes.
        ConnectionError
            If the scheduler of a Dask cluster is lost.
        RuntimeError
            If a Dask cluster has had no worker for two minutes, or the time of its
            setting ``distributed.scheduler.no-workers-timeout``.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before the gradient was within ``tol``. The model
            is usable.
        UserWarning
            If ``none_class`` is False and rows have no label: they are left out. If
            labels occur in no row: they are kept, with the target zero.
        """
        # All products of a fit are of blocks, or small.
        with (
            unchanged_on_error(self),
            serial_blas,
            training_rows(self, X, y, sample_weight, available, offset) as rows,
        ):
            fit_to_rows(self, rows)
        return self

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

        def of_scores(scores):
            if self.target_type_ != "class" or self._n_classes > 2:
                return scores[:, : self._n_classes]
            # The difference of the two scores, whatever the number of outputs.
            if not self.mapping_.is_order_preserving:
                scores = self.mapping_(scores)
            return scores[:, 1] - scores[:, 0]

        given = {"available": available, "offset": offset}
        return self._predicted(X, of_scores, **given).to_dense()

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
        probabilities = self._probabilities(X, available=available, offset=offset)
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
        of_scores = self.mapping_.log_probabilities
        if self._is_one_vs_rest:
            of_scores = log_shares_of(self.mapping_)
        of_scores = of_classes(of_scores, self._n_classes)
        given = {"available": available, "offset": offset}
        return self._predicted(X, of_scores, **given).to_dense()

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
            After a fit to labels, the most probable label of each row or, where
            ``threshold_`` is a ``LeastCost``, that of least expected cost. After a fit
            to label sets, a 0/1 indicator of the labels that ``threshold_`` chooses;
            with ``sparse_output`` it is a CSR array. After a fit to distributions, the
            most probable class: its name if ``classes_`` are names, else its column
            number.
        """
        check_is_fitted(self)
        given = {"available": available, "offset": offset}
        if self.target_type_ == "label_set":
            sets = predicted_sets(self, X, **given)
            if self.sparse_output:
                return sets.to_sparse()
            return beside(sets.to_dense(), X) if is_foreign(X) else sets.to_dense()

        rule = self._rule_of_labels
        if rule is not None:
            of_scores = (
                shares_of(self.mapping_) if self._is_one_vs_rest else self.mapping_
            )

            def of_least_cost(scores):
                return rule.decide(of_scores(scores), self.classes_)

            return self._predicted(X, of_least_cost, **given).to_dense()

        def most_probable(scores):
            if not self.mapping_.is_order_preserving:
                scores = self.mapping_(scores)
            return self._labels_of(namespace(scores).argmax(scores, axis=1))

        return self._predicted(X, most_probable, **given).to_dense()

    @with_shared_arguments
    def set_threshold(
        self,
        threshold: ThresholdLike,
        X: MatrixLike | None = None,
        y: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        cv: int | None = None,
    ) -> Self:
        """Change the decision rule of a model that was fitted to label sets or labels.

        Nothing else changes: neither the coefficients nor the parameter ``threshold``,
        which is that of the next ``fit``.

        Parameters
        ----------
        threshold : float, array-like, str, DecisionRule or LeastCost
            As the parameter. Numbers, "support" and a rule that has been fitted need no
            rows; a fitted rule without rows is used as it is. For a model of class
            labels it is a :class:`~skprob.decision.LeastCost`, which needs no rows.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The rows to which the rule is fitted. Without ``cv``, do not use the
            training rows of the model, for which it is too confident.
        y : array-like or sparse matrix of shape (n_samples, n_classes), default=None
            0/1 indicator of the labels of these rows. Columns of a DataFrame are
            matched with ``classes_`` by name.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The labels that are available to each of these rows; None stands for all
            labels.
        {offset}
        cv : int, default=None
            Number of folds, for rows to which the model was fitted: the rule is fitted
            to out-of-fold probabilities of models with the same parameters. None stands
            for the probabilities of this model.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the threshold is not allowed, or it needs rows that are not given.

        See Also
        --------
        sklearn.model_selection.TunedThresholdClassifierCV : For two classes.
        """
        check_is_fitted(self)
        given = {"available": available, "offset": offset}
        with serial_blas:
            self.threshold_ = changed_threshold(
                self, threshold, X, y, sample_weight, cv, **given
            )
        return self

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
            Labels, label sets or distributions, as in ``fit``. Columns of a DataFrame
            are matched with ``classes_`` by name.
        sample_weight : array-like of shape (n_samples,), default=None
        {available}
        {offset}

        Returns
        -------
        score : float
            For labels, the proportion of correct predictions; for label sets, the
            proportion of rows whose whole set is correct; for distributions, the mean
            target probability of the predicted class (the expected accuracy).
        """
        check_is_fitted(self)
        return accuracy(self, X, y, sample_weight, Given(available, offset).arguments)

    def _probabilities(self, X, **given):
        check_is_fitted(self)
        of_scores = shares_of(self.mapping_) if self._is_one_vs_rest else self.mapping_
        of_scores = of_classes(of_scores, self._n_classes)
        return self._predicted(X, of_scores, **given)

    def _predicted(self, X, of_scores, *, available=None, offset=None):
        """The result of a function of the fitted model's scores, for a user's X."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        given = self._given(X, available, offset)
        how = self._inputs(vars(self)), of_scores, given
        return BlockwisePrediction(X, self.coef_, self.intercept_, *how)

    def _given(self, X, available, offset):
        """The checked `available` and `offset` of the rows of a checked X."""
        n_classes, polytope = self._n_classes, self.mapping_.polytope
        is_pair = n_classes + self.has_none_class_ == 2 and polytope == "simplex"
        dtype = np.result_type(numpy_dtype(X), numpy_dtype(self.coef_))
        about = {"kind": self.target_type_, "is_pair": is_pair, "dtype": dtype}
        return Given.checked(available, offset, X.shape[0], self.classes_, **about)

    @property
    def _rule_of_labels(self):
        """The checked rule of class labels; None for the most probable class."""
        rule = getattr(self, "threshold_", None)
        if self.target_type_ != "class" or rule is None:
            return None
        if not isinstance(rule, LeastCost):
            raise ValueError(
                "threshold_ must be a LeastCost for a model that was fitted to class "
                f"labels; got {rule!r}."
            )
        return checked_rule(rule, self.classes_, "class")

    @property
    def _is_one_vs_rest(self):
        """Whether class labels were fitted by a marginal for each class."""
        return self.target_type_ == "class" and self.mapping_.polytope == "cube"

    @property
    def _n_classes(self):
        return self.classes_.shape[0]

    def _labels_of(self, columns):
        """The classes of these columns, on their device unless the classes are text."""
        classes = self.classes_
        if isinstance(columns, np.ndarray):
            return to_numpy(classes)[columns]
        if isinstance(classes, np.ndarray) and classes.dtype.kind not in "biuf":
            return classes[to_numpy(columns)]
        return take(beside(classes, columns), columns)

    def _unfitted(self):
        """An unfitted classifier that fits models like this one."""
        # Not a clone: that would report to the callbacks, too.
        return type(self)(**self.get_params(deep=False))
