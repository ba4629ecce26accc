"""The specification of a fit: the parameters of a classifier as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...decision import LeastCost, ThresholdLike
from ...losses import InfimumLoss, Loss, loss_of_candidates
from ...solvers import Tuning
from ...targets import encode_target
from .._known_threshold import check_no_threshold, checked_rule
from ..predict import StandardizedFeatures, UnitRows, one_vs_rest
from ._automatic_C import automatic_C
from ._start import LastFit

if TYPE_CHECKING:
    from ._learnt_noise import NoiseSearch, ScaleSearch


@dataclass(frozen=True)
class FitSpec:
    """Checked parameters of a fit. Parameters not listed here are a classifier's.

    An estimator makes a spec before it has data. The spec is then completed in this
    order: the estimator adds the names of the features and checks the penalty factors,
    C="loo" becomes a number, and :meth:`for_rows` adds what depends on the classes and
    the weights.

    Attributes
    ----------
    name : str
        Name of the classifier's class, for messages.
    loss : Loss
        The loss, with the margin, through the mapping at the temperature.
    unit_rows : UnitRows, StandardizedFeatures or None
        Transformation of the rows of X to norm one, for scores that are cosines. They
        have no penalty and no intercepts. None stands for no transformation.
    penalty_factors : array-like of shape (n_features,), dict or None
        As given; an array or None after the check.
    noise : NoiseSearch, ScaleSearch or None
        Search for the noise of the mapping; None if the noise is not estimated.
    last_fit : LastFit or None
        Where the fit starts; None stands for zero coefficients.
    feature_names : ndarray of shape (n_features,) or None
        Names of the columns of X; None where X has none.
    tuning : Tuning
        Numbers that change the time of the fit and not its result.
    """

    name: str
    loss: Loss
    C: float | str
    l1_ratio: float
    select: str
    penalty_factors: Any
    fit_intercept: bool
    class_weight: Any
    label_smoothing: float
    target_type: str
    class_names: Any
    none_class: bool
    threshold: ThresholdLike
    solver: str
    tol: float
    max_iter: int
    unit_rows: UnitRows | StandardizedFeatures | None = None
    noise: NoiseSearch | ScaleSearch | None = None
    last_fit: LastFit | None = None
    feature_names: Any = None
    tuning: Tuning = Tuning()

    def encoded(self, y, dtype, classes=None):
        """The :class:`EncodedTarget` of a checked y.

        `classes` are the names of the columns of y, or its labels; None takes them from
        y.
        """
        return encode_target(
            y,
            self.target_type,
            dtype,
            classes=classes,
            polytope=self.loss.mapping.traits.polytope,
            none_class="auto" if self.none_class else False,
        )

    def is_pair(self, encoded):
        """Whether two classes have one raw prediction, the difference of scores."""
        mapping = self.loss.mapping
        if encoded.n_scores != 2 or mapping.traits.polytope == "simplex":
            return encoded.n_scores == 2
        return mapping.pair_mapping is not None and encoded.target_type == "class"

    def for_rows(self, rows):
        """The spec with the values that depend on the rows: C, and scaled features.

        Parameters
        ----------
        rows : RowsInMemory or DaskRows
            If C is a number, only ``target_type``, ``n_scores`` and ``classes`` are
            read.
        """
        noise, unit_rows = self.noise, self.unit_rows
        if noise is not None:
            noise = noise.for_classes(rows.n_scores, rows.classes)
        if unit_rows is not None:
            unit_rows = unit_rows.for_rows(rows)

        is_class = rows.target_type == "class"
        loss = self.loss
        mapping = loss.mapping.for_classes(rows.n_scores, rows.classes)
        if is_class and mapping.traits.polytope == "cube":
            mapping = one_vs_rest(mapping, rows.n_scores)
        if mapping is not loss.mapping:
            loss = loss.with_mapping(mapping)
        if rows.target_type == "candidates" or isinstance(loss, InfimumLoss):
            loss = loss_of_candidates(loss, self.label_smoothing)
        loss = loss.for_classes(rows.n_scores, rows.classes if is_class else None)

        if unit_rows is None and mapping.traits.is_scale_invariant:
            # A penalty would shrink the scores without end, at the same loss.
            C = math.inf
        else:
            C = automatic_C(self, loss, rows) if self.C == "auto" else float(self.C)

        threshold = self.threshold
        if isinstance(threshold, LeastCost):
            threshold = checked_rule(threshold, rows.classes, rows.target_type)
        elif rows.target_type != "label_set" and not (
            isinstance(threshold, str) and threshold == "auto"
        ):
            check_no_threshold(threshold, rows.target_type, rows.n_scores)

        return replace(
            self,
            loss=loss,
            C=C,
            threshold=threshold,
            unit_rows=unit_rows,
            noise=noise,
        )

    @property
    def solver_options(self):
        """Arguments of the solver."""
        return {
            "solver": self.solver,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "tuning": self.tuning,
        }
