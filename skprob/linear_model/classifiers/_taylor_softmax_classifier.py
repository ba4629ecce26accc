"""Linear classifier with Taylor softmax."""

from __future__ import annotations

from typing import Any, Literal

from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...losses import LossLike
from ...mappings import TaylorSoftmax
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier


@with_shared_sections
class TaylorSoftmaxClassifier(BaseLinearClassifier):
    r"""Linear classifier with Taylor softmax, which has heavier tails than softmax.

    The probabilities are in proportion to a Taylor polynomial of exp at the scores,
    and the loss is the log loss.

    Parameters
    ----------
    order : int, default=30
        Order of the polynomial: even, from 2 to 30. The paper uses 2, which has a worse
        Brier score than softmax. Order 30 differs from softmax only in the tails.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    SoftmaxClassifier : The limit of large orders.

    Notes
    -----
    The loss is not convex, so the result depends on the start, which is zero scores.

    A higher score may have a lower probability. ``predict`` returns the class with the
    highest probability, not with the highest score.

    For two classes the scores are (-u/2, u/2) with u = coef x + intercept. The
    probability of the second class is largest at a finite u and falls to 1/2 beyond it:
    with order 2 it is at most :math:`(2 + \sqrt 2) / 4`, about 0.854, at :math:`u = 2
    \sqrt 2`. With a higher order the largest probability is higher.

    References
    ----------
    A. de Brébisson and P. Vincent, "An exploration of softmax alternatives belonging
    to the spherical loss family", ICLR 2016 (order 2).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import TaylorSoftmaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TaylorSoftmaxClassifier(order=2).fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(1)
    array([[0.9, 0.1, 0. ],
           [0. , 0.3, 0.6]])
    """

    _parameter_constraints: dict = {
        "order": TaylorSoftmax._parameter_constraints["order"],
        **BaseLinearClassifier._parameter_constraints,
    }

    def __init__(
        self,
        order: int = 30,
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
        self.order = order

    def _mapping(self):
        return TaylorSoftmax(self.order)
