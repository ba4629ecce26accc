"""The training objective of a model whose scores are cosines."""

import numpy as np

from ._block_point import BlockPoint
from ._description import description_of_block
from ._linear_point import EvaluatedRay, points_at
from ._mean_loss import MeanLoss
from ._several_blocks import joined_description


class CosineObjective(MeanLoss):
    """Weighted mean loss of the cosines between rows and class vectors.

    The loss does not depend on the norms of the class vectors w_k, so it has directions
    without curvature. The term ½ Σ_k (‖w_k‖² - 1)² is added, which has curvature along
    these directions. It is zero at every minimum, where the norms are one, and does not
    change the minimum. Parameters are the class vectors row by row; there is no
    intercept.

    Parameters
    ----------
    blocks : Blocks of Block
        Rows have norm one, or zero, and then all their cosines are zero. The weights of
        all blocks sum to one.
    loss : Loss
        A checked loss, with its mapping.
    """

    has_penalty = False

    def __init__(self, blocks, loss):
        data = blocks.merged(description_of_block, joined_description)
        data = data._replace(is_linear=False, suits_single_precision=False)
        super().__init__(blocks, data, loss)
        #: Shape of the class vectors.
        self.coef_shape = self.shape

    def to_model(self, parameters):
        """Class vectors of norm one, and zero intercepts, of parameters."""
        unit, _ = self._directions(parameters)
        return unit, np.zeros(self.shape[0])

    def from_model(self, coef, intercept=None):
        """Parameters of norm one from class vectors; `initial` if one is zero."""
        vectors = np.asarray(coef, dtype=np.float64)
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        if not largest.all():
            first = self.initial().reshape(self.shape)
            vectors = np.where(largest > 0, vectors, first)
            largest = np.where(largest > 0, largest, 1)
        vectors = vectors / largest  # Squares of large numbers would overflow.
        return (vectors / _norm(vectors)).ravel()

    def initial(self):
        """Parameters to start from: the normalised means of the classes."""
        (means,) = self.blocks.sum(_target_coupling)
        # A class whose mean is zero starts from the mean of all rows, or anywhere.
        means[_norm(means)[:, 0] == 0] = means.sum(axis=0)
        means[_norm(means)[:, 0] == 0] = 1
        return (means / _norm(means)).ravel()

    def value_and_gradient(self, parameters):
        """Value, and gradient (n_parameters,), in one pass."""
        unit, norm = self._directions(parameters)
        return self._on_vectors(*self.mean_loss_and_gradient(unit), unit, norm)

    def at(self, parameters):
        """The ``CosinePoint`` at parameters, in one pass."""
        return CosinePoint(self, parameters)

    def has_certificate(self):
        """Never: no duality gap is known."""
        return False

    def duality_gap(self, point, enough=0.0, known=np.inf, after=None):
        """The `known` bound: there is no other."""
        return known

    def is_unbounded(self, point):
        """Never: a continuous function of directions has a minimum."""
        return False

    def _directions(self, parameters):
        vectors = parameters.reshape(self.shape)
        norm = _norm(vectors)
        return vectors / np.maximum(norm, np.finfo(np.float64).tiny), norm

    def _on_vectors(self, value, gradient, unit, norm):
        """Value and gradient in the class vectors, from those in their directions."""
        excess = norm**2 - 1
        gradient = (gradient - _along(unit, gradient) * unit) / norm
        gradient += 2 * excess * norm * unit
        return value + float(np.sum(excess**2)) / 2, gradient.ravel()


class CosinePoint:
    """A cosine objective at one point, with its first and second derivatives.

    Attributes
    ----------
    parameters, gradient : ndarray of shape (n_parameters,)
    value : float
    """

    def __init__(self, objective, parameters):
        self._objective, self.parameters = objective, parameters
        self._unit, self._norm = objective._directions(parameters)
        self._points, value, self._slope = points_at(objective, self._unit)
        self.value, self.gradient = objective._on_vectors(
            value, self._slope, self._unit, self._norm
        )

    def hessian_product(self, direction):
        """Hessian times a direction of shape (n_parameters,), in one pass."""
        self._objective.count(1)
        unit, norm, slope = self._unit, self._norm, self._slope
        direction = direction.reshape(unit.shape)
        radial = _along(unit, direction)
        turn = (direction - radial * unit) / norm
        (curved,) = self._points.sum(BlockPoint.hessian_product, turn)
        along = _along(unit, slope)
        change = curved - _along(unit, curved) * unit
        change -= along * turn + _along(turn, slope) * unit
        change -= (slope - along * unit) * radial / norm
        penalty = 2 * (norm**2 - 1) * direction + 4 * norm**2 * radial * unit
        return (change / norm + penalty).ravel()

    def along(self, step):
        """The ray along a step of shape (n_parameters,)."""
        return EvaluatedRay(self._objective.at, self, step)


def _norm(vectors):
    return np.linalg.norm(vectors, axis=-1, keepdims=True)


def _along(a, b):
    """Inner products of the vectors of two arrays."""
    return np.einsum("kd,kd->k", a, b)[:, None]


def _target_coupling(block):
    """Weighted sum of target times row, for ``Blocks.sum``: (n_classes, n_columns)."""
    target = block.target.to_dense(block.weight.dtype)
    return (block.design.rmatvec(target * block.weight[:, None]),)
