"""Linear classifier with a marginal for each label."""

from __future__ import annotations

from typing import Any, Literal

from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...mappings import Sigmoid
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier


@with_shared_sections
class SigmoidClassifier(BaseLinearClassifier):
    """Logistic regression for each label in one fit: multi-label or one-vs-rest.

    With ``alpha=1`` it is one logistic regression for each label, the model of
    :class:`~sklearn.multiclass.OneVsRestClassifier` with
    :class:`~sklearn.linear_model.LogisticRegression`, in one fit. With a larger alpha
    the probabilities can be exactly zero and exactly one. They are marginals: each is
    the probability that the label is in the set, whatever the other labels are. Rows
    without a label are used in the fit, and empty sets can be predicted.

    Class labels are learnt one-vs-rest. ``predict`` returns the class with the highest
    score, and ``predict_proba`` the marginals of each row divided by their sum, or
    :func:`~skprob.mappings.entmax` of the scores if all marginals of the row are zero.
    Two classes have one row of coefficients, and ``mapping_`` is
    :class:`~skprob.mappings.Entmax`, which is the same model for two classes.
    Distributions as ``y`` are an error.

    Parameters
    ----------
    alpha : float, default=1.0
        Exponent of the Tsallis entropy that defines the mapping, at least 1; with 2
        the probabilities are hard sigmoids of the scores.
    budget : (float, float) or None, default=None
        Lower and upper bound of the sum of the probabilities of a row, which is the
        expected number of labels. The number of labels of each training row must be
        within the bounds; for class labels it is 1. None means no bounds.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Probabilities of classes, which sum to one.
    sklearn.multiclass.OneVsRestClassifier : One fit for each class or label.

    References
    ----------
    M. Blondel, "Structured prediction with projection oracles", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob import SigmoidClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> Y = np.array([[0, 0], [1, 0], [1, 1], [1, 1], [1, 1]])
    >>> model = SigmoidClassifier(alpha=2.0, C=10.0, threshold=0.5).fit(X, Y)
    >>> model.predict(X)
    array([[0, 0],
           [1, 0],
           [1, 1],
           [1, 1],
           [1, 1]])
    >>> model.predict_proba(X).round(2)[[0, 1, 4]]
    array([[0.14, 0.  ],
           [0.86, 0.14],
           [1.  , 1.  ]])

    Class labels, one-vs-rest:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SigmoidClassifier().fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(2)
    array([[0.91, 0.09, 0.  ],
           [0.  , 0.25, 0.75]])
    """

    _parameter_constraints: dict = {
        **Sigmoid._parameter_constraints,
        **BaseLinearClassifier._parameter_constraints,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        budget: tuple[float, float] | None = None,
        C: float | Literal["auto", "loo"] = "auto",
        l1_ratio: float = 0.0,
        select: Literal["coefficients", "features"] = "coefficients",
        penalty_factors: ArrayLike | dict[str, float] | None = None,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        class_names: ArrayLike | None = None,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        similarity: Literal["dot", "cosine"] = "dot",
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
            class_names=class_names,
            threshold=threshold,
            sparse_output=sparse_output,
            similarity=similarity,
            temperature=temperature,
            label_smoothing=label_smoothing,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.alpha = alpha
        self.budget = budget

    def _mapping(self):
        return Sigmoid(self.alpha, self.budget)
