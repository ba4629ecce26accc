"""The parameters that the linear classifiers share, and their meaning."""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal

from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    make_constraint,
)

from ..._utils.names import NamesChecked
from ..._utils.typing import ArrayLike
from ..._utils.validation import InstancesOf, RealInterval
from ...decision import DecisionRule, LeastCost, ThresholdLike
from ...losses import LOSSES, Loss, LossLike, MarginLoss, get_loss
from ...mappings import Temperature, get_mapping
from ...solvers import SOLVERS
from ...targets import KINDS, encode_target
from .._known_threshold import NAMES, checked_rule
from ..fit._inputs import Features, UnitRows
from ..fit._minimise import minimise
from ..fit._strength import automatic_C
from ..predict._one_vs_rest import one_vs_rest


class LinearParameters(NamesChecked, BaseEstimator, metaclass=ABCMeta):
    """The constructor of a linear classifier, and what follows from its parameters.

    A subclass says which mapping, in :meth:`_mapping`.
    """

    _parameter_constraints: dict = {
        "loss": [StrOptions({"auto", *LOSSES}), InstancesOf(Loss)],
        "similarity": [StrOptions({"dot", "cosine"})],
        "margin": [RealInterval(0, None, closed="left"), "array-like"],
        "temperature": [RealInterval(0, None, closed="neither")],
        "C": [RealInterval(0, None, closed="right"), StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "label_smoothing": [RealInterval(0, 1, closed="left")],
        "target_type": [StrOptions({"auto", *KINDS})],
        "class_names": ["array-like", None],
        "none_class": ["boolean"],
        "threshold": [
            RealInterval(0, 1, closed="left"),
            StrOptions(NAMES),
            InstancesOf(DecisionRule),
            InstancesOf(LeastCost),
            "array-like",
        ],
        "sparse_output": ["boolean"],
        "solver": [StrOptions(set(SOLVERS))],
        "tol": [RealInterval(0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    @abstractmethod
    def __init__(
        self,
        *,
        loss: LossLike = "auto",
        similarity: Literal["dot", "cosine"] = "dot",
        margin: float | ArrayLike = 0.0,
        temperature: float = 1.0,
        C: float | Literal["auto"] = 1.0,
        fit_intercept: bool = True,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        label_smoothing: float = 0.0,
        target_type: str = "auto",
        class_names: ArrayLike | None = None,
        none_class: bool = True,
        threshold: ThresholdLike = "auto",
        sparse_output: bool = False,
        solver: Literal["auto", "lbfgs", "newton-cg", "newton-cholesky"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        self.loss = loss
        self.similarity = similarity
        self.margin = margin
        self.temperature = temperature
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.label_smoothing = label_smoothing
        self.target_type = target_type
        self.class_names = class_names
        self.none_class = none_class
        self.threshold = threshold
        self.sparse_output = sparse_output
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
        # scikit-learn makes the objects of the constraints anew at every fit: ask it
        # only for the error. On little data that is 5 % of a fit.
        for name, constraints in _made_constraints(type(self)):
            value = getattr(self, name)
            for constraint in constraints:
                if constraint.is_satisfied_by(value):
                    break
            else:
                super()._validate_params()

    @abstractmethod
    def _mapping(self):
        """The mapping, or its name, that the parameters ask for."""

    def _loss(self):
        """The loss, or its name, that the parameters ask for."""
        return self.loss

    def _checked_mapping(self):
        mapping = clone(get_mapping(self._mapping()))
        mapping._validate_params()
        return self._at_temperature(mapping)

    def _at_temperature(self, mapping):
        is_plain = self.temperature == 1
        return mapping if is_plain else Temperature(mapping, self.temperature)

    def _checked_loss(self, mapping):
        loss = get_loss(self._loss(), mapping)
        if not isinstance(self.margin, Real) or self.margin != 0:
            loss = MarginLoss(loss, self.margin)
            loss.check()
        return loss

    @property
    def _polytope(self):
        return get_mapping(self._mapping()).polytope

    def _is_pair(self, encoded):
        """Whether two classes have one raw prediction, the difference of scores."""
        if encoded.n_scores != 2 or self._polytope == "simplex":
            return encoded.n_scores == 2
        has_pair = self._checked_mapping().pair_mapping is not None
        return has_pair and encoded.kind == "class"

    def _encoded(self, y, dtype, classes=None, none_class="auto"):
        """The encoded target of a checked y."""
        how = self._polytope, none_class if self.none_class else False
        return encode_target(y, self.target_type, dtype, classes, *how)

    def _model(self, rows):
        """Fitted attributes that do not depend on the coefficients."""
        mapping = self._checked_mapping()
        loss = self._checked_loss(mapping)
        if rows.kind == "class" and mapping.polytope == "cube":
            mapping = one_vs_rest(mapping, rows.n_scores)
            loss = loss.with_mapping(mapping)
        is_labels = rows.kind == "class"
        loss = loss.for_classes(rows.n_scores, rows.classes if is_labels else None)
        if self.similarity == "dot" and mapping.is_scale_invariant:
            # Scores may be as small as the penalty wants, at the same loss.
            C = math.inf
        elif isinstance(self.C, str):
            C = automatic_C(loss, rows.n_scores)
        else:
            C = float(self.C)
        attributes = {
            "classes_": rows.classes,
            "target_type_": rows.kind,
            "mapping_": mapping,
            "loss_": loss,
            "has_none_class_": rows.has_none,
            "C_": C,
        }
        if isinstance(self.threshold, LeastCost):
            rule = checked_rule(self.threshold, rows.classes, rows.kind)
            attributes["threshold_"] = rule
        return attributes

    def _inputs(self, attributes):
        """The transformation of rows of X, for a model with fitted attributes."""
        return UnitRows() if self.similarity == "cosine" else Features()

    def _most_iterations(self, objectives):
        """The largest number of iterations; None if it is not known."""
        return len(objectives) * max(self.max_iter, 1)

    def _minimise(self, objectives, model, parameters, progress):
        """Minimise objectives one after the other: the last solution.

        If the mapping is learnt, too, objectives and model are changed in place.
        """
        how = {"progress": progress, **self._solver_options}
        return minimise(objectives, parameters, **how)

    @property
    def _solver_options(self):
        """Arguments of the solver."""
        return {"solver": self.solver, "tol": self.tol, "max_iter": self.max_iter}

    #: Whether `fit` takes arrays of other libraries, if mapping and loss do.
    _takes_arrays = True

    def _check_array_api(self):
        """Raise where X may not be an array of another library."""
        found = self
        if self._takes_arrays:
            mapping = self._checked_mapping()
            loss = self._checked_loss(mapping)
            found = loss if mapping.supports_array_api else mapping
            if found.supports_array_api:
                return
        raise ValueError(
            f"X must be a NumPy array for {found!r}, which takes no other arrays under "
            "array_api_dispatch=True: convert it, for instance by np.asarray(X)."
        )

    def _supports_array_api(self):
        try:
            mapping = get_mapping(self._mapping()) if self._takes_arrays else None
            if mapping is None or not mapping.supports_array_api:
                return False
            return get_loss(self._loss(), mapping).supports_array_api
        except ValueError:  # Which the fit says more of.
            return False


@cache
def _made_constraints(cls):
    """The constraints of a class's parameters, as objects of scikit-learn."""
    names = cls._get_param_names()
    return [
        (name, [make_constraint(constraint) for constraint in allowed])
        for name, allowed in cls._parameter_constraints.items()
        if name in names and allowed != "no_validation"
    ]


def constraints_but(*names):
    """The constraints of the parameters, without those of some."""
    every = LinearParameters._parameter_constraints
    return {name: allowed for name, allowed in every.items() if name not in names}
