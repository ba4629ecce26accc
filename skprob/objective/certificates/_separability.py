"""Separable data: directions in which a loss decreases without a minimum.

Along D the loss of a row with target q does not rise, from any point, if and only if
its scores z = D x have no negative margin ⟨q - v, z⟩, for all corners v of the
mapping's polytope: on the simplex ⟨q, z⟩ - z_k for all classes k, in the cube q_k z_k
and (q_k - 1) z_k. If that holds for all rows, and some margin is positive, then a
convex loss of positive probabilities has no minimum: some rows or classes are
separable, which means that a linear model classifies them without an error.
"""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from ..._utils.arrays import to_numpy
from .._block import predictions_adjoint, scores_of

# Rounding error of a margin, relative to the largest one, by the dtype of the features.
# In float64 2e-8 is too large: with one value of 1e8 to 1e12 in 36 fits, where margins
# of all other rows are small, 20 fits claimed that no optimum exists. In float32 2e-8
# is too small: 4 % of separable fits were missed.
_ROUNDING = {np.dtype(np.float64): 2e-12, np.dtype(np.float32): 3e-4}


def has_descent_direction(objective, parameters):
    """Whether the loss has no minimum along a direction near the parameters.

    If there is no minimum, a solver's parameters have grown in such a direction. They
    also have a part that acts on rows and classes that are not separable. This part is
    removed by projections that make negative margins zero, until there are none. The
    remaining direction, unless it is zero, proves up to rounding that there is no
    minimum. The test may miss a direction.
    """
    direction = parameters.reshape(objective.shape)
    relative = _ROUNDING[objective.description.dtype]
    margins = objective.blocks.map(BlockMargins, objective.loss.traits.polytope)
    at_start = _largest_margin(margins, direction)
    # Each round makes some margins zero, and so removes at least one dimension.
    for _ in range(direction.size):
        largest = _largest_margin(margins, direction)
        rounding = relative * largest
        if rounding <= relative**2 * at_start:
            return False  # All margins are zero.
        counts = margins.sum(BlockMargins.counts, direction, rounding)
        n_negative, n_new, n_failed = counts
        if n_negative == 0:
            return bool(n_failed == 0)
        if n_new == 0:
            return False  # Another projection would not change the direction.
        margins = margins.map(BlockMargins.with_zeroed, direction, rounding)
        direction = _projected(margins, direction)
    return False


def _largest_margin(margins, direction):
    """The largest margin, up to a small factor, from a sum of eighth powers."""
    (total,) = margins.sum(BlockMargins.sum_of_powers, direction)
    return float(total) ** 0.125


def _projected(margins, direction):
    """The part of a direction whose zeroed margins are zero.

    With A the map from directions to these margins it is the projection onto A's null
    space: the direction less the solution y of AᵀA y = AᵀA direction by conjugate
    gradients.
    """

    def product(step):
        step = step.reshape(direction.shape)
        return margins.sum(BlockMargins.product_of_zeroed, step)[0].ravel()

    def curved_product(step):
        # A step without curvature is a rounding error. SciPy divides by the curvature.
        result = product(step)
        return result if step @ result > 0 else step

    n = direction.size
    gram = LinearOperator((n, n), matvec=curved_product, dtype=np.float64)
    change, _ = cg(gram, product(direction), rtol=1e-14, maxiter=n)
    return direction - change.reshape(direction.shape)


class BlockMargins:
    """The margins of a block's rows along a direction (M, size).

    They are an array of shape (n_rows, n_classes) on the simplex, and of shape (n_rows,
    2 n_classes) in the cube.

    Parameters
    ----------
    block : Block
    polytope : {"simplex", "cube"}
    is_zeroed : ndarray of bool of the shape of the margins, or False for none
        Margins that a projection makes zero.
    """

    def __init__(self, block, polytope, is_zeroed=False):
        self._block, self._polytope = block, polytope
        self._is_zeroed = np.asarray(is_zeroed)
        self._target = to_numpy(block.target.to_dense(np.float64))

    def along(self, direction):
        """The margins along a direction; zero for classes that are not available."""
        # NumPy arrays for every X: this is one product, at the end of a fit.
        q, z = self._target, to_numpy(self._block.design.matvec(direction))
        if self._polytope == "cube":
            self._make_unavailable_zero(z)
            return np.hstack([q * z, (q - 1) * z])
        z = scores_of(z)
        margins = np.sum(q * z, axis=1, keepdims=True) - z
        self._make_unavailable_zero(margins)
        return margins

    def _make_unavailable_zero(self, array):
        """Set the entries of classes that are not available to zero, in place."""
        if self._block.available is not None:
            np.copyto(array, 0, where=~to_numpy(self._block.available))

    def _adjoint(self, margins, n_outputs):
        """Adjoint, (n_rows, M), of the map from raw predictions to margins."""
        q = self._target
        if self._polytope == "cube":
            return q * margins[:, :n_outputs] + (q - 1) * margins[:, n_outputs:]
        residual = q * margins.sum(axis=1, keepdims=True) - margins
        return predictions_adjoint(residual, n_outputs)

    def sum_of_powers(self, direction):
        """Sum of the eighth powers of the margins."""
        return (np.sum(self.along(direction) ** 8),)

    def counts(self, direction, rounding):
        """Numbers of margins that the rounding error does not explain.

        They are the negative ones, those of them that are not zeroed, and the zeroed
        ones that are not zero.
        """
        margins, is_zeroed = self.along(direction), self._is_zeroed
        is_negative = margins < -rounding
        is_not_zero = np.abs(margins) > rounding
        masks = is_negative, is_negative & ~is_zeroed, is_zeroed & is_not_zero
        return tuple(np.count_nonzero(mask) for mask in masks)

    def with_zeroed(self, direction, rounding):
        """The same rows, with the negative margins zeroed, too."""
        is_zeroed = self._is_zeroed | (self.along(direction) < -rounding)
        return BlockMargins(self._block, self._polytope, is_zeroed)

    def product_of_zeroed(self, direction):
        """AᵀA times a direction, with A the map to the zeroed margins."""
        margins = np.where(self._is_zeroed, self.along(direction), 0)
        residual = self._adjoint(margins, len(direction))
        return (self._block.design.rmatvec(residual),)
