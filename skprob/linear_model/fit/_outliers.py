"""Check whether huge values of a feature hide the differences of its other values.

A feature is divided by its deviation. With one value of 1e12 among values of about one,
the deviation is 1e12 divided by the root of the number of rows. The gradient in the
feature's parameter is then a rounding error, although the coefficient may still lower
the loss of the other rows. So all criteria of a solver can hold far above the minimum.
The duality gap does not show it: it is not computed if the penalty of a feature is
negligible in the feature's units.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..._utils.arrays import precision
from ...solvers import allowed_decrease
from ._run import penalty_strength

# Exponent of the precision of X. Let the near values be those that are no farther from
# the mean than the deviation. Larger values may hide their differences if the deviation
# of the near values is less than the precision to this power, times the deviation. With
# one value of 10, 100, ... in iris, wine and breast cancer, objectives are more than 5
# % too high from a ratio of 3e-9 (float64) and 3e-5 (float32) on.
_HIDDEN_EXPONENT = 0.35
# Most numbers of X that are copied at a time.
_MOST_NUMBERS = 1 << 18
# Largest length of a step in units of the inverse of the largest curvature, and the
# ratio of two lengths.
_LONGEST, _SHORTER = 64.0, 4.0
# Most coefficients of a feature that are moved one at a time.
_MOST_SINGLE_MOVES = 16


def examined(solution, objective, spec, rows):
    """The solution, marked as not converged if a feature with outliers shows it.

    The coefficients of each feature with hidden values are moved, together with the
    intercepts, and the objective is evaluated there. Only features with a negligible
    penalty are examined, of rows in NumPy arrays or CSR matrices, in memory or in the
    partitions of Dask collections.

    Parameters
    ----------
    solution : Solution
    objective : LinearObjective
    spec : FitSpec
        The spec of these rows.
    rows : RowsInMemory or DaskRows

    Returns
    -------
    solution : Solution
    """
    if not rows.is_on_host or spec.unit_rows is not None:
        return solution
    if not (rows.is_remote or objective.description.keeps_raw_predictions):
        return solution
    numbers, mean, deviation = objective.features_with_little_penalty()
    if len(numbers) == 0:
        return solution
    blocks = rows.blocks(spec.loss.mapping.traits.polytope)
    origin, spread = _of_other_values(blocks, rows.is_sparse, numbers, mean, deviation)
    least = precision(objective.description.dtype) ** _HIDDEN_EXPONENT * deviation
    hidden = np.flatnonzero((spread > 0) & (spread < least))
    if len(hidden) == 0:
        return solution
    fitted = _FittedRows(blocks, objective, solution, spec, rows.total_weight)
    limit = allowed_decrease(objective, solution.value, spec.tol)
    for j in hidden:
        number = numbers[j]
        with np.errstate(over="ignore", invalid="ignore"):
            decrease = fitted.decrease_along(number, origin[j], spread[j], limit)
        if decrease > limit:
            names = spec.feature_names
            name = int(number) if names is None else names[number]
            largest = max(blocks.collect(_largest, number))
            message = (
                f"the objective, {solution.value:.6g}, can fall by {decrease:.3g} "
                f"along feature {name!r}. Its values up to {largest:.3g} hide "
                f"those of the other rows, whose standard deviation is {spread[j]:.3g}"
            )
            return solution._replace(
                converged=False, message=message, remedies=("values",)
            )
    return solution


def _of_other_values(blocks, is_sparse, numbers, mean, deviation):
    """Mean and deviation of the values no farther from the mean than the deviation.

    Parameters
    ----------
    blocks : Blocks of Block
    is_sparse : bool
        Whether some of the rows are sparse.
    numbers : ndarray of shape (n,)
        Numbers of features.
    mean, deviation : ndarray of shape (n,)
        Mean and deviation of all values of these features.
    """
    origin = np.zeros(len(numbers))
    if not is_sparse:
        # An origin near the values, so that their differences keep all digits.
        first, *_ = blocks.collect(_typical_values, numbers)
        origin = first
    (sums,) = blocks.sum(_sums_of_block, numbers, origin, mean, deviation)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = np.nan_to_num(sums[1:] / sums[0])
    return origin + first, np.sqrt(np.maximum(second - first**2, 0))


def _typical_values(block, numbers):
    """The median of an odd number of rows, for some features."""
    some = slice(1 | min(block.design.shape[0] - 1, 63))
    return np.median(block.design.host_X[some][:, numbers], axis=0).astype(np.float64)


def _sums_of_block(block, numbers, origin, mean, deviation):
    """Sums over the values of a block that are near the mean, of shape (3, n)."""
    X, weight, sums = block.design.host_X, block.weight.astype(np.float64), 0.0
    is_sparse = sparse.issparse(X)
    width = len(numbers) if not is_sparse else X.nnz // max(X.shape[0], 1)
    step = max(_MOST_NUMBERS // max(width, 1), 1)
    sums_of = _sums_of_sparse if is_sparse else _sums_of_dense
    for start in range(0, X.shape[0], step):
        x = X[start : start + step]
        x = x if len(numbers) == X.shape[1] else x[:, numbers]
        sums = sums + sums_of(x, weight[start : start + step], origin, mean, deviation)
    return (sums,)


def _sums_of_dense(x, weight, origin, mean, deviation):
    """Sums of w, w z and w z² for z = x - origin, of the values near the mean."""
    x = x.astype(np.float64, copy=False)
    is_near = np.abs(x - mean) <= deviation
    x = np.where(is_near, x - origin, 0.0)
    return np.array([weight @ is_near, weight @ x, weight @ np.square(x)])


def _sums_of_sparse(x, weight, origin, mean, deviation):
    """The sums of `_sums_of_dense` for sparse rows, whose origin is zero."""
    size, data = len(origin), x.data.astype(np.float64)
    weights = np.repeat(weight, np.diff(x.indptr))

    def total(values):
        return np.bincount(x.indices, values, minlength=size)

    zeros = (np.abs(mean) <= deviation) * (weight.sum() - total(weights))
    is_near = np.abs(data - mean[x.indices]) <= deviation[x.indices]
    data = np.where(is_near, data, 0.0)
    weighted = weights * data
    near = total(weights * is_near) + zeros
    return np.array([near, total(weighted), total(weighted * data)])


def _column(block, number):
    """A feature of the rows of a block: float64 of shape (n_rows,)."""
    column = block.design.host_X[:, [number]]
    column = column.toarray() if sparse.issparse(column) else np.asarray(column)
    return column[:, 0].astype(np.float64, copy=False)


def _largest(block, number):
    return float(np.abs(_column(block, number)).max())


class _FittedBlock(NamedTuple):
    """A block at the raw predictions of a solution, and the values of a feature."""

    block: Any
    raw: np.ndarray
    x: np.ndarray | None = None

    @classmethod
    def of(cls, block, coef, intercept):
        return cls(block, block.design.matvec(coef, intercept))


def _along_feature(fitted, number, centre):
    return fitted._replace(x=_column(fitted.block, number) - centre)


def _moved(fitted, loss, step):
    """Loss, and gradient (M,), where a feature's coefficients change by a step (M,)."""
    block, raw, x = fitted
    moved = raw + (x[:, None] * step).astype(raw.dtype)
    values, residual = block.evaluate(loss, moved)
    gradient = x @ (residual * block.weight[:, None])
    return float(block.weight.astype(np.float64) @ values), gradient


class _FittedRows:
    """The rows of a fit, at the raw predictions of its solution."""

    def __init__(self, blocks, objective, solution, spec, total_weight):
        self._spec, strength = spec, penalty_strength(spec.C, total_weight)
        self._ridge = (1 - spec.l1_ratio) * strength
        self._lasso = spec.l1_ratio * strength
        self._coef, intercept = objective.to_model(solution.parameters)
        self._blocks = blocks.map(_FittedBlock.of, self._coef, intercept)

    def decrease_along(self, number, centre, spread, limit):
        """Decrease of the objective along a feature; 0 if it is at most the limit.

        A step of the coefficients (M,) is the negative gradient, divided by a bound of
        the curvature of most losses. The intercepts change by -centre times the step.
        If the loss of a huge value grows along the step of all coefficients, it may
        still fall along the step of a single one.
        """
        square = spread**2
        if not self._spec.fit_intercept:
            square, centre = square + centre**2, 0.0
        blocks = self._blocks.map(_along_feature, number, centre)
        factors = self._spec.penalty_factors
        factor = 1.0 if factors is None else factors[number]
        coef = self._coef[:, number]
        loss, gradient = self._moved(blocks, 0 * coef)
        value = loss + factor * self._penalty(coef)
        gradient = gradient + factor * self._ridge * coef
        gradient = self._smallest_subgradient(gradient, coef, factor * self._lasso)
        whole = -gradient / (square / 4 + factor * self._ridge)
        largest = np.argsort(-np.abs(whole))[:_MOST_SINGLE_MOVES]
        alone = [np.where(np.arange(len(coef)) == m, whole, 0) for m in largest]
        for step in [whole, *alone] if len(coef) > 1 else [whole]:
            slope, length = float(-gradient @ step), _LONGEST
            # The objective is convex: it falls by at most length times slope.
            while math.isfinite(slope) and length * slope > limit:
                loss, _ = self._moved(blocks, length * step)
                penalty = factor * self._penalty(coef + length * step)
                decrease = value - loss - penalty
                if decrease > limit:
                    return float(decrease)
                length /= _SHORTER
        return 0.0

    def _penalty(self, coef):
        """Penalty of the coefficients (M,) of a feature with a factor of one."""
        size = np.linalg.norm(coef, ord=None if self._by_feature else 1)
        return self._ridge / 2 * float(coef @ coef) + self._lasso * float(size)

    def _smallest_subgradient(self, gradient, coef, lasso):
        """The sum of a gradient (M,) and the smallest subgradient of the lasso."""
        if lasso == 0:
            return gradient
        if not self._by_feature:
            at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - lasso, 0)
            return np.where(coef != 0, gradient + lasso * np.sign(coef), at_zero)
        if coef.any():
            return gradient + lasso * coef / np.linalg.norm(coef)
        return gradient * max(1 - lasso / (np.linalg.norm(gradient) or np.inf), 0)

    @property
    def _by_feature(self):
        return self._spec.select == "features"

    def _moved(self, blocks, step):
        """Loss and gradient (M,) where a feature's coefficients change by a step."""
        loss, gradient = blocks.sum(_moved, self._spec.loss, step)
        return float(loss), gradient
