"""The base of the classifiers that search along warm-started paths."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import (
    NUMBERS_OF_JOBS,
    IntegerInterval,
    OneOf,
    in_order,
)
from ..._utils.fitted_params import unfitted
from ..._utils.typing import ArrayLike, MatrixLike, same_signature
from ...decision import ThresholdLike
from .._given import Given
from .._training_rows import checked_data
from ..base import (
    BaseLinearClassifier,
    constraints_but,
    fitted_attributes,
    replace_fitted,
    unchanged_on_error,
)
from ..predict import KnownThreshold
from ._folds import folds_of
from ._grid import Cs_of_grid, Grid, checked_Cs, checked_l1_ratios
from ._leave_one_out import folds_of_leave_one_out
from ._precomputed import with_given
from ._prepared import PreparedSearch
from ._scoring import (
    DefaultScore,
    check_scorer,
    sees_predictions_only,
    with_class_labels,
)
from ._search import search
from ._search_results import (
    attributes_of_search,
    best_choice,
    warn_of_failed_fits,
)


class PathSearchCV(BaseLinearClassifier):
    """A classifier that chooses a parameter of its mapping, and C, by cross-validation.

    It chooses ``l1_ratio``, too, where values of it are given.

    A subclass defines `_parameter`, :meth:`_values` and :meth:`_candidate`.
    """

    _parameter_constraints: dict = {
        # A path leads to the solutions of single fits for a convex loss of linear
        # scores only. C is searched.
        **constraints_but(
            *("C", "l1_ratio", "loss", "similarity", "warm_start"),
        ),
        "l1_ratios": ["array-like", None],
        "Cs": [IntegerInterval(1, 10**6, closed="both"), "array-like"],
        "cv": ["cv_object", OneOf("loo")],
        "scoring": [OneOf(*get_scorer_names()), callable, None],
        "refit": ["boolean"],
        "n_jobs": NUMBERS_OF_JOBS,
    }

    # As in LogisticRegressionCV: weights that no scorer takes are an error.
    __metadata_request__score = {"sample_weight": UNUSED}

    #: Name of the second parameter that is searched, after C, in a single classifier.
    #: With an "s" appended it is the parameter of this class that has the values.
    _parameter: str

    @abstractmethod
    def __init__(
        self,
        *,
        Cs: int | ArrayLike,
        l1_ratios: ArrayLike | None,
        cv: Any,
        scoring: str | Callable[..., Any] | None,
        refit: bool,
        n_jobs: int | None,
        select: Literal["coefficients", "features"],
        penalty_factors: ArrayLike | dict[str, float] | None,
        fit_intercept: bool,
        class_weight: dict[Any, float] | Literal["balanced"] | None,
        target_type: str,
        class_names: ArrayLike | None,
        none_class: bool,
        threshold: ThresholdLike,
        sparse_output: bool,
        margin: float | ArrayLike,
        temperature: float,
        label_smoothing: float,
        solver: Literal["auto", "lbfgs", "newton-cg", "newton-cholesky"],
        tol: float,
        max_iter: int,
        verbose: int | bool,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.margin = margin
        self.temperature = temperature
        self.select = select
        self.penalty_factors = penalty_factors
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
        self.verbose = verbose

    @abstractmethod
    def _values(self):
        """The checked values of the parameter, and the order that a path takes."""

    @abstractmethod
    def _candidate(self, **params):
        """An unfitted classifier of one fit."""

    @property
    def similarity(self) -> str:
        """Scores are W x + b."""
        return "dot"

    # Predictions of several models are computed together, by NumPy.
    _takes_arrays = False

    def _mapping(self):
        chosen = {self._parameter: getattr(self, f"{self._parameter}_")}
        return self._candidate(**chosen)._mapping()

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    @same_signature(_fit_context(prefer_skip_nested_validation=True))
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Search, and fit a model with the chosen parameters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data, as for the classifier of one fit.
        y : array-like or sparse matrix
            Labels, label sets or distributions, as for the classifier of one fit.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows, for the fits and the scores; with metadata
            routing, for the scores only if the scorer requests them.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The classes that are available to each row, for the fits and for the
            predictions that are scored; None stands for all classes.
        offset : array-like of shape (n_samples, n_classes), default=None
            Known numbers that are added to the scores, for the fits and the predictions
            that are scored; for two classes the shape may be (n_samples,).
        **params : dict
            With metadata routing enabled, arguments that the scorer and the splitter
            request, such as ``groups``.

        Returns
        -------
        self : object

        Raises
        ------
        TypeError
            If sample_weight is given and the scorer does not take it.
        ValueError
            If a parameter is not allowed, a grid or a fold is empty, or X, y,
            sample_weight, available or offset are malformed; if the scorer returns
            something else than a number, or NaN for every model.

        Warns
        -----
        ConvergenceWarning
            If fits stopped before the gradient was within ``tol``.
        UserWarning
            If rows of a label set have no label and ``none_class`` is False: they are
            left out. If some scores are NaN: their parameters are not chosen.
        """
        _raise_for_params(params, self, "fit")
        metadata = Given(available, offset).arguments
        metadata |= {"sample_weight": sample_weight}
        arguments = {"X": X, "y": y, "metadata": metadata}
        attributes = {}
        with unchanged_on_error(self, after_interrupt=attributes):
            prepared = self._prepared(X, y, metadata, params)
            results = prepared.unknown_results()
            context = self._init_callback_context(
                max_subtasks=results.scores.size + self.refit
            )
            context.call_on_fit_task_begin(estimator=self, **arguments)
            has_ratios = self.l1_ratios is not None
            attributes |= {"classes_": prepared.data.encoded.classes}
            attributes |= attributes_of_search(prepared.grid, results, has_ratios)
            self._search(results, prepared.paths(), context, arguments)
            left_out = prepared.scored_left_out_rows(results)
            choice = best_choice(prepared.grid, results.scores, self.scoring)
            attributes |= choice.attributes(has_ratios)
            threshold = prepared.threshold(choice, left_out)
            if self.refit:
                learnt = self._refitted(prepared, choice, threshold, context, arguments)
            else:
                learnt = prepared.mean_of_folds(results, choice, threshold)
            # Where both have an attribute, such as n_iter_, it is that of the search.
            learnt |= attributes | {"fitted_params_": self._params_of_fit()}
            replace_fitted(self, learnt)
            warn_of_failed_fits(results, self.max_iter, self.tol)
            context.call_on_fit_task_end(
                estimator=self, reconstruction_attributes=dict, **arguments
            )
        return self

    def score(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        **score_params: Any,
    ) -> float:
        """Score of the predictions, by `scoring`; if it is None, the accuracy.

        Without `scoring` it is comparable with the score of other classifiers, though
        not with ``best_score_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            True targets, of the kind that was fitted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; None weights all equally.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The classes that are available to each row; None stands for all classes.
        offset : array-like of shape (n_samples, n_classes), default=None
            Known numbers that are added to the scores; for two classes the shape may be
            (n_samples,). None adds nothing, even if ``fit`` was given offsets.
        **score_params : dict
            With metadata routing enabled, arguments that the scorer requests.

        Returns
        -------
        score : float

        Raises
        ------
        TypeError
            If sample_weight is given and the scorer does not take it.
        """
        _raise_for_params(score_params, self, "score")
        check_is_fitted(self)
        if self.scoring is None:
            arguments = Given(available, offset).arguments
            return super().score(X, y, sample_weight, **arguments)
        given = self._fitted_model().checked_given(X, available, offset)
        score_params |= Given(available, offset).arguments
        if sample_weight is not None:
            score_params["sample_weight"] = sample_weight
        routed = self._routed("score", score_params)
        are_labels = self.target_type_ == "class"
        scorer = self._scorer(self.classes_ if are_labels else None)
        # scikit-learn's scorers compare columns by position.
        y = y if are_labels else in_order("y", y, self.classes_)
        (model,) = with_given(X, [self], given)
        return scorer(model, X, y, **routed.scorer.score)

    def get_metadata_routing(self) -> Any:
        """Routing of metadata to the fits, the scorer and the splitter.

        Returns
        -------
        routing : MetadataRouter
            ``sample_weight``, ``available`` and ``offset`` go to the fits; scorer and
            splitter get what they request.
        """
        to_scorer = MethodMapping().add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
            .add(
                scorer=self._scorer(),
                method_mapping=to_scorer.add(caller="score", callee="score"),
            )
        )

    def _scorer(self, classes=None):
        """The scorer, with the class labels passed to it where it accepts them."""
        if self.scoring is None:
            return DefaultScore()
        scorer = get_scorer(self.scoring)
        check_scorer(scorer)
        return scorer if classes is None else with_class_labels(scorer, classes)

    def _routed(self, caller, metadata):
        """Metadata for the scorer and the splitter, in fit or score."""
        if _routing_enabled():
            # The scored models hold available classes and offsets of their rows.
            requests = get_routing_for_object(self._scorer())
            others = {"available", "offset"} - requests.consumes("score", metadata)
            given = {k: value for k, value in metadata.items() if k not in others}
            return process_routing(self, caller, **given)
        weight = metadata.get("sample_weight")
        to_scorer = {} if weight is None else {"sample_weight": weight}
        return Bunch(splitter=Bunch(split={}), scorer=Bunch(score=to_scorer))

    def _refit_spec(self):
        best = {self._parameter: getattr(self, f"{self._parameter}_"), "C": self.C_}
        best["l1_ratio"] = getattr(self, "l1_ratio_", 0.0)
        template = unfitted(self)._template(self.target_type_).set_params(**best)
        return self._for_features(template._fit_spec())

    def _template(self, target_type):
        """An unfitted classifier with the parameters that it shares with this one."""
        template = self._candidate(target_type=target_type)
        shared = self.get_params(deep=False).keys() & template.get_params(deep=False)
        shared.remove("target_type")
        return template.set_params(**{name: getattr(self, name) for name in shared})

    def _specs(self, template, values):
        """The spec of the fits of each value."""
        return [
            template.set_params(**{self._parameter: value})._fit_spec()
            # Numbers of Python have a short repr in messages.
            for value in (values.tolist() if isinstance(values, np.ndarray) else values)
        ]

    def _prepared(self, X, y, metadata, params):
        """The :class:`PreparedSearch` of the arguments of `fit`, which are checked."""
        if self.target_type == "candidates":
            raise ValueError(
                "target_type must be 'auto', 'class', 'label_set' or "
                f"'distribution' for {type(self).__name__}; got 'candidates', "
                "whose loss is not convex, so that a path of fits may end in "
                "another minimum than single fits. Use GridSearchCV."
            )
        values, order = self._values()
        l1_ratios = checked_l1_ratios(self.l1_ratios)
        checked_Cs(self.Cs)
        template = self._template(self.target_type)
        specs = self._specs(template, values)
        given = (metadata.get(name) for name in ("available", "offset"))
        data = checked_data(self, specs[0], X, y, metadata["sample_weight"], *given)
        encoded = data.encoded
        # The classes of the target are among those that are available.
        data.given.of_target(encoded)
        template.set_params(target_type=encoded.target_type)
        specs = [
            self._for_features(replace(spec, target_type=encoded.target_type))
            for spec in specs
        ]
        grid = Grid(
            self._parameter,
            values,
            l1_ratios=l1_ratios,
            Cs=Cs_of_grid(self.Cs, specs, l1_ratios, data),
            order=order,
        )
        routed = self._routed("fit", params | metadata)
        if self.cv == "loo":
            self._check_scoring_of_leave_one_out()
            folds = folds_of_leave_one_out(specs, data, grid)
        else:
            folds = folds_of(self.cv, data, routed.splitter.split)
        is_class = encoded.target_type == "class"
        scorer = self._scorer(encoded.classes if is_class else None)
        return PreparedSearch(
            data,
            template=template,
            specs=specs,
            grid=grid,
            folds=folds,
            scorer=scorer,
            score_params=routed.scorer.score,
        )

    def _check_scoring_of_leave_one_out(self):
        """Raise for a scorer that may predict for some of the rows only."""
        if not sees_predictions_only(self._scorer()):
            raise ValueError(
                "cv='loo' needs scoring=None, a name, or a scorer by make_scorer, "
                "which see the probabilities of all rows; got "
                f"scoring={self.scoring!r}. Use a number of folds."
            )

    def _search(self, results, paths, context, data):
        """Fill in the results, a task of the callbacks for each fit."""
        fits, n_fits = search(results, paths, self.n_jobs), results.scores.size
        with closing(fits):
            for n in range(1, n_fits + 1):
                task = context.subcontext(task_name="candidate")
                task.call_on_fit_task_begin(estimator=self, **data)
                next(fits)
                task.call_on_fit_task_end(estimator=self, **data)
                is_tenth = n % 10 == 0 or n == n_fits
                if self.verbose > 1 or (self.verbose and is_tenth):
                    print(f"[{type(self).__name__}] {n} of {n_fits} fits")

    def _refitted(self, prepared, choice, threshold, context, arguments):
        """Fitted attributes of a model that is fitted to all data."""
        model, data = prepared.chosen_classifier(choice), prepared.data
        if threshold is not None:
            model._rule_of_search = KnownThreshold(threshold)
        task = context.subcontext(task_name="refit")
        with task.propagate_callback_context(model):
            task.call_on_fit_task_begin(estimator=self, **arguments)
            model.fit(data.X, data.y, data.sample_weight, **data.given.arguments)
        task.call_on_fit_task_end(estimator=self, **arguments)
        learnt = fitted_attributes(model)
        # The refitted model saw an array: keep the feature names of the search.
        del learnt["n_features_in_"]
        return learnt
