"""Linear classifier with entmax."""

from __future__ import annotations

from typing import Any, Literal

from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...losses import LossLike
from ...mappings import Entmax
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier


@with_shared_sections
class EntmaxClassifier(BaseLinearClassifier):
    """Linear classifier that rules classes out: probabilities can be exactly zero.

    The probabilities are entmax of the scores: ``alpha=1`` is softmax, ``alpha=2``
    sparsemax, and 1.5 a good first choice. Above 1, the larger alpha is, the more
    probabilities are exactly zero. Below 1 no probability is zero, and classes
    with low scores have larger probabilities than with softmax. The loss is the convex
    Fenchel-Young loss of the same alpha.

    Parameters
    ----------
    alpha : float, default=1.5
        Positive: 1 is softmax, 1.5 the default, 2 sparsemax. It is the exponent of the
        Tsallis entropy that defines the mapping.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    SoftmaxClassifier : The same with ``alpha=1``.
    SparsemaxClassifier : The same with ``alpha=2``.
    EntmaxClassifierCV : Alpha and C chosen by cross-validation.
    skprob.decision.ConformalSets : Sets that contain the true class as often as chosen.

    References
    ----------
    Peters, Niculae, Martins, "Sparse sequence-to-sequence models", ACL 2019.

    Blondel, Martins, Niculae, "Learning with Fenchel-Young losses", JMLR 2020.

    Examples
    --------
    Classes, some with a probability of exactly zero:

    >>> from sklearn.datasets import load_iris
    >>> from skprob import EntmaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EntmaxClassifier(alpha=1.5).fit(X, y)
    >>> model.predict(X[[0, 50, 133]])
    array([0, 1, 2])
    >>> model.predict_proba(X[[0, 50, 133]]).round(2)
    array([[1.  , 0.  , 0.  ],
           [0.  , 1.  , 0.  ],
           [0.  , 0.49, 0.51]])

    Label sets; the labels with a probability above the threshold are predicted:

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    >>> model = EntmaxClassifier(alpha=1.5, C=10.0, threshold=0.1).fit(X, Y)
    >>> model.predict(X)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1],
           [0, 0, 1]])
    >>> model.predict_proba(X[:2]).round(2)
    array([[0.92, 0.08, 0.  ],
           [0.55, 0.42, 0.03]])
    """

    _parameter_constraints: dict = {
        "alpha": Entmax._parameter_constraints["alpha"],
        **BaseLinearClassifier._parameter_constraints,
    }

    def __init__(
        self,
        alpha: float = 1.5,
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
        self.alpha = alpha

    def _mapping(self):
        return Entmax(self.alpha)
