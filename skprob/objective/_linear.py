"""The training objective of a linear model: mean loss plus ridge penalty."""

import copy
from functools import cached_property

import numpy as np
from scipy import sparse

from ..mappings import get_mapping
from ._base import Linearization, MeanLoss
from ._blocks import block_moments
from ._gap import duality_gap, target_sums
from ._gram import WeightedGrams
from ._hessian import WholeHessian
from ._intercepts import best_intercepts
from ._parallel import sum_over
from ._recession import recedes

# So many numbers, of the outputs of all rows, are not worth sparing ...
_FEW_OUTPUTS = 1 << 24
# ... and so many are in cache, or soon read.
_VERY_FEW_OUTPUTS = 1 << 21
# Outputs are many beside so many times fewer numbers of X.
_MANY_OUTPUTS = 8
# In multiplications, what writing out a Hessian may take.
_SMALL_HESSIAN = 2e6
# In single precision a feature's mean may be so many deviations, and the features'
# units no larger, nor smaller than the inverse.
_LARGEST_MEAN = 100
_LARGEST_UNIT = 1e9


class LinearObjective(MeanLoss):
    """Weighted mean loss of linear scores plus a ridge penalty.

    The objective is Σ_i s_i ℓ(scores_i; q_i) + ½ l2 ‖W‖², with weights s_i that sum
    to one. With l2 = 1/(C Σs), over the weights before they were normalised, it is
    scikit-learn's. Parameters are one flat float64 vector: W row by row, then the
    intercepts if there are any. Two classes have one coefficient row.

    Parameters
    ----------
    blocks : sequence of Block
        Iterated over at every evaluation. The weights of all blocks sum to one.
    loss : Loss
        Checked, with its mapping.
    l2 : float
        Strength of the penalty; the intercepts are free.
    fit_intercept : bool, default=True

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 2]), n_classes=3)
    >>> objective = LinearObjective(
    ...     split_rows(X, target, np.ones(3)), FenchelYoungLoss(Softmax()), l2=0.1
    ... )
    >>> value, gradient = objective.value_and_gradient(np.zeros(6))
    >>> round(value, 4)  # log(3)
    1.0986
    >>> gradient.round(4) + 0.0
    array([ 0.3333,  0.    , -0.3333,  0.    ,  0.    ,  0.    ])
    """

    def __init__(self, blocks, loss, *, l2, fit_intercept=True):
        super().__init__(blocks, loss)
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self._moments = self._target_sums = None
        self._asked = self._at_best_intercepts = None
        n_classes = blocks[0].target.shape[1]
        self.coef_shape = (1 if n_classes == 2 else n_classes, blocks[0].X.shape[1])

    @property
    def n_parameters(self):
        """Length of the parameter vector."""
        n_outputs, n_features = self.coef_shape
        return n_outputs * (n_features + self.fit_intercept)

    def pack(self, coef, intercept):
        """Parameter vector of coefficients and intercepts."""
        parameters = np.empty(self.n_parameters)
        size = coef.size
        parameters[:size].reshape(coef.shape)[...] = coef
        parameters[size:] = intercept if self.fit_intercept else ()
        return parameters

    def unpack(self, parameters):
        """Coefficients (M, n_features) and intercepts (M,) of a parameter vector."""
        n_outputs, n_features = self.coef_shape
        size = n_outputs * n_features
        coef = parameters[:size].reshape(self.coef_shape)
        intercept = parameters[size:] if self.fit_intercept else np.zeros(n_outputs)
        return coef, intercept

    def with_penalty(self, l2):
        """The same loss of the same data; what is known of it is shared."""
        other = copy.copy(self)
        other.l2 = l2
        return other

    def initial(self):
        """Parameters to start from: zeros."""
        return np.zeros(self.n_parameters)

    def value_and_gradient(self, parameters):
        """Value and gradient, in one pass over the data.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_parameters,)
        """
        coef, intercept = self.unpack(parameters)
        value, *gradient = self.mean_loss(coef, intercept)
        return self._penalised(coef, value, gradient)

    def linearize(self, parameters):
        """Value, gradient and Hessian product at parameters.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        linearization : Linearization
        """
        mean_loss = self.mean_loss_linearization(*self.unpack(parameters))
        return self._linearization(parameters, mean_loss)

    def relinearize(self, linearization, parameters):
        """That of :meth:`linearize`, from another penalty's at the same parameters.

        It takes no pass over the data.

        Parameters
        ----------
        linearization : Linearization
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        linearization : Linearization
        """
        return self._linearization(parameters, linearization.mean_loss)

    def _linearization(self, parameters, mean_loss):
        coef, _ = self.unpack(parameters)
        value, *gradient, product, blocks = mean_loss

        def hessian_product(direction):
            along_coef, along_intercept = self.unpack(direction)
            found = self.pack(*product(along_coef, along_intercept))
            # Of vectors: one array is in C order and the other in Fortran order.
            found[: along_coef.size] += self.l2 * direction[: along_coef.size]
            return found

        return Linearization(
            *self._penalised(coef, value, gradient),
            hessian_product,
            blocks,
            mean_loss,
        )

    def feature_moments(self):
        """Weighted mean and standard deviation of each feature.

        Returns
        -------
        mean, deviation : ndarray of shape (n_features,)
        """
        if self._moments is None:
            self._moments = self.moments([block.weight for block in self.blocks])
        return self._moments

    def moments(self, weights):
        """Mean and standard deviation of each feature, with rows weighted otherwise.

        Parameters
        ----------
        weights : list of ndarray of shape (n_rows,)
            Of the rows of each block.

        Returns
        -------
        mean, deviation : ndarray of shape (n_features,)
        """
        parts = [
            block_moments(block._replace(weight=weight))
            for block, weight in zip(self.blocks, weights, strict=True)
        ]
        total, means, within = map(np.array, zip(*parts, strict=True))
        share = total / total.sum()
        mean = share @ means
        spread = np.hypot(within, means - mean)
        unit = spread.max(axis=0)
        unit[unit == 0] = 1
        return mean, unit * np.sqrt(share @ (spread / unit) ** 2)

    @property
    def is_convex(self):
        """Whether the loss is."""
        return self.loss.is_convex

    @property
    def has_certificate(self):
        """Whether the duality gap vanishes at the minimum.

        It takes a penalty, and some weight on every class: the best intercept of a
        class that is never the target is infinitely, or at least very, low.
        """
        if self.l2 == 0 or not self.loss.has_negative_entropy:
            return False
        return not self.fit_intercept or self._has_every_class

    @cached_property
    def _has_every_class(self):
        return all(sum(b.target.class_totals(b.weight) for b in self.blocks) > 0)

    def target_sums(self):
        """Means over the rows that the target has a part in, computed once."""
        if self._target_sums is None:
            self._target_sums = target_sums(self)
        return self._target_sums

    def duality_gap(self, parameters, value, gradient, enough=0.0):
        """A bound on the value less the minimum, by Fenchel duality; else infinite.

        It is known for the losses that are F(z) - ⟨q, z⟩ with a convex F: the
        Fenchel-Young losses, and the log loss through softmax.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
        value : float
        gradient : ndarray of shape (n_parameters,)
            Both of the objective there.
        enough : float, default=0.0
            A bound that need not be made tighter, which takes a few evaluations.

        Returns
        -------
        gap : float
            Certain up to rounding. Without a penalty it is the value itself.
        """
        if not self.loss.has_negative_entropy:
            return np.inf
        return duality_gap(self, parameters, value, gradient, enough)

    def at_best_intercepts(self, parameters):
        """Parameters with the same coefficients and nearly the best intercepts.

        They cost several evaluations and are asked for when a fit ends and once more
        after it: those of the last parameters are remembered.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        point : tuple of (parameters, value, gradient) or None
            With the objective there; None where the outputs of all rows would not
            fit.
        """
        asked = self.l2, parameters.tobytes()
        if asked != self._asked:
            coef, intercept = self.unpack(parameters)
            best = best_intercepts(self, coef, intercept)
            self._asked, self._at_best_intercepts = asked, None
            if best is not None:
                moved, value, *gradient = best
                self._at_best_intercepts = (
                    self.pack(coef, moved),
                    *self._penalised(coef, self.constant + value, gradient),
                )
        return self._at_best_intercepts

    def falls_without_end(self, parameters, value):
        """Whether there is no minimum near the parameters, nor further on.

        Without a penalty, where classes or some rows can be told apart without an
        error, a convex loss of positive probabilities falls for ever in some
        direction. If all can, it at least halves where the parameters double.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)
            Near the minimum, if there is one.
        value : float
            Of the objective there.
        """
        reaches_zero = get_mapping(self.loss.mapping).has_zeros
        if self.l2 > 0 or reaches_zero or not self.is_convex:
            return False
        if value > 0 and self.value_and_gradient(2 * parameters)[0] <= value / 2:
            return True
        return self.outputs_fit and recedes(self, parameters)

    @property
    def n_rows(self):
        """Rows of all blocks."""
        return sum(len(block.weight) for block in self.blocks)

    @property
    def has_bounded_hessian(self):
        """Whether the loss has one."""
        return self.loss.has_bounded_hessian

    @property
    def outputs_fit(self):
        """Whether arrays of all rows' outputs are small, or not large beside X."""
        return self._output_size <= max(_MANY_OUTPUTS * self.n_stored, _FEW_OUTPUTS)

    @property
    def has_fast_products(self):
        """Whether products of the Hessian are faster than evaluations.

        They read the probabilities of all rows from memory, which an evaluation need
        not. Those of rows without curvature, under a mapping with zeros, are left out.
        """
        few = max(_MANY_OUTPUTS * self.n_stored, _VERY_FEW_OUTPUTS)
        return self._output_size <= few or get_mapping(self.loss.mapping).has_zeros

    @property
    def has_small_hessian(self):
        """Whether the Hessian is written out faster than multiplied with vectors."""
        n_outputs, n_features = self.coef_shape
        n_pairs = n_outputs * (n_outputs + 1) / 2
        products = self.n_rows * n_pairs * (n_features + 1) ** 2
        return products + self.n_parameters**3 / 3 <= _SMALL_HESSIAN

    @property
    def _output_size(self):
        """Numbers of all rows' outputs."""
        return self.n_rows * self.coef_shape[0]

    @property
    def n_stored(self):
        """Numbers that are stored of X."""
        return sum(block.X.size for block in self.blocks)

    @property
    def suits_single_precision(self):
        """Whether Hessian products in single precision are faster and lose little.

        That is where X is sparse, in double precision, unless its numbers are out of
        the range, or a mean so large that most of a number would cancel.
        """
        if not sparse.issparse(self.blocks[0].X) or self.dtype == np.float32:
            return False
        mean, deviation = self.feature_moments()
        units = deviation[deviation > 0]
        largest = max(np.abs(b.X.data).max(initial=0) for b in self.blocks)
        return bool(
            np.all(np.abs(mean) <= _LARGEST_MEAN * deviation)
            and units.min(initial=1) >= 1 / _LARGEST_UNIT
            and largest <= _LARGEST_UNIT
        )

    @property
    def scores_are_relative(self):
        """Whether the same added to all outputs leaves the loss alone."""
        return self.coef_shape[0] > 1 and (
            get_mapping(self.loss.mapping).is_shift_invariant
        )

    def curvature(self, linearization=None, *, by_class=True):
        """Weights of the rows in Gram matrices: how much they bend the loss.

        Parameters
        ----------
        linearization : Linearization, default=None
            Of this objective where it is asked for; None stands for equal scores of
            all classes, where all rows bend about alike.
        by_class : bool, default=True
            Whether each output has its own weights, or all have their mean.

        Returns
        -------
        curvature : list of ndarray of shape (n_rows, M or 1)
            Of each block, in float64. Never negative.
        """
        if linearization is None:
            # 1/4 for one output, nearly 1/K for K of them.
            alike = 1 / max(self.coef_shape[0], 4)
            return [alike * b.weight[:, None].astype(np.float64) for b in self.blocks]
        parts = [None] * len(self.blocks)

        def part(i):
            found = linearization.blocks[i].curvature().astype(np.float64, copy=False)
            found = np.maximum(found, 0)
            parts[i] = found if by_class else found.mean(axis=1, keepdims=True)
            return ()

        sum_over(range(len(parts)), part, 0)
        return parts

    def grams(self, mean, scale):
        """What makes weighted Gram matrices of the centred and scaled features.

        Parameters
        ----------
        mean, scale : ndarray of shape (n_features,)

        Returns
        -------
        grams : WeightedGrams
            To be called with weights as from :meth:`curvature`. If there is an
            intercept, a constant feature of one comes last.
        """
        return WeightedGrams(self.blocks, mean, scale, self.fit_intercept)

    def hessian(self, mean, scale):
        """What makes whole Hessians in the centred and scaled features.

        Parameters
        ----------
        mean, scale : ndarray of shape (n_features,)

        Returns
        -------
        hessian : WholeHessian
            To be called with a :class:`Linearization` of this objective.
        """
        return WholeHessian(self, mean, scale)

    def _penalised(self, coef, value, gradient):
        gradient = self.pack(*gradient)
        gradient[: coef.size] += self.l2 * coef.ravel()
        value += self.l2 / 2 * np.vdot(coef, coef)
        return float(value), gradient
