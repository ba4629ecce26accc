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
    polytope = objective.loss.traits.polytope
    rows = objective.blocks.map(_Margins, polytope)
    largest = _largest(rows, direction)
    relative = _ROUNDING[objective.description.dtype]
    # Each round makes some margins zero, and so removes at least one dimension.
    for _ in range(direction.size):
        rounding = relative * _largest(rows, direction)
        if rounding <= relative**2 * largest:
            return False
        against, untied, moved = rows.sum(_Margins.counts, direction, rounding)
        if against == 0:
            return bool(moved == 0)
        if untied == 0:
            return False
        rows = rows.map(_Margins.tied_where_against, direction, rounding)
        direction = _without_tied(rows, direction)
    return False


def _largest(rows, direction):
    """The largest margin, up to a small factor, from a sum of powers."""
    (power,) = rows.sum(_Margins.power, direction)
    return float(power) ** 0.125


def _without_tied(rows, direction):
    """The part of a direction that changes no margin where classes are tied.

    With A the map to those margins it is the projection onto A's null space: the
    direction less the solution y of AᵀA y = AᵀA direction by conjugate gradients.
    """

    def product(step):
        return rows.sum(_Margins.product, step.reshape(direction.shape))[0].ravel()

    def curved_product(step):
        # A step without curvature is a rounding error. SciPy divides by the curvature.
        result = product(step)
        return result if step @ result > 0 else step

    n = direction.size
    gram = LinearOperator((n, n), matvec=curved_product, dtype=np.float64)
    change, _ = cg(gram, product(direction), rtol=1e-14, maxiter=n)
    return direction - change.reshape(direction.shape)


class _Margins:
    """The margins of a block's rows, and the classes that are tied with the target."""

    def __init__(self, block, polytope, tied=False):
        self._block, self._polytope, self._tied = block, polytope, tied
        self._target = to_numpy(block.target.to_dense(np.float64))

    def __call__(self, direction):
        # NumPy arrays for every X: this is one product, at the end of a fit.
        q, z = self._target, to_numpy(self._block.design.matvec(direction))
        if self._polytope == "cube":
            self._zero_unavailable(z)
            return np.hstack([q * z, (q - 1) * z])
        z = scores_of(z)
        margins = np.sum(q * z, axis=1, keepdims=True) - z
        self._zero_unavailable(margins)
        return margins

    def _zero_unavailable(self, array):
        """Set the entries of classes that are not available to zero, in place."""
        if self._block.available is not None:
            np.copyto(array, 0, where=~to_numpy(self._block.available))

    def _adjoint(self, margins, n_outputs):
        q = self._target
        if self._polytope == "cube":
            return q * margins[:, :n_outputs] + (q - 1) * margins[:, n_outputs:]
        residual = q * margins.sum(axis=1, keepdims=True) - margins
        return predictions_adjoint(residual, n_outputs)

    def power(self, direction):
        return (np.sum(self(direction) ** 8),)

    def counts(self, direction, rounding):
        """Numbers of margins: negative, of these not tied, and tied ones not zero."""
        margins, tied = self(direction), np.asarray(self._tied)
        against = margins < -rounding
        masks = against, against & ~tied, tied & (np.abs(margins) > rounding)
        return tuple(np.count_nonzero(mask) for mask in masks)

    def tied_where_against(self, direction, rounding):
        tied = self._tied | (self(direction) < -rounding)
        return _Margins(self._block, self._polytope, tied)

    def product(self, direction):
        """AᵀA times a direction."""
        margins = np.where(self._tied, self(direction), 0)
        residual = self._adjoint(margins, len(direction))
        return (self._block.design.rmatvec(residual),)
