"""From the parameters of a classifier to the specification of a fit."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from inspect import signature
from numbers import Real

from sklearn.base import clone
from sklearn.utils._param_validation import make_constraint

from ..._utils.arrays import to_numpy
from ...losses import MarginLoss, get_loss, matching_loss
from ...mappings import Temperature
from ..fit import FitSpec, LastFit
from ..predict import UnitRows
from ._parameters import LinearParameters


class CheckedParameters(LinearParameters):
    """Checks of parameters, and the ``FitSpec`` that they describe.

    A subclass says which mapping, in :meth:`_mapping`.
    """

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

    def _for_features(self, spec):
        """The spec with names of the features, and checked penalty factors of them."""
        names = getattr(self, "feature_names_in_", None)
        if names is None and spec.penalty_factors is None:
            return spec
        return spec.for_features(self.n_features_in_, names)

    def _last_fit(self):
        """The coefficients from which `fit` starts."""
        coef, intercept = to_numpy(self.coef_), to_numpy(self.intercept_)
        unit_rows = self._fitted_unit_rows()
        if unit_rows is not None:
            coef, intercept = unit_rows.from_model(coef, intercept)
        if not hasattr(self, "classes_"):
            # They were assigned to an unfitted model: they are for the new classes.
            return LastFit(coef, intercept, None, None)
        return LastFit(coef, intercept, to_numpy(self.classes_), self.target_type_)

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


@cache
def _made_constraints(cls):
    """Names, defaults and constraints (as objects) of the parameters of a class."""
    parameters = signature(cls.__init__).parameters
    return [
        (name, parameters[name].default, [make_constraint(each) for each in allowed])
        for name, allowed in cls._parameter_constraints.items()
        if name in parameters and allowed != "no_validation"
    ]
