"""Entmax with alpha and C chosen by cross-validation along warm-started paths."""

import warnings
from contextlib import closing
from functools import partial
from inspect import signature
from numbers import Integral

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params, check_is_fitted

from .._arrays import is_foreign
from .._pair import n_raw_predictions
from .._routing import manual_routing
from ..mappings import Entmax
from ..targets import column_names, encode_target
from ._base import BaseLinearClassifier
from ._checks import check_fit_data
from ._docstrings import with_shared_sections
from ._entmax_classifier import EntmaxClassifier
from ._fitted import fitted_attributes, replace_fitted, unchanged_on_error
from ._grid import checked_alphas, checked_Cs
from ._search import OwnScore, Results, scored_path, search

# The convex loss and linear scores are what makes a path lead to the answers of
# single fits; alpha and C are what is searched.
_NOT_A_CHOICE = {"C", "loss", "similarity", "warm_start"}


@with_shared_sections
class EntmaxClassifierCV(BaseLinearClassifier):
    """Entmax classifier that chooses alpha and C by cross-validation.

    In each fold the models of the whole grid are fitted along a path, from much
    penalty to little and from softmax towards sparser mappings: each starts from its
    neighbours' solutions, and checks of the data, moments of the features and Gram
    matrices are shared. So it finds what ``GridSearchCV(EntmaxClassifier(), ...)``
    finds, in less time. The pair of the highest mean score is chosen; of equal ones
    the least C, and then the least alpha.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(1, 1.25, 1.5, 1.75, 2)
        The values of alpha to choose from, each at least 1: 1 is softmax, 2
        sparsemax.
    Cs : int or array-like of shape (n_Cs,), default=10
        The values of C to choose from; a number stands for so many from 1e-4 to 1e4
        times the C of "auto" for each alpha, evenly on a logarithmic scale.
    cv : int, cross-validation generator or iterable, default=None
        As in :class:`~sklearn.model_selection.GridSearchCV`: None is five folds,
        stratified for labels.
    scoring : str or callable, default=None
        A name of scikit-learn's or ``scorer(estimator, X, y)``, greater is better.
        None is ``EntmaxClassifier.score``, the accuracy. The Brier score
        (:class:`~skprob.metrics.BrierScorer`) compares probabilities of different
        alpha fairly; the log loss does not, once one is zero.
    refit : bool, default=True
        Whether a model with the chosen pair is fitted to all data in the end. If
        not, there are only the results of the search, and nothing to predict with.
    n_jobs : int, default=None
        Folds at a time, each in a process of its own; -1 uses all processors.
    {parameters}
    verbose : int, default=0
        1 prints every tenth fit of the search, and iteration of the final one; 2
        prints every one.

    Attributes
    ----------
    alpha_ : float
        The chosen alpha.
    C_ : float
        The chosen C.
    best_score_ : float
        Mean score of the chosen pair over the folds.
    scores_ : ndarray of shape (n_folds, n_alphas, n_Cs)
        Score of each model on the rows of its fold that it was not fitted to.
    alphas_ : ndarray of shape (n_alphas,)
        The values of alpha, in the order given.
    Cs_ : ndarray of shape (n_alphas, n_Cs)
        The values of C for each alpha, in the order given.
    coefs_paths_ : ndarray of shape (n_folds, n_alphas, n_Cs, n_classes, n_features)
        Coefficients of all models, with rows as those of ``coef_``.
    intercepts_paths_ : ndarray of shape (n_folds, n_alphas, n_Cs, n_classes)
        Intercepts of all models.
    {attributes}

    See Also
    --------
    EntmaxClassifier : The same for one alpha and one C.
    sklearn.linear_model.LogisticRegressionCV : Softmax only.

    Notes
    -----
    scikit-learn's callbacks get a task "candidate" for each fit of the search and then
    one for the "refit". With several jobs those of a fold come together, when it ends.

    A KeyboardInterrupt keeps what the search has found: ``alphas_``, ``Cs_``, and
    ``scores_``, ``coefs_paths_`` and ``intercepts_paths_`` with NaN for the fits that
    have not ended, or with several jobs for the folds that have not. The models of one
    alpha are scored together, after the last of them. ``alpha_``, ``C_`` and
    ``best_score_`` are there if it was the final fit that was interrupted. Nothing is
    left of an earlier fit, and ``predict`` raises a NotFittedError. After an error the
    classifier is as it was before.

    References
    ----------
    Friedman, Hastie, Tibshirani, "Regularization paths for generalized linear models
    via coordinate descent", Journal of Statistical Software 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import EntmaxClassifierCV
    >>> from skprob.metrics import BrierScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EntmaxClassifierCV(Cs=[1, 10, 100], scoring=BrierScorer()).fit(X, y)
    >>> model.alpha_, model.C_
    (1.25, 10.0)
    >>> model.scores_.shape  # folds, alphas, Cs
    (5, 5, 3)
    >>> model.predict_proba(X[[0, 133]]).round(1)
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0.5]])
    """

    _parameter_constraints: dict = {
        **{
            name: allowed
            for name, allowed in BaseLinearClassifier._parameter_constraints.items()
            if name not in _NOT_A_CHOICE
        },
        "alphas": ["array-like"],
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        alphas=(1, 1.25, 1.5, 1.75, 2),
        Cs=10,
        *,
        cv=None,
        scoring=None,
        refit=True,
        n_jobs=None,
        margin=0.0,
        temperature=1.0,
        fit_intercept=True,
        class_weight=None,
        label_smoothing=0.0,
        target_type="auto",
        class_names=None,
        none_class=True,
        threshold="auto",
        sparse_output=False,
        solver="auto",
        tol=1e-4,
        max_iter=1000,
        verbose=0,
    ):
        self.alphas = alphas
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.margin = margin
        self.temperature = temperature
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

    @property
    def similarity(self):
        """Scores are W x + b."""
        return "dot"

    # Its models' predictions are computed together.
    _takes_arrays = False

    def _mapping(self):
        return Entmax(self.alpha_)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, **params):
        """Choose alpha and C, and fit a model with them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``EntmaxClassifier.fit``.
        y : array-like or sparse matrix
            Labels, label sets or distributions, likewise.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows in the fits; in the scores, too, if the
            scorer takes them (with metadata routing: if it requests them).
        **params : dict
            With metadata routing enabled, what the scorer and the splitter request,
            such as ``groups``.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed, a grid is empty, X, y or sample_weight are
            malformed, or a class is missing in the training rows of a fold.

        Warns
        -----
        ConvergenceWarning
            If fits stopped before the gradient was within ``tol``.
        UserWarning
            If rows of a label set have no label and ``none_class`` is False: they are
            left out.
        """
        _raise_for_params(params, self, "fit")
        if is_foreign(X):
            self._check_array_api()
        with unchanged_on_error(self) as after_interrupt:
            alphas, strengths = checked_alphas(self.alphas), checked_Cs(self.Cs)
            data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
            given = y
            X, y, weight = check_fit_data(self, X, y, sample_weight)
            names = column_names(given, y.shape, self.class_names)
            none_class = "auto" if self.none_class else False
            encoded = encode_target(
                y, self.target_type, X.dtype, names, none_class=none_class
            )
            template = self._template(encoded.kind)
            Cs = self._grid(template, encoded, alphas, strengths)
            routed = self._routed("fit", sample_weight, params)
            folds = self._folds(X, y, encoded, routed.splitter.split)
            results = Results.unknown(
                shape=(len(folds), *Cs.shape),
                coef_shape=(n_raw_predictions(encoded.n_scores, "simplex"), X.shape[1]),
                dtype=X.dtype,
            )
            paths = [
                partial(
                    scored_path,
                    template=template,
                    scorer=self._scorer(),
                    score_params=_check_method_params(
                        X, routed.scorer.score, indices=fold[1]
                    ),
                    data=(X, y, weight),
                    fold=fold,
                    classes=encoded.classes,
                    has_none=encoded.has_none,
                    alphas=alphas,
                    Cs=Cs,
                )
                for fold in folds
            ]
            context = self._init_callback_context(
                max_subtasks=results.scores.size + self.refit
            )
            context.call_on_fit_task_begin(estimator=self, **data)
            after_interrupt |= {
                "alphas_": alphas,
                "Cs_": Cs,
                "scores_": results.scores,
                "coefs_paths_": results.coefs,
                "intercepts_paths_": results.intercepts,
            }
            self._search(results, paths, context, data)
            choice = _best(alphas, Cs, results.scores, self.scoring)
            after_interrupt |= choice
            if self.refit:
                template.set_params(alpha=choice["alpha_"], C=choice["C_"])
                arrays = X, y, weight
                after_interrupt |= self._refitted(
                    template, arrays, encoded.classes, context, data
                )
            replace_fitted(self, after_interrupt)
            self._warn_of_failed_fits(results)
            context.call_on_fit_task_end(
                estimator=self, reconstruction_attributes=dict, **data
            )
        return self

    def score(self, X, y, sample_weight=None, **score_params):
        """Score of the predictions, by `scoring`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix
            Of the kind that was fitted.
        sample_weight : array-like of shape (n_samples,), default=None
        **score_params : dict
            With metadata routing enabled, what the scorer requests.

        Returns
        -------
        score : float
        """
        _raise_for_params(score_params, self, "score")
        check_is_fitted(self)
        if self.scoring is None:
            return super().score(X, y, sample_weight)
        routed = self._routed("score", sample_weight, score_params)
        return self._scorer()(self, X, y, **routed.scorer.score)

    def get_metadata_routing(self):
        """Which metadata go where.

        Returns
        -------
        routing : MetadataRouter
            ``sample_weight`` to the fits; what they request to scorer and splitter.
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

    def _scorer(self):
        return OwnScore() if self.scoring is None else get_scorer(self.scoring)

    def _routed(self, caller, sample_weight, params):
        """Metadata for the scorer and the splitter, in a call of fit or score."""
        if _routing_enabled():
            return process_routing(self, caller, sample_weight=sample_weight, **params)
        weighs = "sample_weight" in signature(self._scorer()).parameters
        to_scorer = {}
        if sample_weight is not None and weighs:
            to_scorer["sample_weight"] = sample_weight
        return manual_routing({"splitter": {}, "scorer": {"score": to_scorer}})

    def _template(self, kind):
        """An unfitted classifier with the parameters that it shares with this one."""
        shared = self.get_params(deep=False).keys() & EntmaxClassifier().get_params()
        params = {name: getattr(self, name) for name in shared}
        return EntmaxClassifier(**params | {"target_type": kind})

    def _grid(self, template, encoded, alphas, strengths):
        """Values of C for each alpha: what was given, or multiples of C="auto"."""
        units = np.ones(len(alphas))
        if isinstance(self.Cs, Integral):
            models = (template.set_params(alpha=a, C="auto") for a in alphas)
            units = np.array([model._model(encoded)["C_"] for model in models])
        return units[:, None] * strengths

    def _folds(self, X, y, encoded, split_params):
        """Training and test rows of each fold."""
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
        if not folds:
            raise ValueError(f"cv must make one or more folds; {self.cv!r} made none.")
        for i, (train, _) in enumerate(folds):
            if encoded.kind == "class":
                known = np.unique(encoded.target.columns[train])
                lost = np.delete(encoded.classes, known)
                if len(lost):
                    raise ValueError(
                        "Each training fold of cv must have a row of every class; fold "
                        f"{i} has none of {lost.tolist()}. Use fewer or stratified "
                        "folds."
                    )
        return folds

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

    def _refitted(self, model, arrays, classes, context, data):
        """What a model learns from all data, as fitted attributes."""
        task = context.subcontext(task_name="refit")
        with task.propagate_callback_context(model):
            task.call_on_fit_task_begin(estimator=self, **data)
            model.fit(*arrays)
        task.call_on_fit_task_end(estimator=self, **data)
        learnt = fitted_attributes(model)
        # Of the features it knows less than this one.
        del learnt["n_features_in_"]
        # It was given arrays, without the names of the columns of y.
        return learnt | {"classes_": classes}

    def _warn_of_failed_fits(self, results):
        failed = np.count_nonzero(~results.converged)
        if failed:
            warnings.warn(
                f"{failed} of the {results.scores.size} fits of the search did not "
                f"converge. Increase max_iter (now {self.max_iter}) or tol (now "
                f"{self.tol:.3g}), or lower Cs.",
                ConvergenceWarning,
                stacklevel=4,
            )


def _best(alphas, Cs, scores, scoring):
    """The pair of the highest mean score and that score, as fitted attributes."""
    mean = scores.mean(axis=0)
    if np.isnan(mean).all():
        raise ValueError(f"scoring={scoring!r} is NaN for every model.")
    best = np.argwhere(mean == np.nanmax(mean))
    # The first alpha stands for all: Cs in one column weigh alike.
    i, j = min(best, key=lambda place: (Cs[0, place[1]], alphas[place[0]]))
    return {
        "alpha_": float(alphas[i]),
        "C_": float(Cs[i, j]),
        "best_score_": float(mean[i, j]),
    }
