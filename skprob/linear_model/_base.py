"""What all linear classifiers of skprob share: fitting and predicting."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from functools import cache
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._arrays import (
    as_type,
    beside,
    check_no_gradient,
    is_foreign,
    namespace,
    numpy_dtype,
    take,
    to_numpy,
)
from .._blas import serial_blas
from .._saving import PlainState
from .._typing import AnyArray, ArrayLike, MatrixLike, same_signature
from .._validation import RealInterval, check_sample_weight
from ..decision import DecisionRule, ThresholdLike, as_indicator
from ..losses import (
    LOSSES,
    FenchelYoungLoss,
    Loss,
    LossLike,
    MarginLoss,
    get_loss,
)
from ..mappings import Softmax, Temperature, get_mapping
from ..objective import CosineObjective, LinearObjective
from ..solvers import SOLVERS
from ..targets import (
    KINDS,
    as_labels,
    check_target,
    encode_target,
)
from ._checks import check_kernel, check_X, is_dask, refuse_for_dask
from ._docstrings import with_shared_arguments
from ._fitted import replace_fitted, unchanged_on_error
from ._given import Given
from ._minimise import attributes_of, minimise
from ._onnx import OnnxConvertible
from ._prediction import BlockwisePrediction, prediction_method
from ._progress import FitProgress
from ._rows import training_rows, warn_of_lost_labels
from ._sparse_coef import SparseCoef
from ._strength import automatic_C, penalty
from ._threshold import (
    NAMES,
    Sets,
    check_threshold,
    is_fitted_to_rows,
    known_threshold,
    threshold_of_rows,
)
from ._unit_rows import rows_as_they_are, unit_rows


class BaseLinearClassifier(
    CallbackSupportMixin,
    ClassifierMixin,
    OnnxConvertible,
    SparseCoef,
    PlainState,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Linear scores, a mapping to probabilities and a loss.

    A subclass says which mapping, in :meth:`_mapping`. The parameters, attributes
    and conventions are documented in :class:`~skprob.LinearClassifier`.
    """

    _parameter_constraints: dict = {
        "loss": [StrOptions({"auto", *LOSSES}), Loss],
        "similarity": [StrOptions({"dot", "cosine"})],
        "margin": [RealInterval(0, None, closed="left")],
        "temperature": [RealInterval(0, None, closed="neither")],
        "C": [RealInterval(0, None, closed="right"), StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "label_smoothing": [RealInterval(0, 1, closed="left")],
        "target_type": [StrOptions({"auto", *KINDS})],
        "class_names": ["array-like", None],
        "none_class": ["boolean"],
        "threshold": [
            RealInterval(0, 1, closed="left"),
            StrOptions(NAMES),
            DecisionRule,
            "array-like",
        ],
        "sparse_output": ["boolean"],
        "solver": [StrOptions(set(SOLVERS))],
        "tol": [RealInterval(0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    @abstractmethod
    def __init__(
        self,
        *,
        loss: LossLike = "auto",
        similarity: Literal["dot", "cosine"] = "dot",
        margin: float = 0.0,
        temperature: float = 1.0,
        C: float | Literal["auto"] = 1.0,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        label_smoothing: float = 0.0,
        target_type: str = "auto",
        class_names: ArrayLike | None = None,
        none_class: bool = True,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        solver: Literal["auto", "lbfgs", "newton-cg"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        self.loss = loss
        self.similarity = similarity
        self.margin = margin
        self.temperature = temperature
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.label_smoothing = label_smoothing
        self.target_type = target_type
        self.class_names = class_names
        self.none_class = none_class
        self.threshold = threshold
        self.sparse_output = sparse_output
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    @abstractmethod
    def _mapping(self):
        """The mapping, or its name, that the parameters ask for."""

    def _loss(self):
        """The loss, or its name, that the parameters ask for."""
        return self.loss

    #: Whether `fit` takes arrays of other libraries, if mapping and loss do.
    _takes_arrays = True

    def _check_array_api(self):
        """Raise where X may not be an array of another library."""
        found = self
        if self._takes_arrays:
            mapping = self._checked_mapping()
            mapping._check_array_api()
            found = self._checked_loss(mapping)
            if found.supports_array_api:
                return
        raise ValueError(
            f"X must be a NumPy array for {found!r}, which takes no other arrays under "
            "array_api_dispatch=True: convert it, for instance by np.asarray(X)."
        )

    def _supports_array_api(self):
        try:
            mapping = get_mapping(self._mapping()) if self._takes_arrays else None
            return mapping is not None and mapping.supports_array_api
        except ValueError:  # Which the fit says more of.
            return False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = self._supports_array_api()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        # Without an intercept no class can be favoured for every x, which
        # scikit-learn's check of class weights asks for.
        tags.classifier_tags.poor_score = self.similarity == "cosine"
        return tags

    @classmethod
    @cache
    def _get_param_names(cls):
        # scikit-learn would inspect the constructor at every fit and clone, which on
        # little data takes as long as a step of the solver.
        return super()._get_param_names()

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
            ``numpy.memmap`` is not copied. A Dask array, of dense or CSR blocks, or
            dataframe is fitted where its partitions are, and under scikit-learn's
            ``array_api_dispatch=True`` an array of another library on its device.
        y : array-like or sparse matrix
            What is learnt (see ``target_type``): labels of shape (n_samples,); a
            0/1 indicator of shape (n_samples, n_classes), dense or sparse, of each
            row's set of labels; or a distribution over the classes in each row. With a
            Dask X, a Dask collection with the same partitions or, if the lengths of
            these are known, an array in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The classes, in sorted order, that each row may choose from; the others
            have probability zero and are as if not there. None is all of them.
        offset : array-like, default=None
            Known numbers, added to the scores: of shape (n_samples, n_classes) or, for
            the difference of the scores of two classes, (n_samples,). None is zero.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed, or X, y or sample_weight hold NaN or
            infinity, do not fit together, or are none of the kinds above. If a class
            of a row's target is not available to it.
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
            If rows of a label set have no label and ``none_class`` is False: they are
            left out. If labels are in no row: they are kept, with the target zero.
        """
        warm = None
        if self._starts_warm():
            warm = to_numpy(self.coef_), to_numpy(self.intercept_)
        # All products of a fit are of blocks, or small.
        with (
            unchanged_on_error(self),
            serial_blas,
            training_rows(self, X, y, sample_weight, available, offset) as rows,
        ):
            warn_of_lost_labels(rows)
            model = self._model(rows) | {"classes_": rows.labels}
            with np.errstate(over="ignore", invalid="ignore"):
                objectives = self._objectives(rows, model, warm)
            if rows.kind == "label_set":
                rule = rows.threshold_rule(self, model["mapping_"])
            data = rows.data

            def fitted_attributes(parameters):
                coef, intercept = self._to_model(objectives[-1], parameters)
                coef = rows.beside_X(coef.astype(rows.dtype))
                intercept = rows.beside_X(intercept.astype(rows.dtype))
                attributes = {**model, "coef_": coef, "intercept_": intercept}
                if rows.kind == "label_set":
                    attributes["threshold_"] = rule(
                        lambda X, given: self._blockwise(
                            X,
                            attributes,
                            _of_classes(model["mapping_"], len(rows.classes)),
                            given,
                        )
                    )
                return attributes

            context = self._init_callback_context(
                max_subtasks=self._most_iterations(objectives)
            )
            context.call_on_fit_task_begin(estimator=self, **data)
            solution, gap = self._minimise(
                objectives,
                model,
                self._initial(objectives[0], warm),
                FitProgress(self, context, data, fitted_attributes),
            )
            attributes = fitted_attributes(solution.parameters)
            attributes |= attributes_of(solution, gap)
            replace_fitted(self, attributes)
            if not (solution.converged or solution.stopped):
                warnings.warn(
                    f"{type(self).__name__} did not converge: {solution.message}. "
                    f"{self._advice(solution)}.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
            context.call_on_fit_task_end(
                estimator=self, reconstruction_attributes=dict, **data
            )
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
            The score of each class; for labels of two classes one score, positive
            where the second class is more probable. For a mapping that does not
            preserve order, that one is the difference of the two probabilities. -inf
            where a class is not available. With ``has_none_class_`` the score of "no
            label" is not among them.
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
            In the order of ``classes_``; rows sum to one, unless the mapping's values
            are marginals of labels. With ``has_none_class_`` they sum to one less the
            probability that there is no label. With ``sparse_output`` the non-zeros as
            a CSR array.
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
            Dense also with ``sparse_output``: none of them need be zero.
        """
        check_is_fitted(self)
        of_scores = _of_classes(self.mapping_.log_probabilities, self._n_classes)
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
            After a fit to labels, the most probable label of each row; to label
            sets, a 0/1 indicator of the labels that ``threshold_`` chooses, with
            ``sparse_output`` as a CSR array; to distributions, the most probable class:
            its name where ``classes_`` are names, else its column number.
        """
        check_is_fitted(self)
        given = {"available": available, "offset": offset}
        if self.target_type_ == "label_set":
            sets = self._sets(X, **given)
            if self.sparse_output:
                return sets.to_sparse()
            return beside(sets.to_dense(), X) if is_foreign(X) else sets.to_dense()

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
        """Change the decision rule of a model that was fitted to label sets.

        Nothing else changes: neither the coefficients nor the parameter ``threshold``,
        which is that of the next ``fit``.

        Parameters
        ----------
        threshold : float, array-like, str or DecisionRule
            As the parameter. A number, one for each label, "support" and a rule that
            is fitted already need no rows; a rule without rows is used as it is.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows that the rule is fitted to. Without ``cv`` they should be rows that
            the model was not fitted to: its probabilities for others are too good.
        y : array-like or sparse matrix of shape (n_samples, n_classes), default=None
            0/1 indicator of their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The labels that each of these rows may have; None is all of them.
        {offset}
        cv : int, default=None
            For rows that the model was fitted to: out-of-fold probabilities, of models
            with the same parameters that are fitted in so many folds of them. None is
            the probabilities of this model.

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
        if self.target_type_ != "label_set":
            raise ValueError(
                "set_threshold is for models that were fitted to label sets; this one "
                f"was fitted to target_type={self.target_type_!r}."
            )
        constraints = {"threshold": self._parameter_constraints["threshold"]}
        validate_parameter_constraints(
            constraints, {"threshold": threshold}, caller_name="set_threshold"
        )
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together, or neither of them.")
        is_rule = isinstance(threshold, DecisionRule)
        n_classes = self._n_classes
        if not is_fitted_to_rows(threshold) or (is_rule and X is None):
            self.threshold_ = known_threshold(threshold, n_classes)
            return self
        if X is None:
            raise ValueError(f"threshold={threshold!r} needs rows: give X and y.")
        X = check_X(self, X, reset=False)
        labels = as_indicator(
            check_target(y, "y", len_of=X), (X.shape[0], n_classes), name="y"
        )
        weight = check_sample_weight(sample_weight, X)
        given = self._given(X, available, offset)
        with serial_blas:
            self.threshold_ = threshold_of_rows(
                self, threshold, X, labels, weight, cv, given
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
            Of the kind that was fitted.
        sample_weight : array-like of shape (n_samples,), default=None
        {available}
        {offset}

        Returns
        -------
        score : float
            For labels, the share of right predictions; for label sets, the share of
            rows whose whole set is right; for distributions, the mean target
            probability of the predicted class (the expected accuracy).
        """
        check_is_fitted(self)
        given = Given(available, offset).arguments
        if any(is_dask(data) for data in (X, y, sample_weight)):
            from ._dask import score

            refuse_for_dask(**given)
            return score(self, X, y, sample_weight)
        if self.target_type_ == "label_set":
            # Sparse in any case: that is how scikit-learn compares them.
            predicted = self._sets(X, **given).to_sparse()
        else:
            predicted = to_numpy(self.predict(X, **given))
        if is_foreign(y):
            check_no_gradient("y", y)
            y = to_numpy(y)
        if is_foreign(sample_weight):
            sample_weight = to_numpy(sample_weight)
        if self.target_type_ == "class":
            y = as_labels(y)
        if self.target_type_ != "distribution":
            return accuracy_score(y, predicted, sample_weight=sample_weight)
        y = check_target(y, "y", len_of=predicted)
        classes = to_numpy(self.classes_)
        target = encode_target(y, "distribution", classes=classes).target
        hit = target.values[predicted[:, None] == classes]
        weight = check_sample_weight(sample_weight, predicted)
        return float(np.average(hit, weights=weight))

    def _model(self, rows):
        """Fitted attributes that the coefficients have no part in."""
        mapping = self._checked_mapping()
        loss = self._checked_loss(mapping)
        is_auto = isinstance(self.C, str)
        return {
            "classes_": rows.classes,
            "target_type_": rows.kind,
            "mapping_": mapping,
            "loss_": loss,
            "has_none_class_": rows.has_none,
            "C_": automatic_C(loss, rows.n_scores) if is_auto else float(self.C),
        }

    def _probabilities(self, X, **given):
        check_is_fitted(self)
        of_scores = _of_classes(self.mapping_, self._n_classes)
        return self._predicted(X, of_scores, **given)

    def _sets(self, X, **given):
        # The threshold may have been assigned.
        threshold = check_threshold(self.threshold_, self._n_classes)
        if isinstance(threshold, DecisionRule):
            sizes = None
            if threshold._uses_features():
                rows = to_numpy(check_X(self, X, reset=False))
                sizes = threshold._expected_sizes(rows)
            probabilities = self._probabilities(X, **given).on_host()
            return Sets(threshold, probabilities, sizes, _num_samples(X))

        def sets(scores):
            p = self.mapping_(scores)[:, : self._n_classes]
            cuts = beside(np.asarray(threshold), p)
            return as_type(p > cuts, namespace(p).int64)

        return self._predicted(X, sets, **given)

    def _predicted(self, X, of_scores, *, available=None, offset=None):
        """What a function makes of the fitted model's scores of a user's X."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        given = self._given(X, available, offset)
        return self._blockwise(X, vars(self), of_scores, given)

    def _given(self, X, available, offset):
        """What is known of the rows of a checked X."""
        n_classes, polytope = self._n_classes, self.mapping_.polytope
        is_pair = n_classes + self.has_none_class_ == 2 and polytope == "simplex"
        dtype = np.result_type(numpy_dtype(X), numpy_dtype(self.coef_))
        return Given.checked(available, offset, (X.shape[0], n_classes), is_pair, dtype)

    def _blockwise(self, X, attributes, of_scores, given):
        """What a function makes of the scores, for a model with fitted attributes."""
        return BlockwisePrediction(
            X,
            attributes["coef_"],
            attributes["intercept_"],
            inputs=self._inputs(attributes),
            of_scores=of_scores,
            given=given,
        )

    @property
    def _n_classes(self):
        return self.classes_.shape[0]

    def _labels_of(self, columns):
        """The classes in these columns, where the columns are unless they are text."""
        classes = self.classes_
        if isinstance(columns, np.ndarray):
            return to_numpy(classes)[columns]
        if isinstance(classes, np.ndarray) and classes.dtype.kind not in "biuf":
            return classes[to_numpy(columns)]
        return take(beside(classes, columns), columns)

    def _inputs(self, attributes):
        """The function that makes, of rows of X, what the coefficients multiply."""
        return unit_rows if self.similarity == "cosine" else rows_as_they_are

    def _unfitted(self):
        """An unfitted classifier that fits models like this one."""
        # Not a clone: that would report to the callbacks, too.
        return type(self)(**self.get_params(deep=False))

    def _to_model(self, objective, parameters):
        """Coefficients and intercepts of the parameters of an objective."""
        return objective.to_model(parameters)

    @property
    def _polytope(self):
        return get_mapping(self._mapping()).polytope

    def _encoded(self, y, dtype, classes=None, none_class="auto"):
        """What is learnt from a checked target."""
        how = self._polytope, none_class if self.none_class else False
        return encode_target(y, self.target_type, dtype, classes, *how)

    def _checked_mapping(self):
        mapping = clone(get_mapping(self._mapping()))
        mapping._validate_params()
        return self._at_temperature(mapping)

    def _at_temperature(self, mapping):
        return (
            mapping if self.temperature == 1 else Temperature(mapping, self.temperature)
        )

    def _checked_loss(self, mapping):
        loss = get_loss(self._loss(), mapping)
        if self.margin != 0:
            loss = MarginLoss(loss, self.margin)
            loss.check()
        return loss

    def _objectives(self, rows, model, warm):
        """What is minimised, one after the other."""
        l2 = penalty(model["C_"], rows.total_weight)
        mapping, loss = model["mapping_"], model["loss_"]
        inputs, polytope = self._inputs(model), mapping.polytope
        rows.check_target(loss)
        check_kernel(mapping, rows.n_scores, rows.dtype)
        loss.check_on(lambda: rows.trial_scores(inputs, polytope))
        losses = loss.stages()
        if mapping.is_only_a_function:
            # At zero scores its gradient may vanish: start where softmax ends.
            losses = [FenchelYoungLoss(Softmax()), *losses]
        if warm is not None:
            losses = losses[-1:]
        losses = [rows.given.loss_with(loss) for loss in losses]
        blocks = rows.blocks(inputs, polytope)
        if self.similarity == "cosine":
            first = CosineObjective(blocks, losses[0])
        else:
            first = LinearObjective(
                blocks, losses[0], l2=l2, fit_intercept=self.fit_intercept
            )
        return [first, *(first.with_loss(loss) for loss in losses[1:])]

    def _most_iterations(self, objectives):
        """How many there may be; None if that is not known."""
        return len(objectives) * max(self.max_iter, 1)

    def _minimise(self, objectives, model, parameters, progress):
        """Minimise objectives one after the other: a solution, and its duality gap.

        If the mapping is learnt, too, objectives and model are changed in place.
        """
        return minimise(
            objectives,
            parameters,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            progress=progress,
        )

    def _advice(self, solution):
        """What would help a fit that did not converge, as a sentence."""
        larger = {"max_iter": f"max_iter (now {self.max_iter})", "tol": "tol"}
        larger = [text for name, text in larger.items() if name in solution.remedies]
        advice = ["increase " + " or ".join(larger)] if larger else []
        # Cosines have no penalty.
        if "penalty" in solution.remedies and self.similarity == "dot":
            advice.append(f"lower C (now {self.C_:.3g})")
        advice = ", or ".join(advice)
        return advice[:1].upper() + advice[1:]

    def _starts_warm(self):
        return self.warm_start and hasattr(self, "coef_")

    def _initial(self, objective, warm):
        if warm is None:
            return objective.initial()
        coef, intercept = warm
        if sparse.issparse(coef):
            coef = coef.toarray()
        if coef.shape != objective.coef_shape:
            raise ValueError(
                "warm_start=True starts from the last fit, whose coef_ has shape "
                f"{coef.shape}; these data need {objective.coef_shape}. Use "
                "warm_start=False or a clone."
            )
        return objective.from_model(coef, intercept)


def _of_classes(of_scores, n_classes):
    """A function of scores without the column of the class for rows without a label."""
    return lambda scores: of_scores(scores)[:, :n_classes]
