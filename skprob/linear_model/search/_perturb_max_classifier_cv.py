"""Perturb-max with the noise and C chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..._utils.checks import OneOf
from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...losses import LossLike
from ...mappings import PerturbMax
from .._docstrings import with_shared_sections
from ..classifiers import PerturbMaxClassifier
from ._path_search_cv import PathSearchCV


@with_shared_sections
class PerturbMaxClassifierCV(PathSearchCV):
    """Perturb-max classifier that chooses the noise and C by cross-validation.

    The parameters with the highest mean score over the folds are chosen; ties go to the
    smallest C, then to the largest l1_ratio, and then to the noise that comes first.
    With ``l1_ratios`` the search also chooses ``l1_ratio``, which makes coefficients
    zero. Each fit starts from the solution of a neighbour in the grid.

    Parameters
    ----------
    noises : sequence of str or distribution, default=("gumbel", "normal")
        Noises to choose from, each as for
        :class:`~skprob.linear_model.PerturbMaxClassifier`. The default compares
        multinomial logit, which is softmax, with multinomial probit.
    {search_parameters}
    loss : {"auto", "fenchel_young", "log", "cross_entropy"}, default="auto"
        The loss that is minimised. "auto" is the Fenchel-Young loss of the noise, or
        the log loss if the noise has no mean. "cross_entropy" is another name of "log".
    {parameters}
    {search_verbose}

    Attributes
    ----------
    noise_ : str or distribution
        The chosen noise.
    noises_ : list
        The noises, in the order given.
    {search_attributes}

    See Also
    --------
    PerturbMaxClassifier : The same for one noise and one C; it can also learn the shape
        of the noise.
    EntmaxClassifierCV : The same for entmax.

    Notes
    -----
    The scale of the noise need not be searched: dividing it by s has the
    same effect as multiplying the coefficients by s, which C controls. Compare noises
    by a score of the predictions, not by the minimised Fenchel-Young losses, which are
    on different scales for different noises.

    The log loss is convex for noises with a log-concave density: all named noises but
    Cauchy's. For other noises a fit of the search may end in another
    local minimum than a single fit.

    {search_notes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import PerturbMaxClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PerturbMaxClassifierCV(
    ...     ["gumbel", "normal"], Cs=[0.1, 10], cv=3, loss="log", scoring="neg_log_loss"
    ... ).fit(X, y)
    >>> model.noise_, model.C_
    ('normal', 10.0)
    >>> model.scores_.shape  # folds, noises, Cs
    (3, 2, 2)
    """

    _parameter_constraints: dict = {
        "noises": ["array-like"],
        "loss": [OneOf("auto", "fenchel_young", "log", "cross_entropy")],
        **PathSearchCV._parameter_constraints,
    }
    _parameter = "noise"

    def __init__(
        self,
        noises: Any = ("gumbel", "normal"),
        Cs: int | ArrayLike = 10,
        *,
        l1_ratios: ArrayLike | None = None,
        cv: Any = None,
        scoring: str | Callable[..., Any] | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
        loss: LossLike = "auto",
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
        self.noises = noises
        self.loss = loss

    def _values(self):
        noises = list(self.noises)
        if not noises:
            raise ValueError(f"noises must hold one or more; got {self.noises!r}.")
        for noise in noises:
            PerturbMax(noise).mapping._validate_params()
        return noises, range(len(noises))

    def _candidate(self, **params):
        return PerturbMaxClassifier(**params)
