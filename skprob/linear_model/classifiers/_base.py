"""The public methods of all linear classifiers: fitting and predicting."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..._utils.arrays import beside, is_foreign, namespace, take, to_numpy
from ..._utils.blas import serial_blas
from ..._utils.columns import in_order
from ..._utils.compat import CallbackSupportMixin
from ..._utils.names import check_parameters
from ..._utils.saving import PlainState
from ..._utils.typing import AnyArray, ArrayLike, MatrixLike, same_signature
from ..._utils.validation import check_sample_weight
from ...decision import DecisionRule, LeastCost, ThresholdLike, as_indicator
from ...targets import check_target
from .._checks import check_X, has_dask, refuse_for_dask
from .._docstrings import with_shared_arguments
from .._given import Given
from .._known_threshold import (
    check_labels_of_rule,
    checked_rule,
    is_fitted_to_rows,
    known_threshold,
)
from ..fit import (
    LastFit,
    SeparateFolds,
    fit_to_rows,
    warn_of_lost_labels,
    warn_unless_converged,
)
from ..predict import (
    Features,
    FittedModel,
    OneBlock,
    Sets,
    UnitRows,
    accuracy,
    changed_threshold,
    check_some_label,
    sets_of_scores,
    splits_of,
    threshold_of,
)
from ._arguments import training_rows
from ._fitted import replace_fitted, unchanged_on_error
from ._onnx import OnnxConvertible
from ._parameters import LinearParameters
from ._prediction_method import prediction_method
from ._progress import progress_of
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
            row's set of labels or, with ``target_type="candidates"``, of the classes of
            which one is true; or a distribution over the classes in each row. NaN in an
            indicator is a label that is not known, for mappings to marginals without
            a budget. With a Dask X, a Dask collection with the same partitions or, if
            the lengths of these are known, an array in memory.
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
            If a parameter is not allowed; if X, y (but see there) or sample_weight hold
            NaN or infinity, have different numbers of rows, or are none of the kinds
            above; if a class of a row's target is not available to the row; if the
            columns of a DataFrame have other names than the classes.
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
        with unchanged_on_error(self), serial_blas:
            spec = self._fit_spec()
            if self.warm_start and hasattr(self, "coef_"):
                spec = replace(spec, last_fit=self._last_fit())
            if is_foreign(X):
                self._check_array_api(spec)
            arguments = X, y, sample_weight, available, offset
            with training_rows(self, spec, *arguments) as rows:
                spec = spec.for_features(*self._features())
                warn_of_lost_labels(rows)
                choice = {}
                if spec.C == "loo":
                    from ..fit import with_chosen_C  # Imported when used.

                    spec, choice = with_chosen_C(spec, rows)
                choose_threshold = None
                if rows.kind == "label_set":
                    choose_threshold = rows.threshold_rule(spec, SeparateFolds(spec))
                progress = progress_of(self, rows.data)
                fit = fit_to_rows(spec, rows, choose_threshold, progress)
                replace_fitted(self, fit.attributes | choice)
                warn_unless_converged(fit)
                progress.finish()
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
        check_is_fitted(self)
        n_classes, mapping = self.classes_.shape[0], self.mapping_

        def of_scores(scores):
            if self.target_type_ != "class" or n_classes > 2:
                return scores[:, :n_classes]
            # The difference of the two scores, whatever the number of outputs.
            if not mapping.traits.is_order_preserving:
                scores = mapping(scores)
            return scores[:, 1] - scores[:, 0]

        return self._predicted(X, of_scores, available, offset).to_dense()

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
        of_scores = self._fitted_model().log_probabilities_of_scores
        return self._predicted(X, of_scores, available, offset).to_dense()

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
            with ``sparse_output`` it is a CSR array. After a fit to distributions or
            candidates, the most probable class: its name if ``classes_`` are names,
            else its column number.
        """
        check_is_fitted(self)
        if self.target_type_ == "label_set":
            sets = self._predicted_sets(X, available, offset)
            if self.sparse_output:
                return sets.to_sparse()
            return beside(sets.to_dense(), X) if is_foreign(X) else sets.to_dense()

        model = self._fitted_model()
        rule = model.rule_of_labels
        if rule is not None:
            probabilities = model.probabilities_of_scores

            def of_least_cost(scores):
                return rule.decide(probabilities(scores), self.classes_)

            return self._predicted(X, of_least_cost, available, offset).to_dense()

        def most_probable(scores):
            if not self.mapping_.traits.is_order_preserving:
                scores = self.mapping_(scores)
            return self._labels_of(namespace(scores).argmax(scores, axis=1))

        return self._predicted(X, most_probable, available, offset).to_dense()

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
            rows; a fitted rule without rows is not fitted again. For a model of class
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
        with serial_blas:
            self.threshold_ = self._chosen_threshold(
                threshold, X, y, sample_weight, available, offset, cv
            )
        return self

    def _chosen_threshold(self, threshold, X, y, sample_weight, available, offset, cv):
        """The threshold of :meth:`set_threshold`, from unchecked arguments."""
        kind = self.target_type_
        if isinstance(threshold, LeastCost):
            if X is not None or y is not None:
                raise ValueError(
                    f"threshold={threshold!r} needs no rows: omit X and y."
                )
            return checked_rule(threshold, self.classes_, kind)
        if kind != "label_set":
            raise ValueError(
                "set_threshold is for models that were fitted to label sets or, with a "
                "LeastCost, to class labels; this one was fitted to "
                f"target_type={kind!r}, and the threshold is {threshold!r}."
            )
        constraints = {"threshold": self._parameter_constraints["threshold"]}
        check_parameters(constraints, {"threshold": threshold}, "set_threshold")
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together, or neither of them.")
        model, is_rule = self._fitted_model(), isinstance(threshold, DecisionRule)
        if not is_fitted_to_rows(threshold) or (is_rule and X is None):
            check_labels_of_rule(threshold, model.classes)
            return known_threshold(threshold, model.n_classes)
        if X is None:
            raise ValueError(f"threshold={threshold!r} needs rows: give X and y.")
        X = check_X(self, X, reset=False)
        y = check_target(in_order("y", y, model.classes), "y", len_of=X)
        labels = as_indicator(y, (X.shape[0], model.n_classes), name="y")
        weight = check_sample_weight(sample_weight, X)
        given = model.checked_given(X, available, offset)
        keep = weight > 0
        labels, weight, given = labels[keep], weight[keep], given.of(keep)
        check_some_label(labels)
        X, splits = take(X, np.flatnonzero(keep)), splits_of(cv, labels)
        folds = SeparateFolds(None if splits is None else self._refit_spec())
        return changed_threshold(
            threshold, model, X, labels, weight, given, splits, folds
        )

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
            ``classes_`` by name.
        sample_weight : array-like of shape (n_samples,), default=None
        {available}
        {offset}

        Returns
        -------
        score : float
            For labels, the proportion of correct predictions; for label sets, the
            proportion of rows whose whole set is correct; for distributions, the mean
            target probability of the predicted class (the expected accuracy); for
            candidates, the proportion of predicted classes that are candidates, which
            is at least the accuracy.
        """
        check_is_fitted(self)
        given = Given(available, offset).arguments
        if has_dask(X, y, sample_weight):
            from ..dask import score

            refuse_for_dask(**given)
            check_columns = partial(check_X, self, reset=False)
            return score(self.score, check_columns, X, y, sample_weight)
        if self.target_type_ == "label_set":
            # Sparse in any case: that is how scikit-learn compares them.
            predicted = self._predicted_sets(X, available, offset).to_sparse()
        else:
            predicted = to_numpy(self.predict(X, **given))
        return accuracy(predicted, y, sample_weight, self._fitted_model())

    #: Rows whose predictions are known, of a copy that a search scores.
    _known_rows = None

    def _predicted(self, X, of_scores, available=None, offset=None):
        """The result of a function of the fitted model's scores, for a user's X."""
        known = self._known_rows
        if known is not None and known.is_asked_for(X, available, offset):
            if known.scores is not None:
                return OneBlock(of_scores(known.scores))
            available, offset = known.given
        model, X = self._fitted_model(), check_X(self, X, reset=False)
        return model.predicted(X, of_scores, model.checked_given(X, available, offset))

    def _probabilities(self, X, available, offset):
        """Probabilities of the classes, for a user's X."""
        known = self._known_rows
        if known is not None and known.is_asked_for(X, available, offset):
            if known.probabilities is not None:
                return OneBlock(known.probabilities)
        of_scores = self._fitted_model().probabilities_of_scores
        return self._predicted(X, of_scores, available, offset)

    def _predicted_sets(self, X, available, offset):
        """The label sets that the threshold chooses, for a user's X."""
        model = self._fitted_model()
        threshold = threshold_of(model)
        if not isinstance(threshold, DecisionRule):
            of_scores = sets_of_scores(threshold, model)
            return self._predicted(X, of_scores, available, offset)
        features = None
        if threshold.uses_features:
            features = to_numpy(check_X(self, X, reset=False))
        probabilities = self._probabilities(X, available, offset).on_host()
        return Sets(threshold, probabilities, features, _num_samples(X))

    def _fitted_model(self):
        """The fitted attributes that predictions use, as plain data."""
        return FittedModel(
            coef=self.coef_,
            intercept=self.intercept_,
            classes=self.classes_,
            target_type=self.target_type_,
            mapping=self.mapping_,
            has_none=self.has_none_class_,
            inputs=self._fitted_inputs(),
            threshold=getattr(self, "threshold_", None),
        )

    def _fitted_inputs(self):
        """The transformation of rows of X before the coefficients multiply them."""
        return UnitRows() if self.similarity == "cosine" else Features()

    def _last_fit(self):
        """The coefficients from which `fit` starts."""
        coef, intercept = self._fitted_inputs().from_model(
            to_numpy(self.coef_), to_numpy(self.intercept_)
        )
        if not hasattr(self, "classes_"):
            # Coefficients that were assigned are those of the new classes.
            return LastFit(coef, intercept, None, None)
        return LastFit(coef, intercept, to_numpy(self.classes_), self.target_type_)

    def _features(self):
        """Number of the features, and their names or None."""
        return self.n_features_in_, getattr(self, "feature_names_in_", None)

    def _refit_spec(self):
        """The spec of a fit with the parameters of this one, and the C it chose."""
        spec = self._fit_spec()
        if spec.C == "loo":
            spec = replace(spec, C=self.C_)
        return spec.for_features(*self._features())

    def _labels_of(self, columns):
        """The classes of these columns, on their device unless the classes are text."""
        classes = self.classes_
        if isinstance(columns, np.ndarray):
            return to_numpy(classes)[columns]
        if isinstance(classes, np.ndarray) and classes.dtype.kind not in "biuf":
            return classes[to_numpy(columns)]
        return take(beside(classes, columns), columns)
