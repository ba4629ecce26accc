"""A linear objective with a penalty that makes coefficients exactly zero."""

from dataclasses import dataclass

import numpy as np

from ..._utils.arrays import precision
from ..._utils.tuning import Tuning
from .._block_point import point_with_rows
from .._linear import LinearObjective
from .._linear_point import LinearPoint, mean_loss_at
from ..little import EvaluatedRows, LittlePoint, is_little
from ._gap import composite_gap
from ._shrinkage import shrinkage


@dataclass(frozen=True)
class CompositePoint:
    """A composite objective at one point.

    Attributes
    ----------
    smooth : LinearPoint
        The part that has derivatives.
    value : float
    gradient : ndarray of shape (n_parameters,)
        The smallest subgradient, which is zero at the minimum.
    """

    smooth: LinearPoint
    value: float
    gradient: np.ndarray

    @property
    def parameters(self):
        """Parameters (n_parameters,)."""
        return self.smooth.parameters


class CompositeObjective(LinearObjective):
    """The sum of a :class:`LinearObjective`, the smooth part, and a shrinkage.

    Parameters are those of standardised features. The thresholds of the shrinkage are
    scaled, so that it is a penalty of the coefficients of the features.

    Parameters
    ----------
    blocks : Blocks of Block
        The weights of all blocks sum to one.
    loss : Loss
        A checked loss, with its mapping.
    strength : float
        Strength of the whole penalty, positive; intercepts are free.
    shape : PenaltyShape
        The penalty without its strength, with a positive l1_ratio.
    fit_intercept : bool, default=True
    tuning : Tuning

    Attributes
    ----------
    shrinkage : EntryShrinkage or ColumnShrinkage

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import CompositeObjective, PenaltyShape, split_rows
    >>> from skprob.targets import LabelTarget
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> target = LabelTarget(np.array([0, 1, 2]), n_classes=3)
    >>> objective = CompositeObjective(
    ...     split_rows(X, target, np.ones(3)),
    ...     FenchelYoungLoss(Softmax()),
    ...     strength=0.5,
    ...     shape=PenaltyShape(l1_ratio=1.0),
    ... )
    >>> bool(objective.at(np.zeros(6)).gradient.any())  # Zero is the minimum.
    False
    """

    def __init__(
        self, blocks, loss, *, strength, shape, fit_intercept=True, tuning=Tuning()
    ):
        self._penalty_shape, self._strength = shape, strength
        l2 = (1 - shape.l1_ratio) * strength
        super().__init__(
            blocks,
            loss,
            l2=l2,
            fit_intercept=fit_intercept,
            factors=shape.factors,
            tuning=tuning,
        )
        self._set_shrinkage(shrinkage(strength, shape, self.units))

    def _set_loss(self, loss):
        super()._set_loss(loss)
        # Norms of columns couple the raw predictions.
        is_separable = self.description.is_separable
        is_separable = is_separable and not self._penalty_shape.by_feature
        self.description = self.description._replace(
            has_shrinkage=True, is_separable=is_separable
        )

    def _set_shrinkage(self, shrinkage):
        self.shrinkage = shrinkage
        free = np.flatnonzero(self._penalties() == 0).tolist()
        self.penalty = self.penalty.with_free_columns(free)

    @property
    def has_penalty(self):
        """Whether the coefficients of all features are penalised."""
        return not self.penalty.has_free_features

    def with_l2(self, l2):
        """The same loss of the same data under a penalty of another strength.

        The result is a :class:`LinearObjective` if there is no penalty.
        """
        if l2 == 0:
            return self._without_penalty()
        shape = self._penalty_shape
        other = super().with_l2((1 - shape.l1_ratio) * l2)
        other._strength = l2
        other._set_shrinkage(self.shrinkage.times(l2 / self._strength))
        return other

    def _without_penalty(self):
        other = LinearObjective.__new__(LinearObjective)
        vars(other).update(vars(self))
        other.description = self.description._replace(has_shrinkage=False)
        other._set_loss(self.loss)
        return other.with_l2(0.0)

    def under_stronger_penalties(self):
        """Objectives to minimise in turn before this one, from zero coefficients.

        There are `penalties_of_decade` of the tuning for each factor of ten; the first
        is the strongest under which a coefficient enters. Rows lose their curvature
        where probabilities become exactly zero. If more coefficients have entered than
        the other rows determine, they leave one by one: without the stronger penalties,
        sparsemax with two classes of 200 rows of 300 features takes 4 times as long.
        """
        description = self.description
        is_smooth = description.has_bounded_hessian and not description.has_kinks
        is_wide = self.n_parameters > description.n_rows
        has_zeros = self.traits.has_zeros
        if not (is_wide and has_zeros and description.is_convex and is_smooth):
            return []
        gradient = self.at(self.initial()).smooth.gradient.reshape(self.shape)
        thresholds, sizes = self.shrinkage.thresholds, self.shrinkage.sizes(gradient)
        some = thresholds > 0
        ratio = (sizes[:, some] / thresholds[some]).max(initial=1.0)
        tuning, n_of_decade = self.tuning, self.tuning.penalties_of_decade
        if not tuning.first_ratio_of_wide <= ratio < np.inf:
            return []
        n_stronger = int(n_of_decade * np.log10(ratio))
        factors = 10.0 ** (np.arange(n_stronger, 0, -1) / n_of_decade)
        return [self.with_l2(factor * self._strength) for factor in factors]

    def restricted(self, features):
        """The objective of some features alone, given by their numbers."""
        other = super().restricted(features)
        columns = self.units.columns_of(features)
        other._set_shrinkage(self.shrinkage.restricted(columns))
        return other

    def at(self, parameters, known=None):
        """The :class:`CompositePoint` at parameters, in one pass.

        It takes half a pass if a `known` point has the same raw predictions: a point of
        a :meth:`restricted` objective, if all other coefficients are zero.
        """
        if known is None or self.description.is_remote:
            return self.composed(self.smooth_at(parameters))
        if is_little(self.blocks):
            self.count(0.5)
            rows = self._rows_of(known.smooth)
            smooth = LittlePoint(self, parameters, rows, rows.mean_gradient(self))
        else:
            points = self._points_with_rows(known.smooth)
            mean_loss = mean_loss_at(self, points)
            smooth = LinearPoint(self, parameters, points, *mean_loss)
        return self.composed(smooth)

    def at_part(self, whole, columns):
        """The :class:`CompositePoint` at some columns of a point, without a pass.

        This objective is :meth:`restricted` from that of the point, whose other
        coefficients are zero. So raw predictions are the same, and the gradient is a
        part of the whole one.
        """
        smooth = whole.smooth
        parameters = smooth.parameters.reshape(self.shape[0], -1)[:, columns].ravel()
        if self.description.is_remote:
            return self.composed(self.smooth_at(parameters))
        gradient = smooth.mean_gradient[:, columns]
        if is_little(self.blocks):
            part = LittlePoint(self, parameters, self._rows_of(smooth), gradient)
        else:
            points = self._points_with_rows(smooth)
            part = LinearPoint(self, parameters, points, smooth.mean_loss, gradient)
        return self.composed(part)

    def _rows_of(self, point):
        """The ``EvaluatedRows`` of little data that a point has."""
        known = point.of_blocks.single
        return EvaluatedRows(self, known.raw, known.linear)

    def _points_with_rows(self, point):
        """Points of the blocks, with the raw predictions of another point."""
        return self.blocks.paired_with(point.of_blocks).map(point_with_rows)

    def composed(self, smooth):
        """The :class:`CompositePoint` of a point of the smooth part; without a pass."""
        matrix = smooth.parameters.reshape(self.shape)
        gradient = smooth.gradient.reshape(self.shape)
        return CompositePoint(
            smooth=smooth,
            value=smooth.value + self.shrinkage.value(matrix),
            gradient=self.shrinkage.smallest_subgradient(matrix, gradient).reshape(-1),
        )

    def value_and_gradient(self, parameters):
        """Value, and smallest subgradient (n_parameters,), in one pass."""
        value, gradient = super().value_and_gradient(parameters)
        matrix, gradient = parameters.reshape(self.shape), gradient.reshape(self.shape)
        smallest = self.shrinkage.smallest_subgradient(matrix, gradient)
        return value + self.shrinkage.value(matrix), smallest.ravel()

    def family(self, strengths):
        """None: these objectives are not minimised together."""
        return None

    def duality_gap(self, point, enough=0.0, known=np.inf, after=None):
        """A bound on a point's value less the minimum; infinite where none is known.

        It is at most the `known` bound. If it is above `enough`, it is made tighter by
        the raw predictions of the rows.
        """
        return composite_gap(self, point, enough, known)

    def _has_large_penalty(self):
        # Without a ridge, the gap has the gradient divided by the threshold, not its
        # square. With features in units of 1e10 a third of such gaps are rounding
        # errors.
        least = precision(self.description.dtype) ** 0.55
        is_large = self.shrinkage.thresholds[: self.n_features] >= least
        return super()._has_large_penalty() | is_large

    def _penalties(self):
        return np.maximum(self.penalty.diagonal, self.shrinkage.thresholds)
