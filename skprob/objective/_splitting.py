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

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from .._arrays import as_type, copied, dot, namespace, widened, zeros
from ._block import gradients, raw_predictions


class Splitting:
    """Iterations for the first problem of an objective.

    They begin at the point that is fixed if the given parameters are the minimum.
    `strength` is ρ, and what the last `n_kept` iterations found is kept.
    """

    def __init__(self, objective, parameters, strength, n_kept):
        self._objective, self._n_kept = objective, n_kept
        points = parameters.reshape(1, *objective.shape)
        objective.count(1.5)
        (gram,) = objective.blocks.sum(_gram)
        ridge = objective.penalty.diagonal[0, 0] / strength
        gram.reshape(-1)[:: len(gram) + 1] += ridge
        # With the inverse step 2 is one product, in half the time of two solves.
        factor, _ = dpotrf(gram.T, overwrite_a=True)
        inverse, _ = dpotri(factor, overwrite_c=True)
        self._inverse = np.triu(inverse) + np.triu(inverse, 1).T
        self._rows = objective.blocks.map(_start, points, objective.loss, strength)

    def step(self):
        """Steps 1 and 2: the parameters, and products of the residuals.

        These are of the last residual with each one that is kept, itself at the end.
        """
        self._objective.count(1)
        (coupling,) = self._rows.sum(SplitRows.coupling)
        points = coupling @ self._inverse
        self._rows = self._rows.map(SplitRows.toward, points, self._n_kept)
        (products,) = self._rows.sum(SplitRows.products)
        return points.reshape(-1), products

    def go_on(self, shares):
        """Step 3, with shares of all next points that are kept."""
        self._rows = self._rows.map(SplitRows.mixed, shares)


# Functions of a block, for Blocks.sum and Blocks.map.


def _gram(block):
    return (block.design.sandwich(widened(block.weight)[:, None])[0],)


def _start(block, points, loss, strength):
    predictions = raw_predictions(block.design, points)
    residual = loss.evaluate(copied(predictions), block.target)[1]
    return SplitRows(block, loss, strength, predictions + residual / strength)


class SplitRows:
    """The rows of a block at a point, and at the last ones."""

    def __init__(self, block, loss, strength, point, kept=()):
        self._block, self._settings = block, (loss, strength)
        # Pairs of a residual and the next point that it leads to.
        self._kept = kept
        self._shift = loss.proximal_residual(point, block.target, strength)
        self._shift /= strength
        self._nearest = point - self._shift

    def coupling(self):
        """Weighted sum of 2 z - v times the row: (M, size)."""
        reflected = self._nearest - self._shift
        reflected *= self._block.weight[:, None]
        return (gradients(self._block.design, reflected, 1)[0],)

    def toward(self, parameters, n_kept):
        """With the residual at parameters, and the next point, kept."""
        predictions = raw_predictions(self._block.design, parameters[None])
        # Single precision is enough for the products and saves a quarter of memory.
        single = namespace(predictions).float32
        residual = as_type(predictions - self._nearest, single)
        other = copy.copy(self)
        predictions += self._shift
        other._kept = *self._kept[1 - n_kept :], (residual, predictions)
        return other

    def products(self):
        """Weighted products of the last residual with all that are kept."""
        weighted = self._kept[-1][0] * self._block.weight[:, None]
        products = [dot(weighted, last) for last, _ in self._kept]
        return (np.array(products),)

    def mixed(self, shares):
        """At a mixture of the next points."""
        point = zeros(self._nearest.shape, self._nearest)
        for share, (_, following) in zip(shares, self._kept, strict=True):
            point += float(share) * following
        return SplitRows(self._block, *self._settings, point, self._kept)
