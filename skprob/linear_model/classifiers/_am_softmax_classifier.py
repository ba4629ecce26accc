"""Linear classifier with cosine scores and an additive margin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from ..._utils.checks import OneOf, RealInterval
from ..._utils.typing import ArrayLike
from ...decision import ThresholdLike
from ...mappings import Softmax
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier, constraints_but
from ..predict import StandardizedFeatures, StandardUnitRows

# Smallest median distance of the unit rows from their median without a warning, where
# the temperature is not lower. With one row of iris, wine, breast cancer or digits
# times 30 to 1,000,000, the accuracy on the other rows is at least 0.06 lower where
# there is a warning. With no such row the distance is above 0.37.
_LEAST_SPREAD = 0.03


@with_shared_sections
class AMSoftmaxClassifier(BaseLinearClassifier):
    """Classifier by cosines with a margin, for feature vectors of networks (CosFace).

    In additive-margin softmax, also called CosFace, the scores are the cosines between
    a row and the class vectors. In training the target's cosine is lowered by the
    margin, and all cosines are divided by the temperature before softmax is applied. A
    margin increases the angles between the classes. Predictions use the cosines without
    the margin.

    It was developed for vectors that a neural network has learnt, whose angles are
    meaningful. The angles between rows of a table depend on the origin and the unit of
    each feature. So the features are standardised by default, and a constant feature is
    added, which distinguishes rows near the mean from others. With ``standardize=False,
    constant=0`` it is ``LinearClassifier("softmax", similarity="cosine", margin=margin,
    temperature=temperature)``.

    Parameters
    ----------
    margin : float or array-like of shape (n_classes, n_classes), default=0.0
        Number that is subtracted from the target's cosine in training, or costs that
        are added to the cosines of the other classes: the row is the true class. The
        paper has 0.35 for faces; on tables of features smaller margins are better.
    temperature : float, default=0.03
        Positive number by which the cosines are divided. The scale s of the paper is
        1 / `temperature`.
    standardize : bool or "auto", default="auto"
        Whether the features are centred by their weighted means and divided by their
        standard deviations. "auto" is True for a dense X and False for a sparse one,
        which would not stay sparse. One row of huge values gives all other rows nearly
        the same direction: correct or clip such values first. For a dense X in memory
        there is a warning if most directions differ by less than 0.03, or than
        `temperature` if it is lower.
    constant : float, default=0.5
        Constant that is added as one more feature, in units of the root mean square of
        the norms of the rows; 0 for none.
    {parameters}

    Attributes
    ----------
    feature_mean_ : ndarray of shape (n_features,)
        The means that are subtracted from the features.
    feature_scale_ : ndarray of shape (n_features,)
        The standard deviations that the features are then divided by.
    constant_ : float
        The value of the constant feature. ``intercept_`` holds its weights: each row of
        ``coef_`` with its intercept has norm one.
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping and loss with cosines and a margin.

    References
    ----------
    Wang, Cheng, Liu, Liu, "Additive margin softmax for face verification", IEEE
    Signal Processing Letters 2018.

    Wang et al., "CosFace: large margin cosine loss for deep face recognition", CVPR
    2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skprob import AMSoftmaxClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AMSoftmaxClassifier().fit(X, y)
    >>> model.decision_function(X[:1]).round(2)
    array([[...]])
    """

    _parameter_constraints: dict = {
        **constraints_but(
            *("loss", "similarity", "fit_intercept"),
            *("C", "l1_ratio", "select", "penalty_factors"),
        ),
        "standardize": ["boolean", OneOf("auto")],
        "constant": [RealInterval(0, None, closed="left")],
    }

    def __init__(
        self,
        margin: float | ArrayLike = 0.0,
        temperature: float = 0.03,
        *,
        standardize: bool | Literal["auto"] = "auto",
        constant: float = 0.5,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        target_type: str = "auto",
        class_names: ArrayLike | None = None,
        none_class: bool = True,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        label_smoothing: float = 0.0,
        solver: Literal["auto", "lbfgs", "newton-cg", "newton-cholesky"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(
            class_weight=class_weight,
            target_type=target_type,
            class_names=class_names,
            none_class=none_class,
            threshold=threshold,
            sparse_output=sparse_output,
            similarity="cosine",
            margin=margin,
            temperature=temperature,
            label_smoothing=label_smoothing,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.standardize = standardize
        self.constant = constant

    def _mapping(self):
        return Softmax()

    def _fit_spec(self):
        # Many class vectors have about the same loss without a margin. The result of
        # L-BFGS then depends on rounding errors: rows with a weight of two, and rows
        # that occur twice, have different models.
        solver = "newton-cg" if self.solver == "auto" else self.solver
        unit_rows = StandardizedFeatures(
            self.standardize,
            self.constant,
            least_spread=min(self.temperature, _LEAST_SPREAD),
        )
        return replace(super()._fit_spec(), unit_rows=unit_rows, solver=solver)

    def _fitted_unit_rows(self):
        return StandardUnitRows(self.feature_mean_, self.feature_scale_, self.constant_)
