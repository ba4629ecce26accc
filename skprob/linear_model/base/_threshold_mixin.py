"""Changes of the decision rule of a fitted classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.arrays import take
from ..._utils.blas import serial_blas
from ..._utils.checks import check_sample_weight, check_target, check_X, in_order
from ..._utils.fitted_params import unfitted
from ..._utils.names import check_parameters
from ..._utils.typing import ArrayLike, MatrixLike
from ...decision import DecisionRule, LeastCost, ThresholdLike, as_indicator
from .._docstrings import with_shared_arguments
from .._known_threshold import (
    check_labels_of_rule,
    checked_rule,
    is_fitted_to_rows,
    known_threshold,
)
from ..fit import SeparateFolds
from ..predict import LabelledRows, changed_threshold, splits_of


class ThresholdMixin:
    """A classifier whose decision rule can be changed after the fit."""

    @with_shared_arguments
    def set_threshold(
        self,
        threshold: ThresholdLike,
        X: MatrixLike | None = None,
        y: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        available: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        cv: int | None = None,
    ) -> Self:
        """Change the decision rule of a model that was fitted to label sets or labels.

        The coefficients do not change, and neither does the parameter ``threshold``,
        which the next ``fit`` uses.

        Parameters
        ----------
        threshold : float, array-like, str, DecisionRule or LeastCost
            The new rule, as in the parameter ``threshold``. Numbers, "support", a rule
            that has been fitted, and :class:`~skprob.decision.TopK` need no rows; a
            fitted rule without rows is not fitted again. For a model of class labels it
            is a :class:`~skprob.decision.LeastCost`, which needs no rows, or "auto",
            after which the most probable class is predicted.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            The rows to which the rule is fitted. Without ``cv``, do not use the
            training rows of the model, for which it is too confident.
        y : array-like or sparse matrix of shape (n_samples, n_classes), default=None
            0/1 indicator of the labels of these rows. Columns of a DataFrame are
            matched with ``classes_`` by name.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        available : array-like of bool of shape (n_samples, n_classes), default=None
            The labels that are available to each of these rows; None stands for all
            labels.
        {offset}
        cv : int, default=None
            Number of folds, for rows to which the model was fitted: the rule is fitted
            to out-of-fold probabilities of models with the same parameters. None stands
            for the probabilities of this model.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the threshold is not allowed, or it needs rows that are not given.

        See Also
        --------
        sklearn.model_selection.TunedThresholdClassifierCV : For two classes.
        """
        check_is_fitted(self)
        is_auto = isinstance(threshold, str) and threshold == "auto"
        if is_auto and self.target_type_ == "class" and X is None and y is None:
            vars(self).pop("threshold_", None)
            return self
        with serial_blas:
            self.threshold_ = self._chosen_threshold(
                threshold,
                X,
                y,
                sample_weight=sample_weight,
                available=available,
                offset=offset,
                cv=cv,
            )
        return self

    def _chosen_threshold(self, threshold, X, y, sample_weight, available, offset, cv):
        """The threshold of :meth:`set_threshold`, from unchecked arguments."""
        target_type = self.target_type_
        if isinstance(threshold, LeastCost):
            if X is not None or y is not None:
                raise ValueError(
                    f"threshold={threshold!r} needs no rows: omit X and y."
                )
            return checked_rule(threshold, self.classes_, target_type)
        if target_type != "label_set":
            raise ValueError(
                "set_threshold is for models that were fitted to label sets or, with a "
                "LeastCost or 'auto' and without rows, to class labels; this one was "
                f"fitted to {target_type=}, and the threshold is {threshold!r}."
            )
        constraints = {"threshold": self._parameter_constraints["threshold"]}
        check_parameters(constraints, {"threshold": threshold}, "set_threshold")
        if (X is None) != (y is None):
            raise ValueError("X and y must be given together, or neither of them.")
        model, is_rule = self._fitted_model(), isinstance(threshold, DecisionRule)
        if not is_fitted_to_rows(threshold) or (is_rule and X is None):
            check_labels_of_rule(threshold, model.classes)
            return known_threshold(threshold, model.classes)
        if X is None:
            raise ValueError(f"threshold={threshold!r} needs rows: give X and y.")
        X = check_X(self, X, reset=False)
        y = check_target(in_order("y", y, model.classes), "y", len_of=X)
        labels = as_indicator(y, (X.shape[0], model.n_classes), name="y")
        weight = check_sample_weight(sample_weight, X)
        given = model.checked_given(X, available, offset)
        keep = weight > 0
        labels, weight, given = labels[keep], weight[keep], given.of(keep)
        X, polytope = take(X, np.flatnonzero(keep)), model.mapping.traits.polytope
        rows = LabelledRows(X, labels, weight, polytope, model.has_none)
        splits = splits_of(cv, labels)
        folds = None if splits is None else SeparateFolds(self._refit_spec())
        return changed_threshold(
            threshold, model, rows, given=given, splits=splits, folds=folds
        )

    def _refit_spec(self):
        """The spec of a fit with the parameters of the last one, and the C it chose."""
        spec = unfitted(self)._fit_spec()
        if spec.C == "loo":
            spec = replace(spec, C=self.C_)
        return self._for_features(spec)
