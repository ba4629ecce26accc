"""Linear classifier of label sets with a marginal for each label."""

from __future__ import annotations

from typing import Any, Literal

from .._typing import ArrayLike
from ..decision import ThresholdLike
from ..mappings import Sigmoid
from ._base import BaseLinearClassifier
from ._docstrings import with_shared_sections


@with_shared_sections
class SigmoidClassifier(BaseLinearClassifier):
    """Linear classifier of label sets: a probability for each label.

    With ``alpha=1`` it is one logistic regression for each label, as
    :class:`~sklearn.multiclass.OneVsRestClassifier` of
    :class:`~sklearn.linear_model.LogisticRegression` has them, in one fit. Above it
    the probabilities can be exactly zero and exactly one. They are marginals: how
    likely a label is to be in the set, whichever other labels are. Rows without a label
    take part in the fit, and can be predicted.

    Parameters
    ----------
    alpha : float, default=1.0
        The exponent of the Tsallis entropy behind the mapping, at least 1; with 2 the
        probabilities are hard sigmoids of the scores.
    budget : (float, float) or None, default=None
        Least and most that the probabilities of a row sum to: bounds of the expected
        number of labels, which the sets of the training data must keep to. None stands
        for no bounds.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Probabilities of classes, which sum to one.

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
        similarity: Literal["dot", "cosine"] = "dot",
        temperature: float = 1.0,
        C: float | Literal["auto"] = "auto",
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        label_smoothing: float = 0.0,
        class_names: ArrayLike | None = None,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        solver: Literal["auto", "lbfgs", "newton-cg"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(
            similarity=similarity,
            temperature=temperature,
            C=C,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            label_smoothing=label_smoothing,
            class_names=class_names,
            threshold=threshold,
            sparse_output=sparse_output,
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
