"""A fitted linear model as plain data, and its predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.arrays import numpy_dtype
from ...decision import LeastCost, ThresholdLike
from ...mappings import Mapping
from .._given import NOTHING, Given
from .._known_threshold import checked_rule
from ._one_vs_rest import log_shares_of, shares_of
from ._prediction import BlockwisePrediction, of_classes
from ._unit_rows import UnitRows


@dataclass(frozen=True)
class FittedModel:
    """A linear model that predicts; the attributes are those of a classifier.

    Attributes
    ----------
    has_none : bool
        Whether there is a class for rows without a label, which is not in `classes`.
    unit_rows : UnitRows or None
        Transformation of the rows of X; None if there is none.
    threshold : float, ndarray of shape (n_classes,), DecisionRule or LeastCost
        The rule of label sets or, a ``LeastCost``, of class labels. None stands for the
        most probable class.
    """

    coef: Any
    intercept: Any
    classes: Any
    target_type: str
    mapping: Mapping
    has_none: bool
    unit_rows: UnitRows | None = None
    threshold: ThresholdLike | None = None

    def with_threshold(self, threshold):
        """The same model with a threshold."""
        return replace(self, threshold=threshold)

    @property
    def n_classes(self):
        """Number of classes, without that for rows without a label."""
        return self.classes.shape[0]

    @property
    def is_one_vs_rest(self):
        """Whether class labels were fitted by a marginal for each class."""
        return self.target_type == "class" and self.mapping.traits.polytope == "cube"

    @property
    def rule_of_labels(self):
        """The checked rule of class labels; None for the most probable class."""
        rule = self.threshold
        if self.target_type != "class" or rule is None:
            return None
        if not isinstance(rule, LeastCost):
            raise ValueError(
                "threshold_ must be a LeastCost for a model that was fitted to class "
                f"labels; got {rule!r}."
            )
        return checked_rule(rule, self.classes, "class")

    def checked_given(self, X, available, offset):
        """The :class:`Given` of the rows of a checked X."""
        polytope = self.mapping.traits.polytope
        is_pair = self.n_classes + self.has_none == 2 and polytope == "simplex"
        dtype = np.result_type(numpy_dtype(X), numpy_dtype(self.coef))
        options = {"target_type": self.target_type, "is_pair": is_pair, "dtype": dtype}
        return Given.checked(available, offset, X.shape[0], self.classes, **options)

    def predicted(self, X, of_scores, given):
        """The results of a function of the scores of a checked X, block by block."""
        model = self.coef, self.intercept, self.unit_rows
        return BlockwisePrediction(X, *model, of_scores, given)

    @property
    def probabilities_of_scores(self):
        """A function of scores: the probabilities of the classes."""
        of_scores = shares_of(self.mapping) if self.is_one_vs_rest else self.mapping
        return of_classes(of_scores, self.n_classes)

    @property
    def log_probabilities_of_scores(self):
        """A function of scores: the logarithms of the probabilities of the classes."""
        of_scores = self.mapping.log_probabilities
        if self.is_one_vs_rest:
            of_scores = log_shares_of(self.mapping)
        return of_classes(of_scores, self.n_classes)

    def probabilities(self, X, given=NOTHING):
        """Probabilities of the classes of a checked X, block by block."""
        return self.predicted(X, self.probabilities_of_scores, given)
