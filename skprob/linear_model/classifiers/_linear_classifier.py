"""Linear classifier with any mapping and any loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from sklearn.base import clone

from ..._utils.checks import InstancesOf, OneOf
from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...losses import LossLike
from ...mappings import (
    MAPPINGS,
    Mapping,
    MappingLike,
    NestedSoftmax,
    Temperature,
    get_mapping,
)
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier
from ._log_loss import check_log_loss


@with_shared_sections
class LinearClassifier(BaseLinearClassifier):
    r"""Linear classifier with any mapping from scores to probabilities, and any loss.

    The scores :math:`W x + b` of the classes become probabilities through a mapping,
    and the coefficients minimise

    .. math:: \frac{1}{\sum_i s_i} \sum_i s_i\, \ell(W x_i + b; q_i)
        + \frac{1}{2 C \sum_i s_i} \|W\|^2,

    the objective of :class:`~sklearn.linear_model.LogisticRegression` with a loss
    :math:`\ell` that you choose; :math:`s_i` are the weights of the rows and
    :math:`q_i` their targets, distributions over the classes.

    Parameters
    ----------
    mapping : str, Mapping or callable, default="softmax"
        Mapping from scores to probabilities: an object or a name of
        :mod:`skprob.mappings`, such as "softmax", "sparsemax" or "entmax"; or any
        function of an array of scores of shape (n_samples, n_classes). In a search the
        parameters of a mapping have names such as ``mapping__alpha``.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SoftmaxClassifier : Positive probabilities; the multinomial logistic regression.
    SparsemaxClassifier : Many probabilities exactly zero.
    EntmaxClassifier : Between the two, by a parameter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import LinearClassifier
    >>> from skprob.mappings import Entmax
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearClassifier(mapping=Entmax(alpha=1.5)).fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(3)
    array([[0.999, 0.001, 0.   ],
           [0.   , 0.456, 0.544]])
    """

    _parameter_constraints: dict = {
        "mapping": [OneOf(*MAPPINGS), InstancesOf(Mapping), callable],
        **BaseLinearClassifier._parameter_constraints,
    }

    def __init__(
        self,
        mapping: MappingLike = "softmax",
        loss: LossLike = "auto",
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
        self.mapping = mapping

    def _mapping(self):
        return get_mapping(self.mapping)

    @property
    def _learns_scales(self):
        """Whether scales of nested softmax are estimated."""
        mapping = self.mapping
        if isinstance(mapping, Temperature):
            mapping = mapping.mapping
        return isinstance(mapping, NestedSoftmax) and mapping.learn_noise

    def _loss(self):
        return "log" if self._learns_scales and self.loss == "auto" else self.loss

    def _fit_spec(self):
        if self._learns_scales:
            self._check_learning()
        spec = super()._fit_spec()
        if not self._learns_scales:
            return spec
        from ..fit import ScaleSearch  # Imported when used.

        start = clone(self.mapping)
        if self.warm_start and hasattr(self, "mapping_"):
            start.set_params(scales=self._last_scales())
        return replace(spec, noise=ScaleSearch(start, self.temperature))

    def _last_scales(self):
        """Scales of the last fit, for the nests that the mapping has now."""
        last = self.mapping_
        last = last.mapping if isinstance(last, Temperature) else last
        scales = last.scales if isinstance(last, NestedSoftmax) else []
        n_nests = self.mapping.n_nests
        # Nests in lists come before those of classes that are in no list.
        return scales[:n_nests] if len(scales) >= n_nests else self.mapping.scales

    def _check_learning(self):
        """Raise if scales cannot be estimated with the other parameters."""
        if isinstance(self.mapping, Temperature):
            raise ValueError(
                "mapping must be a NestedSoftmax itself if learn_noise=True: use the "
                f"temperature of the classifier; got {self.mapping!r}."
            )
        check_log_loss(self._loss())
        if self.similarity != "dot":
            raise ValueError(
                f"learn_noise=True needs similarity='dot'; got {self.similarity!r}."
            )
