"""Linear classifier with sparsemax."""

from __future__ import annotations

from typing import Any, Literal

from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...losses import LossLike
from ...mappings import Sparsemax
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier


@with_shared_sections
class SparsemaxClassifier(BaseLinearClassifier):
    """Linear classifier that names few possible classes: many probabilities are zero.

    The probabilities are the Euclidean projection of the scores onto the simplex,
    and the loss is the convex sparsemax loss.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Between softmax and sparsemax, by a parameter.

    References
    ----------
    Martins, Astudillo, "From softmax to sparsemax: a sparse model of attention and
    multi-label classification", ICML 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SparsemaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparsemaxClassifier().fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(3)
    array([[1.   , 0.   , 0.   ],
           [0.   , 0.463, 0.537]])
    """

    def __init__(
        self,
        *,
        C: float | Literal["auto", "loo"] = "auto",
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
        return Sparsemax()
