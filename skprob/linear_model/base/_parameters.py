"""The parameters that the linear classifiers share: defaults and allowed values."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any, Literal

from sklearn.base import BaseEstimator

from ..._utils.checks import InstancesOf, IntegerInterval, OneOf, RealInterval
from ..._utils.typing import ArrayLike
from ...decision import DecisionRule, LeastCost, ThresholdLike
from ...losses import LOSSES, Loss, LossLike
from ...solvers import SOLVERS
from ...targets import TARGET_TYPES
from .._known_threshold import THRESHOLD_NAMES
from ._parameter_advice import AdviceOnParameters


class LinearParameters(AdviceOnParameters, BaseEstimator, metaclass=ABCMeta):
    """The constructor of a linear classifier, and the allowed values of parameters."""

    _parameter_constraints: dict = {
        "loss": [OneOf("auto", *LOSSES), InstancesOf(Loss)],
        "similarity": [OneOf("dot", "cosine")],
        "margin": [RealInterval(0, None, closed="left"), "array-like"],
        "temperature": [RealInterval(0, None, closed="neither")],
        "C": [RealInterval(0, None, closed="right"), OneOf("auto", "loo")],
        "l1_ratio": [RealInterval(0, 1, closed="both")],
        "select": [OneOf("coefficients", "features")],
        "penalty_factors": ["array-like", dict, None],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, OneOf("balanced"), None],
        "label_smoothing": [RealInterval(0, 1, closed="left")],
        "target_type": [OneOf("auto", *TARGET_TYPES)],
        "class_names": ["array-like", None],
        "none_class": ["boolean"],
        "threshold": [
            RealInterval(0, 1, closed="left"),
            OneOf(*THRESHOLD_NAMES),
            InstancesOf(DecisionRule),
            InstancesOf(LeastCost),
            "array-like",
        ],
        "sparse_output": ["boolean"],
        "solver": [OneOf(*SOLVERS)],
        "tol": [RealInterval(0, None, closed="left")],
        "max_iter": [IntegerInterval(0, None, closed="left")],
        "warm_start": ["boolean"],
        "verbose": [IntegerInterval(0, None, closed="left"), "boolean"],
    }

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
        self.C = C
        self.l1_ratio = l1_ratio
        self.select = select
        self.penalty_factors = penalty_factors
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.target_type = target_type
        self.class_names = class_names
        self.none_class = none_class
        self.threshold = threshold
        self.sparse_output = sparse_output
        self.loss = loss
        self.similarity = similarity
        self.margin = margin
        self.temperature = temperature
        self.label_smoothing = label_smoothing
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose


def constraints_but(*names):
    """The constraints of all parameters but those with these names."""
    every = LinearParameters._parameter_constraints
    return {name: allowed for name, allowed in every.items() if name not in names}
