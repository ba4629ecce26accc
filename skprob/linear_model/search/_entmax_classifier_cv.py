"""Entmax with alpha and C chosen by cross-validation along warm-started paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from .._docstrings import with_shared_sections
from ..classifiers import EntmaxClassifier
from ._grid import checked_alphas
from ._path_search_cv import PathSearchCV


@with_shared_sections
class EntmaxClassifierCV(PathSearchCV):
    """Linear classifier that chooses alpha and C by cross-validation.

    It is the counterpart of :class:`~sklearn.linear_model.LogisticRegressionCV`. Since
    ``alpha=1`` is softmax and ``alpha=2`` sparsemax, it also chooses the mapping.

    The parameters with the highest mean score over the folds are chosen; ties go to the
    smallest C, then to the largest l1_ratio, and then to the smallest alpha. With
    ``l1_ratios`` the search also chooses ``l1_ratio``, which makes coefficients zero.

    The result is that of ``GridSearchCV(EntmaxClassifier(), ...)``, in less time: each
    fit starts from the solution of a neighbour in the grid. Only the thresholds of
    label sets are chosen by other rows (see Notes).

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(1, 1.25, 1.5, 1.75, 2)
        Values of alpha to choose from, each positive: softmax is 1, sparsemax is 2.
    {search_parameters}
    {parameters}
    {search_verbose}

    Attributes
    ----------
    alpha_ : float
        The chosen alpha.
    alphas_ : ndarray of shape (n_alphas,)
        The values of alpha, in the order given.
    {search_attributes}

    See Also
    --------
    EntmaxClassifier : The same for one alpha and one C.
    sklearn.linear_model.LogisticRegressionCV : Softmax only.

    Notes
    -----
    {search_notes}

    References
    ----------
    Friedman, Hastie, Tibshirani, "Regularization paths for generalized linear models
    via coordinate descent", Journal of Statistical Software 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import EntmaxClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EntmaxClassifierCV(Cs=[1, 10, 100]).fit(X, y)
    >>> model.alpha_, model.C_
    (1.25, 10.0)
    >>> model.scores_.shape  # folds, alphas, Cs
    (5, 5, 3)
    >>> model.predict_proba(X[[0, 133]]).round(1)
    array([[1. , 0. , 0. ],
           [0. , 0.5, 0.5]])

    Few coefficients:

    >>> model = EntmaxClassifierCV([1.5], Cs=5, l1_ratios=[0.5, 1]).fit(X, y)
    >>> model.scores_.shape  # folds, alphas, l1_ratios, Cs
    (5, 1, 2, 5)
    """

    _parameter_constraints: dict = {
        "alphas": ["array-like"],
        **PathSearchCV._parameter_constraints,
    }
    _parameter = "alpha"

    def __init__(
        self,
        alphas: ArrayLike = (1, 1.25, 1.5, 1.75, 2),
        Cs: int | ArrayLike = 10,
        *,
        l1_ratios: ArrayLike | None = None,
        cv: Any = None,
        scoring: str | Callable[..., Any] | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
        select: Literal["coefficients", "features"] = "coefficients",
        penalty_factors: ArrayLike | dict[str, float] | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        target_type: str = "auto",
        class_names: ArrayLike | None = None,
        none_class: bool = True,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        margin: float | ArrayLike = 0.0,
        temperature: float = 1.0,
        label_smoothing: float = 0.0,
        solver: Literal["auto", "lbfgs", "newton-cg", "newton-cholesky"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(
            Cs=Cs,
            l1_ratios=l1_ratios,
            cv=cv,
            scoring=scoring,
            refit=refit,
            n_jobs=n_jobs,
            select=select,
            penalty_factors=penalty_factors,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            target_type=target_type,
            class_names=class_names,
            none_class=none_class,
            threshold=threshold,
            sparse_output=sparse_output,
            margin=margin,
            temperature=temperature,
            label_smoothing=label_smoothing,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            verbose=verbose,
        )
        self.alphas = alphas

    def _values(self):
        alphas = checked_alphas(self.alphas)
        return alphas, np.argsort(alphas)

    def _candidate(self, **params):
        return EntmaxClassifier(**params)
