"""The parameters that the linear classifiers share, and their meaning."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from functools import cache
from inspect import signature
from numbers import Real
from typing import Any, Literal

from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import make_constraint

from ..._utils.checks import InstancesOf, IntegerInterval, OneOf, RealInterval
from ..._utils.typing import ArrayLike
from ...decision import DecisionRule, LeastCost, ThresholdLike
from ...losses import LOSSES, Loss, LossLike, MarginLoss, get_loss, matching_loss
from ...mappings import Temperature
from ...solvers import SOLVERS
from ...targets import TARGET_TYPES
from .._known_threshold import THRESHOLD_NAMES
from ..fit import FitSpec
from ..predict import UnitRows
from ._parameter_advice import AdviceOnParameters


class LinearParameters(AdviceOnParameters, BaseEstimator, metaclass=ABCMeta):
    """The constructor of a linear classifier, and the ``FitSpec`` of its parameters.

    A subclass says which mapping, in :meth:`_mapping`.
    """

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

    @abstractmethod
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

    @classmethod
    @cache
    def _get_param_names(cls):
        # scikit-learn would inspect the constructor at every fit and clone, which on
        # little data takes as long as a step of the solver.
        return super()._get_param_names()

    def _validate_params(self):
        # scikit-learn makes the objects of the constraints anew at every fit, and tests
        # defaults too: it is called only for the error. On little data that is 5 % of
        # a fit.
        values = vars(self)
        for name, default, constraints in _made_constraints(type(self)):
            value = values[name] if name in values else getattr(self, name)
            if value is default:
                continue
            if not any(allowed.is_satisfied_by(value) for allowed in constraints):
                super()._validate_params()

    def _params_of_fit(self):
        """The parameters, to be kept as the attribute ``fitted_params_`` of a fit.

        Objects with parameters, such as mappings, are cloned: `set_params` changes
        them.
        """
        params = self.get_params(deep=False)
        for name, value in params.items():
            if hasattr(value, "get_params") and not isinstance(value, type):
                params[name] = clone(value)
        return params

    @abstractmethod
    def _mapping(self):
        """The mapping that the parameters describe."""

    def _loss(self):
        """The loss, or its name, that the parameters describe."""
        return self.loss

    def _fit_spec(self):
        """The checked parameters of a fit, as plain data."""
        mapping = clone(self._mapping())
        if self.temperature != 1:
            mapping._validate_params()
            mapping = Temperature(mapping, self.temperature)
        loss = self._loss()
        if isinstance(loss, str) and loss == "auto":
            loss = matching_loss(mapping)
            loss.check()  # It checks the mapping, too.
        else:
            loss = get_loss(loss, mapping)
        if not isinstance(self.margin, Real) or self.margin != 0:
            loss = MarginLoss(loss, self.margin)
            loss.check()
        if self.similarity == "cosine":
            self._check_without_penalty()
        return FitSpec(
            name=type(self).__name__,
            mapping=mapping,
            loss=loss,
            C=self.C,
            l1_ratio=float(self.l1_ratio),
            select=self.select,
            penalty_factors=self.penalty_factors,
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            label_smoothing=float(self.label_smoothing),
            target_type=self.target_type,
            class_names=self.class_names,
            none_class=self.none_class,
            threshold=self.threshold,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            unit_rows=UnitRows() if self.similarity == "cosine" else None,
        )

    def _check_without_penalty(self):
        """Raise where a penalty is chosen for scores that have none."""
        if self.l1_ratio > 0 or self.penalty_factors is not None:
            raise ValueError(
                "similarity='cosine' has no penalty: l1_ratio must be 0 and "
                f"penalty_factors None; got l1_ratio={self.l1_ratio:g} and "
                f"penalty_factors={self.penalty_factors!r}."
            )


@cache
def _made_constraints(cls):
    """Names, defaults and constraints (as objects) of the parameters of a class."""
    parameters = signature(cls.__init__).parameters
    return [
        (name, parameters[name].default, [make_constraint(each) for each in allowed])
        for name, allowed in cls._parameter_constraints.items()
        if name in parameters and allowed != "no_validation"
    ]


def constraints_but(*names):
    """The constraints of all parameters but those with these names."""
    every = LinearParameters._parameter_constraints
    return {name: allowed for name, allowed in every.items() if name not in names}
