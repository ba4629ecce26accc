"""The training objective of a linear model: mean loss plus penalty."""

import copy
from functools import cached_property

import numpy as np

from .._blas import serial_blas
from .._pair import n_raw_predictions
from ..data import Standardization
from ..mappings import get_mapping
from . import _block
from ._certificates import duality_gap, target_sums
from ._intercepts import fit_in_memory
from ._linearization import Linearization, pooled_moments
from ._mean_loss import Description, MeanLoss
from ._penalty import Ridge
from ._separability import has_descent_direction


class LinearObjective(MeanLoss):
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
        Checked, with its mapping.
    l2 : float or ndarray of shape (n_problems,)
        Strength of the penalty; several make several problems that are evaluated
        together. The intercepts are free.
    fit_intercept : bool, default=True

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> from skprob.targets import SparseTarget
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 2]), n_classes=3)
    >>> objective = LinearObjective(
    ...     split_rows(X, target, np.ones(3)), FenchelYoungLoss(Softmax()), l2=0.1
    ... )
    >>> values, gradients = objective.value_and_gradient(np.zeros((1, 6)))
    >>> values.round(4)  # log(3)
    array([1.0986])
    """

    @serial_blas
    def __init__(self, blocks, loss, *, l2, fit_intercept=True):
        data = Description.of(blocks)
        _, mean, deviation = pooled_moments(blocks.map(_block.moments))
        polytope = loss.polytope
        n_outputs = n_raw_predictions(data.shape[0], polytope)
        # The curvature of a loss is about 1/4 for one raw prediction, 1/K for K that
        # sum to one.
        ridge = np.min(l2) * (4 if polytope == "cube" else max(n_outputs, 4))
        units = Standardization.of(mean, deviation, fit_intercept, ridge, data.dtype)
        description = data._replace(
            shape=(n_outputs, units.size),
            has_intercept=bool(fit_intercept),
            suits_single_precision=_suits_single_precision(data, units),
        )
        blocks = blocks.map(_block.standardize, units, data.n_rows)
        super().__init__(blocks, loss, description)
        self.count(1)
        self.units, self.penalty = units, Ridge(l2, units)
        #: Shape of the coefficients: (M, n_features).
        self.coef_shape = n_outputs, len(mean)

    @property
    def has_penalty(self):
        """Whether the coefficients are penalised, in all problems."""
        return bool(self.penalty.strengths.all())

    def with_l2(self, l2):
        """The same loss of the same data under another penalty, or several."""
        other = copy.copy(self)
        other.penalty = Ridge(l2, self.units)
        return other

    def to_model(self, parameters):
        """Coefficients (M, n_features) and intercepts (M,) of parameters.

        Where the same added to all scores changes nothing, the intercepts are zero on
        average and, without a penalty, the coefficients, too.
        """
        coef, intercept = self.units.to_model(parameters.reshape(self.shape))
        if self.description.is_relative:
            if self.description.has_intercept:
                intercept = intercept - intercept.mean()
            if self.penalty.strengths.max() == 0:
                coef = coef - coef.mean(axis=0)
        return coef, intercept

    def from_model(self, coef, intercept):
        """Parameters of coefficients and intercepts."""
        coef, intercept = coef.astype(float), intercept.astype(float)
        return self.units.from_model(coef, intercept).ravel()

    def initial(self):
        """Parameters to start from: zeros."""
        return np.zeros(self.n_parameters)

    @property
    def has_certificate(self):
        """Whether the duality gap vanishes at the minimum, up to rounding.

        It takes a penalty that is not next to nothing in the units of the features,
        because the gap divides the square of the gradient's rounding by it, and classes
        that are now and then the target, but not always: the best intercept of others
        is infinite, or at least very large. It takes the probabilities of all rows.
        """
        if not (self.has_penalty and self.loss.has_negative_entropy):
            return False
        ridge = self.penalty.diagonal[..., : self.coef_shape[1]]
        if ridge.min(initial=np.inf) < np.finfo(self.description.dtype).eps ** 1.4:
            return False
        if not self.description.has_intercept:
            return True
        if not self.loss.has_common_classes:
            return False
        mean = self.target_sums.mean
        varies = (mean > 0) & (mean < 1)
        return fit_in_memory(self.description) and bool(varies.all())

    @cached_property
    def target_sums(self):
        """Means over the rows that depend on the target; see :func:`duality_gap`."""
        return target_sums(self)

    @serial_blas
    def duality_gap(
        self, problem, parameters, value, gradient, enough=0.0, known=np.inf, step=None
    ):
        """A bound on the value less the minimum; infinite where none is known.

        It is at most one that is `known`. Where it is above `enough` it is made tighter
        if that is likely to halve it or to make it enough. With Newton's `step` from
        there it is about the decrease that this promises.
        """
        if not self.loss.has_negative_entropy:
            return np.inf
        bounds = enough, known, step
        return duality_gap(self, problem, parameters, value, gradient, *bounds)

    def is_unbounded(self, parameters, value):
        """Whether there is no minimum, judged at parameters near it if there is one.

        So it is without a penalty, where classes or rows are separable and
        probabilities are positive. If all rows are, the objective at least halves where
        the parameters double.
        """
        reaches_zero = get_mapping(self.loss.mapping).has_zeros
        if self.has_penalty or reaches_zero or not self.loss.is_convex:
            return False
        twice, _ = self.value_and_gradient(2 * parameters[None])
        if value > 0 and twice[0] <= value / 2:
            return True
        return has_descent_direction(self, parameters)

    def value_and_gradient(self, points, which=(0,)):
        """Values (n_points,) and gradients (n_points, n_parameters), in one pass.

        `which` is the number of the problem at each point.
        """
        points, which = points.reshape(-1, *self.shape), np.asarray(which)
        values, gradients = self.mean_loss(points)
        values = values + self.penalty.value(points, which)
        gradients = gradients + self.penalty.gradient(points, which)
        return values, gradients.reshape(len(points), -1)

    def linearize(self, points, which=(0,), keep=True):
        """A :class:`Linearization` at points, each of the problem in `which`.

        Without `keep` there are second derivatives only, and nothing is kept of rows.
        """
        points = points.reshape(-1, *self.shape)
        states = self.mean_loss_states(points, keep)
        return Linearization(self, np.asarray(which), points, *states)


def _suits_single_precision(data, units):
    """Not where a mean is so large beside the scale that digits cancel."""
    mean, scale, _ = units
    if not data.suits_single_precision or data.dtype != np.float64:
        return False
    is_near = np.all(np.abs(mean) <= np.finfo(np.float32).eps ** -0.25 * scale)
    return bool(is_near and np.all(np.abs(np.log10(scale)) <= 9))
