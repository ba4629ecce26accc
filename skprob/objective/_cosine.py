"""The training objective of a model whose scores are cosines."""

import numpy as np

from . import _block
from ._block import BlockState
from ._mean_loss import Description, MeanLoss


class CosineObjective(MeanLoss):
    """Weighted mean loss of the cosines between rows and class vectors.

    The loss does not depend on the norms of the class vectors w_k, which leaves a
    solver directions without curvature; the term ½ Σ_k (‖w_k‖² - 1)² gives them one. It
    is zero at every minimum, which it therefore does not change, and there the norms
    are one. Parameters are the class vectors row by row; there is no intercept.

    Parameters
    ----------
    blocks : Blocks of Block
        With rows of X of norm one or zero (then all their cosines are zero); the
        weights of all blocks sum to one.
    loss : Loss
        Checked, with its mapping.
    """

    has_penalty = has_certificate = False

    def __init__(self, blocks, loss):
        data = Description.of(blocks)._replace(is_linear=False)
        super().__init__(blocks, loss, data._replace(suits_single_precision=False))
        #: Shape of the class vectors.
        self.coef_shape = self.shape

    def to_model(self, parameters):
        """Class vectors of norm one, and zero intercepts, of parameters."""
        unit, _ = self._directions(parameters[None])
        return unit[0], np.zeros(self.shape[0])

    def from_model(self, coef, intercept=None):
        """Parameters of class vectors."""
        return np.ravel(coef).astype(np.float64)

    def initial(self):
        """Parameters to start from: the normalised means of the classes."""
        (means,) = self.blocks.sum(_block.target_coupling)
        # A class whose mean is zero starts from the mean of all rows, or anywhere.
        means[_norm(means)[:, 0] == 0] = means.sum(axis=0)
        means[_norm(means)[:, 0] == 0] = 1
        return (means / _norm(means)).ravel()

    def value_and_gradient(self, points, which=None):
        """Values (n_points,) and gradients (n_points, n_parameters)."""
        unit, norm = self._directions(points)
        return self._on_vectors(*self.mean_loss(unit), unit, norm)

    def linearize(self, points, which=None):
        """Value, gradient and Hessian products at a single point."""
        unit, norm = self._directions(points)
        states, values, slope = self.mean_loss_states(unit, keep=True)
        there = _CosineLinearization(self, unit, norm, states, slope)
        there.values, there.gradients = self._on_vectors(values, slope, unit, norm)
        return there

    def duality_gap(self, *args, **bounds):
        """Infinite: no bound is known."""
        return np.inf

    def is_unbounded(self, parameters, value):
        """Never: a continuous function of directions has a minimum."""
        return False

    def _directions(self, points):
        vectors = points.reshape(len(points), *self.shape)
        norm = _norm(vectors)
        return vectors / np.maximum(norm, np.finfo(np.float64).tiny), norm

    def _on_vectors(self, values, gradients, unit, norm):
        """Values and gradients in the class vectors, from those in their directions."""
        excess = norm**2 - 1
        gradients = (gradients - _along(unit, gradients) * unit) / norm
        gradients += 2 * excess * norm * unit
        values = values + np.sum(excess**2, axis=(1, 2)) / 2
        return values, gradients.reshape(len(gradients), -1)


class _CosineLinearization:
    """A cosine objective near a single point, with its second derivatives."""

    def __init__(self, objective, unit, norm, states, slope):
        self._objective, self._unit, self._norm = objective, unit, norm
        self._states, self._slope = states, slope

    def hessian_product(self, direction):
        """Hessian times a direction of shape (n_parameters,)."""
        self._objective.count(1)
        unit, norm, slope = self._unit, self._norm, self._slope
        direction = direction.reshape(unit.shape)
        radial = _along(unit, direction)
        turn = (direction - radial * unit) / norm
        (curved,) = self._states.sum(BlockState.hessian_product, turn)
        along = _along(unit, slope)
        change = curved - _along(unit, curved) * unit
        change -= along * turn + _along(turn, slope) * unit
        change -= (slope - along * unit) * radial / norm
        penalty = 2 * (norm**2 - 1) * direction + 4 * norm**2 * radial * unit
        return (change / norm + penalty).ravel()


def _norm(vectors):
    return np.linalg.norm(vectors, axis=-1, keepdims=True)


def _along(a, b):
    """Inner products of the vectors of two arrays."""
    return np.einsum("nkd,nkd->nk", a, b)[..., None]
