"""Linear classifier with softmax."""

from __future__ import annotations

from typing import Any, Literal

from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...losses import LossLike
from ...mappings import Softmax
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier


@with_shared_sections
class SoftmaxClassifier(BaseLinearClassifier):
    """Multinomial logistic regression, the model of scikit-learn's LogisticRegression.

    At convergence its coefficients and probabilities are those of
    :class:`~sklearn.linear_model.LogisticRegression`. It can also learn label sets and
    distributions, and converges quickly on badly scaled features.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    sklearn.linear_model.LogisticRegression : The same model.
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Probabilities that can be exactly zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SoftmaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxClassifier().fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(2)
    array([[0.98, 0.02, 0.  ],
           [0.  , 0.44, 0.56]])
    """

    def __init__(
        self,
        *,
        C: float | Literal["auto", "loo"] = 1.0,
        l1_ratio: float = 0.0,
        select: Literal["coefficients", "features"] = "coefficients",
        penalty_factors: ArrayLike | dict[str, float] | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        target_type: str = "auto",
        class_names: ArrayLike | None = None,
        none_class: bool = True,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        loss: LossLike = "auto",
        similarity: Literal["dot", "cosine"] = "dot",
        margin: float | ArrayLike = 0.0,
        temperature: float = 1.0,
        label_smoothing: float = 0.0,
        solver: Literal["auto", "lbfgs", "newton-cg", "newton-cholesky"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(
            C=C,
            l1_ratio=l1_ratio,
            select=select,
            penalty_factors=penalty_factors,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            target_type=target_type,
            class_names=class_names,
            none_class=none_class,
            threshold=threshold,
            sparse_output=sparse_output,
            loss=loss,
            similarity=similarity,
            margin=margin,
            temperature=temperature,
            label_smoothing=label_smoothing,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            verbose=verbose,
        )

    def _mapping(self):
        return Softmax()
