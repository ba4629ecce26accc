"""Prediction sets that contain the truth with a chosen probability."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    _fit_context,
    clone,
)
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import _check_method_params, check_is_fitted, indexable

from ..._utils.arrays import is_foreign, to_numpy
from ..._utils.checks import (
    NUMBERS_OF_JOBS,
    IntegerInterval,
    OneOf,
    RealInterval,
)
from ..._utils.names import KeywordsChecked
from ..._utils.saving import PlainState
from ..._utils.typing import Array, ArrayLike, MatrixLike, same_signature
from ._calibration import calibration_weight, quantiles_by_class, scores_of_truth
from ._folds import responses_out_of_fold, splits_of
from ._onnx import OnnxSets
from ._parameter_advice import OTHER_NAMES, OTHER_VALUES
from ._predictions import SetPredictions
from ._responses import method_of, response_of
from ._routed_arguments import arguments_of_fit, router
from ._truth import (
    check_truth_is_known,
    classes_of,
    labels_or_sets,
    true_classes,
)

# Parameters that sets depend on, after a fit with the values of the fit.
_OF_SETS = "score_function", "alpha", "never_empty", "rank_penalty", "free_ranks"
#: The error where the classifier of cv="prefit" is not fitted.
_NOT_FITTED = (
    "cv='prefit' needs a fitted classifier; got a %(name)s that is not fitted. "
    "Searches and cross-validation clone it: wrap the fitted one in "
    "sklearn.frozen.FrozenEstimator."
)


class ConformalSets(
    OnnxSets,
    SetPredictions,
    MetaEstimatorMixin,
    ClassifierMixin,
    PlainState,
    KeywordsChecked,
    BaseEstimator,
):
    r"""Prediction sets that contain the true class with a chosen probability.

    The estimator calibrates any classifier by conformal prediction. Every class of a
    row has a nonconformity score, and the limit is the score of rank
    :math:`\lceil (n + 1) \cdot \mathrm{coverage} \rceil` among those of the true
    classes of n calibration rows. The set of a row is the classes whose score is at
    most the limit. If calibration rows and new rows are exchangeable, the set contains
    the true class with at least the probability `coverage`, whatever the classifier.

    With ``cv="prefit"`` the calibration rows are those of ``fit``, which the classifier
    must not have seen, and the guarantee is exact. With folds, the scores are out of
    fold and the classifier is fitted again to all rows. All rows then serve both
    purposes. The guarantee is approximate, because the classifier that predicts has
    seen more rows than those that gave the scores.

    After a fit to label sets, a set contains each true label with the probability
    `coverage`: the mean over the rows of the share of true labels that are in the set
    (the recall) is at least `coverage`. Labels that are not known, NaN in the target of
    a classifier that takes them, are left out of the calibration.

    Parameters
    ----------
    estimator : estimator
        A classifier with ``decision_function`` or ``predict_proba``; fitted, for
        ``cv="prefit"``. It may be a pipeline or a search.
    coverage : float, default=0.9
        Probability with which a set contains the true class, between 0 and 1. Choose it
        above ``accuracy_``: below it each set is the best class alone.
        It needs at least coverage / (1 - coverage) calibration rows: 9 for 0.9, 19 for
        0.95, 99 for 0.99.
    score_function : {"entmax", "threshold", "adaptive"}, default="entmax"
        Nonconformity score, which is larger for a class that fits a row less.

        - "entmax": the distance of the class's score below the better ones. The set is
          the support of entmax at a calibrated temperature. It is never empty.
        - "threshold": one minus the probability, with the smallest sets on average.
        - "adaptive": the sum of the probabilities from the largest down to the class
          (adaptive prediction sets), and one more for a class whose probability is
          zero; for classes only. Sets are larger; difficult rows are covered more often
          than with the others.
    alpha : float, default=1.5
        The α of "entmax", larger than 1.
    cv : int, cross-validation generator, iterable or "prefit", default=5
        Folds in which the classifier is fitted for the calibration scores; or "prefit"
        for a fitted classifier, which is calibrated on the rows of ``fit`` and not
        fitted again. A row that is left out in several splits counts as one row.
    by : {"class"} or None, default=None
        "class" calibrates each class by its own rows, so that the coverage holds for
        the rows of each class (Mondrian). Each class needs coverage / (1 - coverage)
        calibration rows.
    never_empty : bool, default=True
        Whether "threshold" and "adaptive" give the most probable class the
        nonconformity 0, so that it is in every set.
    rank_penalty : float, default=0.0
        Number that is added to the nonconformity of "adaptive" for each rank above
        `free_ranks` (regularised adaptive prediction sets). It makes the largest sets
        smaller, and is an error with other nonconformity scores.
    free_ranks : int, default=1
        Number of the most probable classes that `rank_penalty` leaves out.
    sparse_output : bool or "auto", default="auto"
        Whether sets are CSR arrays; "auto" with more than 1,000 classes.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for "adaptive", which then counts a random part of the
        probability of the class itself. Sets are smaller, and the coverage is exact.
        Every prediction has the same draws, by the place of a row in X. None stands for
        no randomisation.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; of label sets, the names of the columns or their numbers.
    estimator_ : estimator
        The fitted classifier; for ``cv="prefit"`` the `estimator` itself.
    coverage_ : float
        The `coverage` of the fit.
    accuracy_ : float
        Share of the calibration rows whose best class is the true one; for label sets,
        the share of the true labels that are the best one of their row. With a lower
        `coverage`, each set is the best class alone; without `never_empty`, some are
        empty.
    quantile_ : float or ndarray of shape (n_classes,)
        Calibrated nonconformity; for each class with ``by="class"``.
    limit_ : float or ndarray of shape (n_classes,)
        Largest nonconformity of a class in a set: the quantile plus a bound of its
        rounding error, so that a class exactly at the quantile is in the set.
    temperature_ : float
        Temperature of "entmax", without ``by="class"``: the probabilities are those of
        entmax of scores divided by it.
    target_type_ : {"class", "label_set"}
        Kind of `y` in ``fit``.
    n_features_in_ : int
        Number of features, if the classifier has it.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        Names of features, if the classifier has them.

    See Also
    --------
    skprob.inspection.SetDisplay : Coverage and sizes of the sets, by class and size.
    skprob.metrics.set_coverage : Share of the sets that contain the truth.
    skprob.metrics.mean_set_size : Mean number of classes in a set.

    Notes
    -----
    Weights count as numbers of equal rows, in the fit of the classifier and in the
    calibration. With scikit-learn's metadata routing they go to the classifier if it
    requests them. Arguments about rows, such as available classes and offsets, are used
    in the fit, in the calibration and in each prediction, also by a classifier in a
    pipeline or a search. Without metadata routing, those of a pipeline are named
    ``step__argument``. With it the classifier also has to request them for
    ``decision_function``, and for ``predict_proba`` unless `score_function` is "entmax"
    and `by` is None.

    References
    ----------
    V. Vovk, A. Gammerman and G. Shafer, "Algorithmic learning in a random world",
    Springer 2005.

    M. Campos, J. Calado, E. Seiffert, M. Figueiredo and A. Martins, "Sparse activations
    as conformal predictors", AISTATS 2025 ("entmax").

    M. Sadinle, J. Lei and L. Wasserman, "Least ambiguous set-valued classifiers with
    bounded error levels", Journal of the American Statistical Association 2019
    ("threshold", ``by="class"``).

    Y. Romano, M. Sesia and E. Candès, "Classification with valid and adaptive
    coverage", NeurIPS 2020, and A. Angelopoulos, S. Bates, J. Malik and M. Jordan,
    "Uncertainty sets for image classifiers using conformal prediction", ICLR 2021
    ("adaptive").

    A. Angelopoulos, S. Bates, A. Fisch, L. Lei and T. Schuster, "Conformal risk
    control", ICLR 2024 (the recall of label sets).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.decision import ConformalSets, names_of
    >>> X, y = load_digits(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X / 16, y, random_state=0)
    >>> model = ConformalSets(SoftmaxClassifier(), coverage=0.99).fit(X, y)
    >>> sets = model.predict_set(X_new)
    >>> coverage = sets[range(len(sets)), y_new].mean()
    >>> print(f"coverage {coverage:.2f}, {sets.sum(axis=1).mean():.1f} of 10 digits")
    coverage 0.99, 1.2 of 10 digits
    >>> names_of(sets[76:79], model.classes_)
    [[2], [1, 2], [9]]
    >>> model.predict_proba(X_new[[77]]).round(2)
    array([[0. , 0.4, 0.6, 0. , 0. , 0. , 0. , 0. , 0. , 0. ]])
    """

    __module__ = __name__.rpartition(".conformal")[0]
    _required_parameters = ("estimator",)
    _parameter_constraints: dict = {
        "estimator": [
            HasMethods(["fit", "decision_function"]),
            HasMethods(["fit", "predict_proba"]),
        ],
        "coverage": [RealInterval(0, 1, closed="neither")],
        "score_function": [OneOf("entmax", "threshold", "adaptive")],
        "alpha": [RealInterval(1, None, closed="neither")],
        "cv": ["cv_object", OneOf("prefit")],
        "by": [OneOf("class"), None],
        "never_empty": ["boolean"],
        "rank_penalty": [RealInterval(0, None, closed="left")],
        "free_ranks": [IntegerInterval(0, None, closed="left")],
        "sparse_output": ["boolean", OneOf("auto")],
        "n_jobs": NUMBERS_OF_JOBS,
        "random_state": ["random_state"],
    }
    _other_values = OTHER_VALUES
    _other_names = OTHER_NAMES

    def __init__(
        self,
        estimator: Any,
        *,
        coverage: float = 0.9,
        score_function: Literal["entmax", "threshold", "adaptive"] = "entmax",
        alpha: float = 1.5,
        cv: Any = 5,
        by: Literal["class"] | None = None,
        never_empty: bool = True,
        rank_penalty: float = 0.0,
        free_ranks: int = 1,
        sparse_output: bool | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.score_function = score_function
        self.alpha = alpha
        self.cv = cv
        self.by = by
        self.never_empty = never_empty
        self.rank_penalty = rank_penalty
        self.free_ranks = free_ranks
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator)
        tags.input_tags = of_estimator.input_tags
        if of_estimator.classifier_tags is not None:
            tags.classifier_tags = of_estimator.classifier_tags
        return tags

    @same_signature(_fit_context(prefer_skip_nested_validation=False))
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Calibrate the classifier, after fitting it unless ``cv="prefit"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, as the classifier takes them; a DataFrame stays one. For
            ``cv="prefit"`` rows that the classifier has not seen.
        y : array-like or sparse matrix
            Labels of shape (n_samples,), or a 0/1 indicator of label sets of shape
            (n_samples, n_labels).
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights: a row of weight 2 counts as two rows, in the fits and
            in the calibration. 1 if not given.
        **params : dict
            Further arguments of the classifier's ``fit``; under scikit-learn's metadata
            routing those of the splitter, too. If the classifier's
            predictions take an argument of these, such as ``available`` or ``offset``,
            the calibration rows are predicted with it, and new rows need it, too.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed; if there are too few calibration rows for the
            coverage; if weights or arguments are given and the classifier does not take
            them, or predicts without them; if `y` is neither labels nor label sets, or
            the classifier is fitted to candidates and `y` is not labels; if a fold
            lacks a class.
        """
        if isinstance(self.estimator, type):
            name = self.estimator.__name__
            raise ValueError(
                f"estimator must be an object; got the class {name}. Give {name}()."
            )
        if self.rank_penalty and self.score_function != "adaptive":
            raise ValueError(
                "rank_penalty must be 0 unless score_function='adaptive'; got "
                f"rank_penalty={self.rank_penalty:g} and score_function="
                f"{self.score_function!r}."
            )
        X, y = indexable(X, y)
        self._fitted_with = {name: getattr(self, name) for name in _OF_SETS}
        y, self.target_type_ = labels_or_sets(y)
        if self.target_type_ == "label_set" and self.score_function == "adaptive":
            raise ValueError(
                "score_function must be 'entmax' or 'threshold' for label sets; got "
                "'adaptive', whose probabilities have to sum to one."
            )
        # Calibration uses NumPy; the classifier gets `y` in the library of X.
        given_y, y = y, to_numpy(y) if is_foreign(y) else y
        weight = calibration_weight(sample_weight, y.shape[0])
        response_name = self._nonconformity().response
        method = method_of(self.estimator, response_name)
        arguments = arguments_of_fit(self, method, sample_weight, params)
        self._needed = arguments.needed
        if self.cv == "prefit":
            check_is_fitted(self.estimator, msg=_NOT_FITTED)
            self.estimator_ = self.estimator
            self.classes_ = classes_of(self.estimator, y, self.target_type_)
            response_type = self._response_type(response_name)
            response = response_of(self.estimator, X, response_type, arguments.predict)
            folds = [(np.arange(y.shape[0]), response)]
        else:
            is_class = self.target_type_ == "class"
            splits = splits_of(self.cv, X, y, is_class, arguments.split)
            of_fit = _check_method_params(X, arguments.fit)
            self.estimator_ = clone(self.estimator).fit(X, given_y, **of_fit)
            self.classes_ = classes_of(self.estimator_, y, self.target_type_)
            folds = responses_out_of_fold(
                self.estimator,
                X,
                given_y,
                arguments,
                splits=splits,
                response_type=self._response_type(response_name),
                n_jobs=self.n_jobs,
            )
            # A row counts once, in however many splits it is left out.
            rows = np.concatenate([left_out for left_out, _ in folds])
            n_times = np.bincount(rows, minlength=len(weight))
            weight = weight / np.maximum(n_times, 1)
        check_truth_is_known(self.estimator_, self.target_type_)
        self._calibrate(folds, y, weight)
        return self

    def _calibrate(self, folds, y, weight):
        """Set the limit by the nonconformity of the true classes of each fold.

        Parameters
        ----------
        folds : list of (ndarray of int, Response)
            The rows of each fold, and their responses.
        y : array or sparse matrix
        weight : ndarray of shape (n_samples,)
        """
        random = None
        if self.score_function == "adaptive" and self.random_state is not None:
            random = check_random_state(self.random_state)
        by_class = self.by == "class"
        true_scores = scores_of_truth(
            self._nonconformity(),
            true_classes(y, self.classes_, self.target_type_),
            folds,
            weight=weight,
            by_class=by_class,
            random=random,
        )
        self.coverage_, self.accuracy_ = float(self.coverage), true_scores.accuracy
        if by_class:
            self.quantile_ = quantiles_by_class(
                true_scores, self.coverage, self.classes_
            )
            self.limit_ = true_scores.limit(self.quantile_)
        else:
            is_class = self.target_type_ == "class"
            rows = "rows of any class" if is_class else "rows with a label"
            self.quantile_ = true_scores.quantile(self.coverage, rows)
            self.limit_ = float(true_scores.limit(self.quantile_))
        if not np.isfinite(self.limit_).all():
            raise ValueError(
                "Nonconformities must be finite numbers, and those of the calibration "
                f"rows are infinite with alpha={self.alpha:g} and rank_penalty="
                f"{self.rank_penalty:g}. Choose smaller ones, or scale the scores of "
                "the estimator."
            )
        self._seed = None if random is None else random.randint(2**31 - 1)
        vars(self).pop("temperature_", None)
        if self.score_function == "entmax" and not by_class:
            temperature = (float(self.alpha) - 1) * self.limit_
            # The quantile is 0 where the accuracy exceeds the coverage.
            floats = np.finfo(np.float64)
            self.temperature_ = float(np.clip(temperature, floats.tiny, floats.max))

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the fitted classifier has it."""
        return self._of_estimator("n_features_in_")

    @property
    def feature_names_in_(self) -> Array:
        """Names of the features, if the fitted classifier has them."""
        return self._of_estimator("feature_names_in_")

    def _of_estimator(self, name):
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before fit.")
        return getattr(self.estimator_, name)

    def get_metadata_routing(self) -> Any:
        """Routing of metadata to the classifier, the splitter and the calibration.

        Returns
        -------
        routing : MetadataRouter
            The classifier's ``fit``, the method by which it predicts and the splitter
            get what they request; ``sample_weight`` is used in the calibration, too.
        """
        # Predictions are those of the fit, also after parameters are set.
        state = vars(self)
        score_function = state.get("_fitted_with", state)["score_function"]
        by_class = np.ndim(self.limit_) if "limit_" in state else self.by is not None
        return router(self, score_function == "entmax", bool(by_class))
