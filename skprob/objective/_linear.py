"""The training objective of a linear model: mean loss plus penalty.

The mean loss is in `_mean_loss.py`, and the ridge in `_penalty.py`. Here are the
parameters, which are those of standardised features, and the points. A point of little
data is in `little/`, one of other data in `_linear_point.py`. `_parts.py` has
objectives of some features, outputs or rows, and `certificates/` the duality gap.
"""

import numpy as np

from .._utils.arrays import precision
from .._utils.tuning import Tuning
from ..data import Standardization, standardized
from ._at_zero import knows_gradient_at_zero, mean_loss_at_zero
from ._block import moments_of_block, n_raw_predictions, with_design
from ._description import description_of_block
from ._linear_point import LinearCurvature, LinearPoint
from ._mean_loss import MeanLoss
from ._parts import PartsOfObjective
from ._penalty import Ridge
from ._several_blocks import joined_description, pooled_moments
from .certificates import (
    TargetSums,
    duality_gap,
    has_descent_direction,
    sums_of_block,
)
from .little import Family, LittlePoint, is_little


class LinearObjective(PartsOfObjective, MeanLoss):
    """Weighted mean loss of linear scores plus a ridge penalty.

    The objective is Σ_i s_i ℓ(scores_i; q_i) + ½ l2 ‖W‖², with weights s_i that sum
    to one. With l2 = 1/(C Σs), over the weights before they were normalised, it is
    scikit-learn's. Two classes have one coefficient row.

    Its parameters are the coefficients and intercepts of standardised features, as one
    flat float64 vector; :meth:`to_model` computes W and b from them. The value and the
    penalty are those of W and b: how features are scaled changes a solver's path to
    the minimum, and not the minimum.

    Parameters
    ----------
    blocks : Blocks of Block
        The weights of all blocks sum to one.
    loss : Loss
        A checked loss, with its mapping.
    l2 : float
        Strength of the penalty; the intercepts are free.
    fit_intercept : bool, default=True
    factors : ndarray of shape (n_features,), default=None
        Multiples of l2 for each feature; None stands for ones.
    tuning : Tuning

    Attributes
    ----------
    moments : tuple of ndarray of shape (n_features,) or None
        Weighted means and deviations of the features; None for a sample of the rows.
    units : Standardization
        Means and scales of the features: the units of the columns of the design.
    penalty : Ridge
    coef_shape : tuple of int
        (M, n_features) of W.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> from skprob.targets import LabelTarget
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> target = LabelTarget(np.array([0, 1, 2]), n_classes=3)
    >>> objective = LinearObjective(
    ...     split_rows(X, target, np.ones(3)), FenchelYoungLoss(Softmax()), l2=0.1
    ... )
    >>> value, gradient = objective.value_and_gradient(np.zeros(6))
    >>> round(value, 4)  # log(3)
    1.0986
    """

    def __init__(
        self,
        blocks,
        loss,
        *,
        l2,
        fit_intercept=True,
        factors=None,
        tuning=Tuning(),
    ):
        # The units of the features.
        data = blocks.merged(description_of_block, joined_description)
        n_classes, n_features = data.shape
        _, mean, deviation = blocks.merged(moments_of_block, pooled_moments)
        polytope = loss.mapping.traits.polytope
        n_outputs = n_raw_predictions(n_classes, polytope)
        # The curvature of a loss is about 1/4 for one raw prediction, and at most 1/4
        # and about 1/K for K classes whose probabilities sum to one.
        ridge = l2 * (4 if polytope == "cube" else max(n_outputs, 4))
        ridge = ridge if factors is None else ridge * factors
        units = Standardization.of(mean, deviation, fit_intercept, ridge, data.dtype)

        # The mean loss of the rows in these units.
        description = data._replace(
            shape=(n_outputs, units.size),
            has_intercept=bool(fit_intercept),
            suits_single_precision=(
                data.suits_single_precision
                and data.dtype == np.float64
                # Little data are copied to an array of double precision.
                and not units.may_be_copied(data.n_rows, tuning)
                and units.suits_single_precision
            ),
        )
        blocks = blocks.map(with_design, standardized, units, data.n_rows)
        super().__init__(blocks, description, loss)
        self.count(1)  # The moments.

        self.units, self.tuning = units, tuning
        self.moments = mean, deviation
        self.penalty = Ridge(l2, units, factors)
        self.coef_shape = n_outputs, n_features
        #: Number of the columns of coefficients in the parameters.
        self.n_features = n_features
        # Numbers in X of the features of a restricted objective; None for all.
        self._numbers_in_X = None

    def initial(self):
        """Parameters to start from, at which all rows have probabilities.

        They are zeros for most mappings. For a mapping without probabilities at zero
        scores all intercepts have the same value. Without intercepts the coefficients
        are the means of the classes, divided by their largest entry.

        The best intercept of a class in no row, or of a label in all rows, is infinite.
        It starts where its probability differs from zero, or one, by a rounding error.
        From zero a fit would take more iterations the smaller the tolerance is.
        """
        start, base = np.zeros(self.shape), self.traits.base_score
        if base != 0 and not self.description.has_intercept:
            start = self.target_sums().coupling
            start = start / (np.abs(start).max() or 1)
        elif base != 0:
            start[:, -1] = base
        elif self.description.has_intercept and self.traits.has_negative_entropy:
            means = self.class_means
            is_in_none, is_in_all = means == 0, 1 - means < 1e3 * precision(np.float64)
            if is_in_none.any() or is_in_all.any():
                far = np.log(precision(self.description.dtype))
                intercepts = np.where(is_in_none, far, 0.0)
                if self.traits.polytope == "cube":
                    intercepts[is_in_all] = -far
                if len(start) < len(means):
                    intercepts = np.diff(intercepts)
                start[:, -1] = intercepts
        return start.ravel()

    def at(self, parameters):
        """The :class:`LinearPoint` at parameters, in one pass."""
        if is_little(self.blocks):
            return LittlePoint.at(self, parameters)
        return LinearPoint.at(self, parameters)

    #: The point of the part that has derivatives, which here is the whole.
    smooth_at = at

    def value_and_gradient(self, parameters):
        """Value, and gradient (n_parameters,), in one pass, without storing a point."""
        if is_little(self.blocks):
            point = LittlePoint.at(self, parameters)
            return point.value, point.gradient
        matrix = parameters.reshape(self.shape)
        if not parameters.any() and knows_gradient_at_zero(self):
            value, gradient = mean_loss_at_zero(self)
        else:
            value, gradient = self.mean_loss_and_gradient(matrix)
        gradient = gradient + self.penalty.product(matrix)
        return value + self.penalty.value(matrix), gradient.ravel()

    def curvature_at(self, parameters):
        """The curvature at parameters, without storing numbers of the rows."""
        return LinearCurvature(self, parameters.reshape(self.shape))

    def family(self, strengths):
        """The ``Family`` of this objective; None unless its data are little."""
        return Family(self, strengths) if is_little(self.blocks) else None

    @property
    def has_penalty(self):
        """Whether the coefficients of all features are penalised."""
        return self.penalty.strength > 0 and not self.penalty.has_free_features

    @property
    def common_columns(self):
        """Columns in which equal changes of all outputs do not change the objective."""
        return self.penalty.free_columns if self.description.is_shift_invariant else []

    def has_certificate(self):
        """Whether the duality gap vanishes at the minimum, up to rounding.

        No penalty may be negligible in the units of its feature, because the gap
        divides the gradient's rounding error by it. With intercepts there are three
        more conditions. Rows have neither offsets nor available classes. The
        probabilities of all rows fit in memory. Each class is the target of some rows
        and not of all, because the best intercepts of other classes are infinite, or
        very large.
        """
        if not self._has_bound():
            return False
        description, mean = self.description, self.class_means
        if not description.has_intercept:
            return True
        if description.has_row_scores or not description.keeps_raw_predictions:
            return False
        return bool(((mean > 0) & (mean < 1)).all())

    def _has_bound(self):
        """Whether a duality gap is defined for the penalty and the loss."""
        if not (self.has_penalty and self.traits.has_negative_entropy):
            return False
        return bool(self._has_large_penalty().all())

    def _has_large_penalty(self):
        """Mask of the features whose penalty is above the rounding errors of the gap.

        The gap has the square of the gradient over the penalty.
        """
        least = precision(self.description.dtype) ** 1.4
        return self.penalty.diagonal[: self.n_features] >= least

    def target_sums(self):
        """``TargetSums`` of the rows; the first call takes a pass."""
        if self._target_sums is None:
            self.count(1)
            sums = self.blocks.sum(sums_of_block, self.shape[0], self.loss)
            self._target_sums = TargetSums(*sums)
        return self._target_sums

    #: The function of `certificates/_gap.py` as a method.
    duality_gap = duality_gap

    def is_unbounded(self, point):
        """Whether there is no minimum. If there is one, the point must be near it.

        There is none if classes or rows are separable, the mapping has no exact zeros,
        and no penalty limits the coefficients.
        """
        traits = self.traits
        if self.has_penalty or traits.has_zeros or not traits.is_convex:
            return False
        # Only along columns without a penalty can the decrease have no end.
        is_free = self._penalties() == 0
        free = point.parameters.reshape(self.shape) * is_free
        return has_descent_direction(self, free.reshape(-1))

    def _penalties(self):
        """Strength of the penalty of each column."""
        return self.penalty.diagonal

    def to_model(self, parameters):
        """Coefficients (M, n_features) and intercepts (M,) of parameters.

        If the loss is invariant to equal changes of all scores, the intercepts have
        mean zero, and so have the coefficients of features without a penalty.
        """
        coef, intercept = self.units.to_model(parameters.reshape(self.shape))
        if self.description.is_shift_invariant:
            if self.description.has_intercept:
                intercept = intercept - intercept.mean()
            if not self.has_penalty:
                free = [k for k in self.penalty.free_columns if k < self.n_features]
                coef[:, free] -= coef[:, free].mean(axis=0)
        if self._numbers_in_X is not None:
            restricted, coef = coef, np.zeros(self.coef_shape)
            coef[:, self._numbers_in_X] = restricted
        return coef, intercept

    def from_model(self, coef, intercept):
        """Parameters of coefficients and intercepts."""
        coef, intercept = coef.astype(float), intercept.astype(float)
        if self._numbers_in_X is not None:
            coef = coef[:, self._numbers_in_X]
        return self.units.from_model(coef, intercept).ravel()
