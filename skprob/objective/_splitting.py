"""The objective split between raw predictions and parameters.

With the raw predictions z_i of the rows as variables of their own it is
Σ s_i ℓ(z_i; q_i) plus the penalty of W, subject to z_i = W x_i. Douglas-Rachford
splitting goes from one point v, raw predictions of all rows, to the next:

1. z_i minimises ℓ(z; q_i) + ½ ρ ‖z - v_i‖², row by row, in closed form.
2. W minimises ½ ρ Σ s_i ‖W x_i - (2 z_i - v_i)‖² plus the penalty, by one factor of
   Xᵀ diag(s) X + R / ρ for all steps and outputs.
3. v_i + W x_i - z_i is the next point. At the minimum the residual W x_i - z_i is
   zero.

References
----------
Eckstein, Bertsekas, "On the Douglas-Rachford splitting method and the proximal point
algorithm for maximal monotone operators", Mathematical Programming 1992.
"""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from .._utils.arrays import (
    as_type,
    copied,
    dot,
    namespace,
    to_numpy,
    widened,
    zeros,
)


@dataclass(frozen=True)
class Splitting:
    """An iterate of the splitting, and the quantities that do not change.

    Attributes
    ----------
    objective : LinearObjective
    inverse : ndarray of shape (size, size)
        Inverse of the matrix of step 2.
    rows : Blocks of SplitRows
        The current point, and the last residuals with the points that follow them.
    n_kept : int
        Number of residuals that are stored.
    """

    objective: Any
    inverse: np.ndarray
    rows: Any
    n_kept: int

    @classmethod
    def at(cls, objective, parameters, strength, n_kept):
        """The splitting at a point that is fixed if the parameters are the minimum.

        `strength` is ρ. The method takes one and a half passes.
        """
        objective.count(1.5)
        (gram,) = objective.blocks.sum(_gram)
        ridge = objective.penalty.diagonal / strength
        gram.reshape(-1)[:: len(gram) + 1] += ridge
        # Step 2 is one product with the inverse, in half the time of two solves.
        factor, _ = dpotrf(gram.T, overwrite_a=True)
        inverse, _ = dpotri(factor, overwrite_c=True)
        inverse = np.triu(inverse) + np.triu(inverse, 1).T
        rows = objective.blocks.map(_start, parameters, objective.loss, strength)
        return cls(objective, inverse, rows, n_kept)

    def step(self):
        """Steps 1 and 2, in one pass.

        Returns
        -------
        splitting : Splitting
        parameters : ndarray of shape (n_parameters,)
        products : ndarray of shape (n_kept,)
            Inner products of the last residual with each stored one, itself at the end.
        """
        self.objective.count(1)
        (coupling,) = self.rows.sum(SplitRows.coupling)
        parameters = coupling @ self.inverse
        rows = self.rows.map(SplitRows.toward, parameters, self.n_kept)
        (products,) = rows.sum(SplitRows.products)
        after = Splitting(self.objective, self.inverse, rows, self.n_kept)
        return after, parameters.reshape(-1), products

    def mixed(self, shares):
        """Step 3: move to the mixture, in these shares, of the stored next points."""
        rows = self.rows.map(SplitRows.mixed, shares)
        return Splitting(self.objective, self.inverse, rows, self.n_kept)


# Functions of a block, for Blocks.sum and Blocks.map.


def _gram(block):
    gram = block.design.sandwich(widened(block.weight)[:, None])
    return (to_numpy(gram)[0],)


def _start(block, parameters, loss, strength):
    raw = block.design.matvec(parameters)
    residual = loss.evaluate(copied(raw), block.target)[1]
    return SplitRows(block, loss, strength, raw + residual / strength)


class SplitRows:
    """The rows of a block at the current point and at the last ones."""

    def __init__(self, block, loss, strength, point, kept=()):
        self._block, self._loss, self._strength = block, loss, strength
        # Pairs of a residual and the next point.
        self._kept = kept
        self._shift = loss.proximal_residual(point, block.target, strength)
        self._shift /= strength
        self._nearest = point - self._shift

    def coupling(self):
        """Weighted sum of 2 z - v times the row: (M, size)."""
        reflected = self._nearest - self._shift
        reflected *= self._block.weight[:, None]
        return (self._block.design.rmatvec(reflected),)

    def toward(self, parameters, n_kept):
        """The rows with the residual at parameters (M, size), and the next point."""
        raw = self._block.design.matvec(parameters)
        # Single precision is enough for the products and saves a quarter of memory.
        residual = as_type(raw - self._nearest, namespace(raw).float32)
        raw += self._shift
        other = copy.copy(self)
        other._kept = *self._kept[1 - n_kept :], (residual, raw)
        return other

    def products(self):
        """Weighted products of the last residual with all stored ones."""
        weighted = self._kept[-1][0] * self._block.weight[:, None]
        products = [dot(weighted, last) for last, _ in self._kept]
        return (np.array(products),)

    def mixed(self, shares):
        """The rows at a mixture of the next points."""
        point = zeros(self._nearest.shape, self._nearest)
        for share, (_, following) in zip(shares, self._kept, strict=True):
            point += float(share) * following
        return SplitRows(self._block, self._loss, self._strength, point, self._kept)
