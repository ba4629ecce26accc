"""What all linear classifiers of skprob share: fitting and predicting."""

import warnings
from abc import ABCMeta, abstractmethod
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._docs import DocumentationLink
from ..losses import LOSSES, FenchelYoungLoss, Loss, MarginLoss, get_loss
from ..mappings import Softmax, Temperature, get_mapping
from ..objective import (
    CosineObjective,
    LinearObjective,
    model_outputs,
    scores_of,
    split_rows,
    trial_scores,
)
from ..solvers import SOLVERS
from ._checks import (
    check_fit_data,
    check_outputs,
    check_sample_weight,
    check_target,
    check_X,
)
from ._progress import FitProgress
from ._targets import (
    KINDS,
    as_labels,
    class_weight_factors,
    encode_target,
    smoothed,
)
from ._threshold import check_threshold, threshold_rule


class BaseLinearClassifier(
    CallbackSupportMixin,
    ClassifierMixin,
    DocumentationLink,
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
        "margin": [Interval(Real, 0, None, closed="left")],
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="right")],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "label_smoothing": [Interval(Real, 0, 1, closed="left")],
        "target_type": [StrOptions({"auto", *KINDS})],
        "threshold": [
            Interval(Real, 0, 1, closed="left"),
            StrOptions({"auto", "cv", "support"}),
            "array-like",
        ],
        "solver": [StrOptions(set(SOLVERS))],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    @abstractmethod
    def __init__(
        self,
        *,
        loss="auto",
        similarity="dot",
        margin=0.0,
        temperature=1.0,
        C=1.0,
        fit_intercept=True,
        class_weight=None,
        label_smoothing=0.0,
        target_type="auto",
        threshold="auto",
        solver="lbfgs",
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
        verbose=0,
    ):
        self.loss = loss
        self.similarity = similarity
        self.margin = margin
        self.temperature = temperature
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.label_smoothing = label_smoothing
        self.target_type = target_type
        self.threshold = threshold
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        # Without an intercept no class can be favoured for every x, which
        # scikit-learn's check of class weights asks for.
        tags.classifier_tags.poor_score = self.similarity == "cosine"
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data. float32 and float64 are used as they are, dense in C or
            Fortran order or as CSR; anything else is converted to float64.
        y : array-like or sparse matrix
            What is learnt (see ``target_type``): labels of shape (n_samples,); a
            0/1 indicator of shape (n_samples, n_classes), dense or sparse, of each
            row's set of labels; or a distribution over the classes in each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed, or X, y or sample_weight hold NaN or
            infinity, do not fit together, or are none of the kinds above.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before the gradient was within ``tol``. The model
            is usable.
        UserWarning
            If rows of a label set have no label: they are left out.
        """
        warm = (self.coef_, self.intercept_) if self._starts_warm() else None
        X, y, sample_weight = check_fit_data(self, X, y, sample_weight)
        encoded = encode_target(y, self.target_type, X.dtype)
        self.classes_, self.target_type_ = encoded.classes, encoded.kind
        self.mapping_ = self._checked_mapping()
        self.loss_ = self._checked_loss()
        data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        X, row_weight = _labelled_rows(X, sample_weight, encoded)
        with np.errstate(over="ignore", invalid="ignore"):
            factors = class_weight_factors(self.class_weight, encoded, row_weight)
            weight = row_weight * factors
            objectives = self._objectives(self._inputs(X), encoded, weight, warm)
        if encoded.kind == "label_set":
            rule = threshold_rule(self, X, encoded.target, row_weight, weight)

        def fitted_attributes(parameters):
            coef, intercept = objectives[-1].unpack(parameters)
            attributes = {
                "coef_": coef.astype(X.dtype),
                "intercept_": intercept.astype(X.dtype),
            }
            if encoded.kind == "label_set":
                attributes["threshold_"] = rule(
                    lambda X: self.mapping_(
                        scores_of(model_outputs(self._inputs(X), coef, intercept))
                    )
                )
            return attributes

        context = self._init_callback_context(
            max_subtasks=len(objectives) * max(self.max_iter, 1)
        )
        context.call_on_fit_task_begin(estimator=self, **data)
        progress = FitProgress(self, context, data, fitted_attributes)
        self.n_iter_ = 0
        parameters = self._initial(objectives[0], warm)
        for objective in objectives:
            progress.begin(parameters)
            solution = SOLVERS[self.solver](
                objective,
                parameters,
                tol=self.tol,
                max_iter=self.max_iter,
                callback=progress,
            )
            progress.end()
            parameters = solution.parameters
            self.n_iter_ += solution.n_iter
            if solution.stopped:
                break
        for name, value in fitted_attributes(parameters).items():
            setattr(self, name, value)
        self.objective_ = solution.value
        self.gradient_norm_ = solution.gradient_norm
        if not (solution.converged or solution.stopped):
            warnings.warn(
                f"{type(self).__name__} did not converge: {solution.message}. The "
                f"largest gradient entry is {solution.gradient_norm:.3g} and tol is "
                f"{self.tol:.3g}. Increase max_iter (now {self.max_iter}) or tol, or "
                f"lower C (now {self.C:.3g}).",
                ConvergenceWarning,
                stacklevel=3,
            )
        context.call_on_fit_task_end(
            estimator=self, reconstruction_attributes=dict, **data
        )
        return self

    def decision_function(self, X):
        """Linear scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,)
            The score of each class; for labels of two classes one score, positive
            where the second class is more probable. For a mapping that does not
            preserve order, that one is the difference of the two probabilities.
        """
        outputs = self._outputs(X)
        if self.target_type_ == "class" and len(self.classes_) == 2:
            # The difference of the two scores, whatever the number of outputs.
            scores = scores_of(outputs)
            if not self.mapping_.is_order_preserving:
                scores = self.mapping_(scores)
            return np.diff(scores, axis=1)[:, 0]
        return np.ascontiguousarray(scores_of(outputs))

    def predict_proba(self, X):
        """Probabilities of the classes; some may be exactly zero.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to one.
        """
        scores = self._scores(X)
        return self.mapping_(scores)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities; -inf where a probability is zero.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        return self.mapping_.log_probabilities(scores)

    def predict(self, X):
        """Predicted labels, label sets, or most probable classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_classes)
            After a fit to labels, the most probable label of each row; to label
            sets, a 0/1 indicator of the labels whose probability is above
            ``threshold_``; to distributions, the column number of the most probable
            class.
        """
        scores = self._scores(X)
        if self.target_type_ == "label_set":
            # It may have been assigned.
            threshold = check_threshold(self.threshold_, len(self.classes_))
            return (self.mapping_(scores) > threshold).astype(np.int64)
        if not self.mapping_.is_order_preserving:
            scores = self.mapping_(scores)
        return self.classes_[scores.argmax(axis=1)]

    def score(self, X, y, sample_weight=None):
        """Accuracy of the predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            Of the kind that was fitted.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            For labels, the share of right predictions; for label sets, the share of
            rows whose whole set is right; for distributions, the mean target
            probability of the predicted class (the expected accuracy).
        """
        predicted = self.predict(X)
        if self.target_type_ == "class":
            y = as_labels(y)
        if self.target_type_ != "distribution":
            return accuracy_score(y, predicted, sample_weight=sample_weight)
        y = check_target(y, "y", len_of=predicted)
        target = encode_target(y, "distribution", classes=self.classes_).target
        hit = np.take_along_axis(target.values, predicted[:, None], axis=1)[:, 0]
        weight = check_sample_weight(sample_weight, predicted)
        return float(np.average(hit, weights=weight))

    def _scores(self, X):
        return scores_of(self._outputs(X))

    def _outputs(self, X):
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = model_outputs(self._inputs(X), self.coef_, self.intercept_)
        check_outputs(outputs)
        return outputs

    def _inputs(self, X):
        """What the coefficients are multiplied with: X, or its rows at norm one."""
        return normalize(X) if self.similarity == "cosine" else X

    def _checked_mapping(self):
        mapping = clone(get_mapping(self._mapping()))
        mapping._validate_params()
        if self.temperature != 1:
            mapping = Temperature(mapping, self.temperature)
        return mapping

    def _checked_loss(self):
        loss = get_loss(self._loss(), self.mapping_)
        if self.margin != 0:
            loss = MarginLoss(loss, self.margin)
            loss.check()
        return loss

    def _objectives(self, X, encoded, weight, warm):
        """What is minimised, one after the other."""
        l2 = _penalty(self.C, weight.sum())
        target = encoded.target
        if self.label_smoothing:
            target = smoothed(target, self.label_smoothing, X.dtype)
        blocks = split_rows(X, target, weight)
        self.loss_.check_on(lambda: trial_scores(blocks[0]))
        losses = self.loss_.stages()
        if self.mapping_.is_only_a_function:
            # At zero scores its gradient may vanish: start where softmax ends.
            losses = [FenchelYoungLoss(Softmax()), *losses]
        if warm is not None:
            losses = losses[-1:]
        if self.similarity == "cosine":
            return [CosineObjective(blocks, loss) for loss in losses]
        return [
            LinearObjective(blocks, loss, l2=l2, fit_intercept=self.fit_intercept)
            for loss in losses
        ]

    def _starts_warm(self):
        return self.warm_start and hasattr(self, "coef_")

    def _initial(self, objective, warm):
        if warm is None:
            return objective.initial()
        coef, intercept = warm
        if coef.shape != objective.coef_shape:
            raise ValueError(
                "warm_start=True starts from the last fit, whose coef_ has shape "
                f"{coef.shape}; these data need {objective.coef_shape}. Use "
                "warm_start=False or a clone."
            )
        return objective.pack(coef, intercept)


def _penalty(C, total):
    if not (0 < total < np.inf):
        raise ValueError(
            "The weights of the rows that are fitted (sample_weight times "
            f"class_weight) must have a positive, finite sum; it is {total:.6g}."
        )
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        l2 = 1 / (C * total)
    if l2 == np.inf:
        raise ValueError(
            f"C must be larger: with C={C} and weights of the rows that sum to "
            f"{total:.6g}, the penalty 1 / (C * sum) overflows."
        )
    return l2


def _labelled_rows(X, sample_weight, encoded):
    labelled = encoded.labelled
    if labelled is None:
        return X, sample_weight
    warnings.warn(
        f"{np.count_nonzero(~labelled)} of {len(labelled)} rows have no label; they "
        "carry no target and are left out of the fit.",
        UserWarning,
        stacklevel=4,
    )
    return X[labelled], sample_weight[labelled]
