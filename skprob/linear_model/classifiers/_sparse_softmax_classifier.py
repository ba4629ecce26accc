"""Linear classifier with sparse softmax."""

from __future__ import annotations

from typing import Any, Literal

from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...losses import SparseSoftmaxLoss
from ...mappings import SparseSoftmax
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier


@with_shared_sections
class SparseSoftmaxClassifier(BaseLinearClassifier):
    """Linear classifier with softmax over the k best classes, zero for all others.

    A fit first minimises the log loss of softmax over all classes. From that solution
    it minimises the loss of softmax over the kept classes,
    :class:`~skprob.losses.SparseSoftmaxLoss`.

    Parameters
    ----------
    k : int or None, default="auto"
        Number of classes that are kept, at least 1; if there are fewer, all are kept.
        "auto" is 10, or None if p is given. Exactly one of k and p must be given.
    p : float, default=None
        Sum of the softmax probabilities that the kept classes must reach, in (0, 1].
    outside : {"published", "add", "grow", "full", "skip"}, default="published"
        Treatment in training of a row without a label among the kept classes:

        - "published": none, the loss of the paper;
        - "add": its labels are kept as well;
        - "grow": all classes with at least the score of its best label are kept;
        - "full": all classes are kept;
        - "skip": the row is left out.
    pretrain : "softmax" or None, default="softmax"
        Loss that is minimised first: the log loss of softmax, or none. A fit with
        ``warm_start=True`` that continues an earlier fit leaves it out.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Exact zeros, with a loss that is smooth.

    Notes
    -----
    ``n_iter_`` counts the iterations of both phases, each of at most ``max_iter``.

    The gradient is discontinuous where the kept classes change. With `k` and
    "published" the loss is convex, and the fit ends where a convex combination of
    gradients at points nearby is within ``tol``: ``gradient_norm_`` is that of the
    combination. With `p`, or another `outside`, the loss itself jumps. A fit can end
    with a warning where no step lowers the objective although the gradient is larger
    than ``tol``. The model is usable.

    With a small k or p and a strong penalty all coefficients may be zero. With k = 1
    the loss is that of the perceptron, which is zero where all scores are zero.
    "skip" may leave out most rows, with k = 1 all of them.

    References
    ----------
    S. Sun, Z. Zhang, B. Huang, P. Lei, J. Su, S. Pan and J. Cao, "Sparse-softmax: a
    simpler and faster alternative softmax transformation", arXiv:2112.12433, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SparseSoftmaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseSoftmaxClassifier(k=2).fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(3)
    array([[0.981, 0.019, 0.   ],
           [0.   , 0.436, 0.564]])
    """

    _parameter_constraints: dict = {
        **SparseSoftmax._parameter_constraints,
        "outside": SparseSoftmaxLoss._parameter_constraints["outside"],
        "pretrain": SparseSoftmaxLoss._parameter_constraints["pretrain"],
        **BaseLinearClassifier._parameter_constraints,
    }
    # The loss is chosen by `outside` and `pretrain`.
    del _parameter_constraints["loss"]

    def __init__(
        self,
        k: int | Literal["auto"] | None = "auto",
        p: float | None = None,
        *,
        outside: Literal["published", "add", "grow", "full", "skip"] = "published",
        pretrain: str | None = "softmax",
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
        self.k = k
        self.p = p
        self.outside = outside
        self.pretrain = pretrain

    def _mapping(self):
        return SparseSoftmax(self.k, self.p)

    def _loss(self):
        return SparseSoftmaxLoss(outside=self.outside, pretrain=self.pretrain)
