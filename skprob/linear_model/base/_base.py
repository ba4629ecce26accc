"""The base class of the linear classifiers: `fit`, and the spec that it begins with."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from inspect import signature
from numbers import Real
from typing import Self

from sklearn.base import ClassifierMixin, _fit_context, clone
from sklearn.utils._param_validation import make_constraint

from ..._utils.arrays import to_numpy
from ..._utils.blas import serial_blas
from ..._utils.compat import CallbackSupportMixin
from ..._utils.saving import PlainState
from ..._utils.typing import ArrayLike, MatrixLike, same_signature
from ...losses import MarginLoss, get_loss, matching_loss
from ...mappings import Temperature
from .._training_rows import training_rows, warn_of_target
from ..fit import (
    FitSpec,
    LastFit,
    attributes_of,
    checked_factors,
    fit_to_rows,
    rule_of_label_sets,
)
from ..predict import UnitRows
from ._array_api import ArrayApiSupport
from ._onnx import OnnxConvertible
from ._parameters import LinearParameters
from ._prediction_mixin import PredictionMixin
from ._progress import FitProgress
from ._sparse_coef import SparseCoef
from ._threshold_mixin import ThresholdMixin


class BaseLinearClassifier(
    CallbackSupportMixin,
    PredictionMixin,
    ThresholdMixin,
    ClassifierMixin,
    ArrayApiSupport,
    OnnxConvertible,
    SparseCoef,
    PlainState,
    LinearParameters,
):
    """Linear scores, a mapping to probabilities and a loss.

    The method :meth:`_mapping` of a subclass returns the mapping. The parameters,
    attributes and conventions are documented in :class:`~skprob.LinearClassifier`.
    """

    #: The ``ThresholdRule`` of a search, in the model that it refits; else None.
    _rule_of_search = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = self._supports_array_api()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        # scikit-learn's check of class weights needs an intercept: without one, no
        # class can be favoured for every x.
        tags.classifier_tags.poor_score = self.similarity == "cosine"
        return tags

    @same_signature(_fit_context(prefer_skip_nested_validation=True))
    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data. Dense arrays in C or Fortran order and CSR arrays, of float32
            or float64, are not converted; anything else becomes float64. A
            ``numpy.memmap`` is not copied. For a Dask array, of dense or CSR blocks, or
            a Dask dataframe the computations are done on the workers that have its
            partitions; for an array of another library under scikit-learn's
            ``array_api_dispatch=True``, on its device.
        y : array-like or sparse matrix
            Target (see ``target_type``): labels of shape (n_samples,); a
            0/1 indicator of shape (n_samples, n_classes), dense or sparse, of each
            row's set of labels or, with ``target_type="candidates"``, of the classes of
            which one is true; or a distribution over the classes in each row. NaN in an
            indicator is a label that is not known, for mappings to marginals without
            a budget. With a Dask X, a Dask collection with the same partitions or, if
            the lengths of these are known, an array in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The classes, in the order of ``classes_``, that are available to each row.
            The others have probability zero and no influence on the loss of the row.
            None stands for all classes. Columns of a DataFrame are matched with
            ``classes_`` by name, as are those of `offset`.
        offset : array-like, default=None
            Known numbers that are added to the scores, of shape (n_samples, n_classes).
            For two classes the shape may be (n_samples,): numbers that are added to the
            score of the second class minus that of the first. None stands for zero.
            They are not kept: give those of the rows to the methods that predict.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter is not allowed; if X, y or sample_weight contain infinity, or
            NaN except for labels that are not known; if they have different numbers of
            rows, or are none of the kinds above; if a class of a row's target is not
            available to the row; if the columns of a DataFrame have other names than
            the classes.
        ConnectionError
            If the scheduler of a Dask cluster is lost.
        RuntimeError
            If a Dask cluster has had no worker for two minutes, or the time of its
            setting ``distributed.scheduler.no-workers-timeout``.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before the gradient was within ``tol``. The model
            is usable.
        UserWarning
            If ``none_class`` is False and rows have no label: they are left out. If
            labels occur in no row: they are kept, with the target zero. If labels are
            NaN in all rows. If `y` is labels of more classes than half of the rows, of
            which there are over 20.
        """
        with unchanged_on_error(self), serial_blas:
            spec = self._fit_spec()
            with training_rows(
                self, spec, X, y, sample_weight, available, offset
            ) as rows:
                spec = self._for_features(spec)
                warn_of_target(rows)

                # 1. C, the threshold of label sets, and callbacks.
                path_start, attributes_of_choice = None, {}
                if spec.C == "loo":
                    from ..fit import with_chosen_C  # Imported when used.

                    spec, path_start, attributes_of_choice = with_chosen_C(spec, rows)
                choose_threshold = self._rule_of_search
                if choose_threshold is None and rows.target_type == "label_set":
                    choose_threshold = rule_of_label_sets(spec, rows)
                progress = None
                # Callbacks are those of the classifier, or of a search that fits it.
                has_callbacks = bool(getattr(self, "_skl_callbacks", None))
                has_callbacks |= hasattr(self, "_parent_callback_ctx")
                if has_callbacks or self.verbose:
                    progress = FitProgress(self, rows.for_callbacks, has_callbacks)

                # 2. The fit.
                fit = fit_to_rows(spec, rows, choose_threshold, progress, path_start)

                # 3. Attributes and warnings.
                attributes = attributes_of(fit.spec, fit.model, fit.solution)
                attributes |= attributes_of_choice
                attributes["fitted_params_"] = self._params_of_fit()
                replace_fitted(self, attributes)
                if not (fit.solution.converged or fit.solution.stopped):
                    from ..fit import warn_not_converged  # Imported when used.

                    warn_not_converged(fit)
                if progress is not None:
                    progress.finish()
        return self

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
        mapping._validate_params()
        if self.temperature != 1:
            mapping = Temperature(mapping, self.temperature)
        loss = self._loss()
        if isinstance(loss, str) and loss == "auto":
            loss = matching_loss(mapping)
        else:
            loss = get_loss(loss, mapping)
        if not isinstance(self.margin, Real) or self.margin != 0:
            loss = MarginLoss(loss, self.margin)
            loss.check()
        is_cosine = self.similarity == "cosine"
        if is_cosine and (self.l1_ratio > 0 or self.penalty_factors is not None):
            raise ValueError(
                "similarity='cosine' has no penalty: l1_ratio must be 0 and "
                f"penalty_factors None; got l1_ratio={self.l1_ratio:g} and "
                f"penalty_factors={self.penalty_factors!r}."
            )
        starts_from_last_fit = self.warm_start and hasattr(self, "coef_")
        return FitSpec(
            name=type(self).__name__,
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
            unit_rows=UnitRows() if is_cosine else None,
            last_fit=self._last_fit() if starts_from_last_fit else None,
        )

    def _for_features(self, spec):
        """The spec with names of the features, and checked penalty factors of them."""
        names, factors = getattr(self, "feature_names_in_", None), spec.penalty_factors
        if names is None and factors is None:
            return spec
        if factors is not None:
            factors = checked_factors(factors, self.n_features_in_, names)
            factors = None if (factors == 1).all() else factors
        return replace(spec, feature_names=names, penalty_factors=factors)

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


# Attributes that scikit-learn sets at the beginning of a fit, when it checks X.
_OF_FEATURES = {"n_features_in_", "feature_names_in_"}


def fitted_attributes(estimator):
    """The fitted attributes, by name."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name[-1] == "_" and name[0] != "_"
    }


def replace_fitted(estimator, attributes, kept=_OF_FEATURES):
    """Set the fitted attributes, and remove those of an earlier fit."""
    for name in fitted_attributes(estimator).keys() - kept:
        del vars(estimator)[name]
    vars(estimator).update(attributes)


@contextmanager
def unchanged_on_error(estimator, after_interrupt=None):
    """If a fit fails or is interrupted, restore the estimator.

    After a KeyboardInterrupt the attributes `after_interrupt`, a dict of those that a
    fit has reached so far, replace those of the estimator if there are any.
    """
    before = fitted_attributes(estimator)
    try:
        yield
    except BaseException as error:
        if after_interrupt and isinstance(error, KeyboardInterrupt):
            replace_fitted(estimator, after_interrupt)
        else:
            replace_fitted(estimator, before, kept=set())
        raise
