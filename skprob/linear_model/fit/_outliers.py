"""Whether a few huge values of a feature hide the differences of its other values.

A feature is standardised by its deviation. With one value of 1e12 among values of about
one, the deviation is 1e12 divided by the root of the number of rows, and the gradient
in the feature's parameter is a rounding error, although the coefficient may still lower
the loss of the other rows. So all criteria of a solver can be met far above the
minimum. The duality gap does not show it, because it is computed only where the penalty
is more than next to nothing in the units of each feature.
"""

import math

import numpy as np
from scipy import sparse

from ..._utils.arrays import precision
from ...solvers import allowed_decrease
from ._objectives import penalty_strength

# Values no farther from the mean than the deviation have a deviation of their own. If
# it is smaller by this power of the precision of X, larger values may hide it. With one
# value of 10, 100, ... in iris, wine and breast cancer, fits were more than 5 % too
# high from a ratio of 3e-9 (float64) and 3e-5 (float32) on.
_HIDDEN = 0.35
# Most numbers of X that are copied at a time.
_MOST_NUMBERS = 1 << 18
# Largest length of a step in units of the inverse of the largest curvature, and the
# ratio of two lengths.
_LONGEST, _SHORTER = 64.0, 4.0
# Most coefficients of a feature that are moved alone.
_MOST_ALONE = 16


def examined(solution, objective, spec, rows):
    """A solution that is not called converged where a feature shows that it is not.

    The coefficients of each feature with hidden values are moved, together with the
    intercepts, and the objective is evaluated there. Only features whose penalty is
    next to nothing are examined, of rows in memory.

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
    if rows.host_X is None or spec.unit_rows is not None:
        return solution
    if not objective.description.keeps_raw_predictions:
        return solution
    numbers, mean, deviation = objective.features_with_little_penalty()
    if len(numbers) == 0:
        return solution
    origin, spread = _of_other_values(rows, numbers, mean, deviation)
    least = precision(objective.description.dtype) ** _HIDDEN * deviation
    hidden = np.flatnonzero((spread > 0) & (spread < least))
    if len(hidden) == 0:
        return solution
    fitted = _FittedRows(objective, solution, spec, rows)
    limit = allowed_decrease(objective, solution.value, spec.tol)
    for j in hidden:
        number = numbers[j]
        with np.errstate(over="ignore", invalid="ignore"):
            decrease = fitted.decrease_along(number, origin[j], spread[j], limit)
        if decrease > limit:
            names = spec.feature_names
            name = int(number) if names is None else names[number]
            largest = np.abs(_column(rows.host_X, number)).max()
            message = (
                f"the objective, {solution.value:.6g}, can fall by {decrease:.3g} "
                f"along feature {name!r}. Its values up to {largest:.3g} hide "
                f"those of the other rows, whose standard deviation is {spread[j]:.3g}"
            )
            return solution._replace(
                converged=False, message=message, remedies=("values",)
            )
    return solution


def _of_other_values(rows, numbers, mean, deviation):
    """Mean and deviation of the values no farther from the mean than the deviation.

    Parameters
    ----------
    rows : RowsInMemory
    numbers : ndarray of shape (n,)
        Numbers of features.
    mean, deviation : ndarray of shape (n,)
        Of all values of these features.
    """
    X, weight = rows.host_X, rows.weight / rows.total_weight
    is_sparse, origin, sums = sparse.issparse(X), np.zeros(len(numbers)), 0.0
    width = len(numbers) if not is_sparse else X.nnz // max(X.shape[0], 1)
    step = max(_MOST_NUMBERS // max(width, 1), 1)
    sums_of = _sums_of_sparse if is_sparse else _sums_of_dense
    for start in range(0, X.shape[0], step):
        x = X[start : start + step]
        x = x if len(numbers) == X.shape[1] else x[:, numbers]
        if not (start or is_sparse):
            # One of the values, so that their differences have all digits.
            origin = np.median(x[: 1 | min(len(x) - 1, 63)], axis=0).astype(np.float64)
        sums = sums + sums_of(x, weight[start : start + step], origin, mean, deviation)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = np.nan_to_num(sums[1:] / sums[0])
    return origin + first, np.sqrt(np.maximum(second - first**2, 0))


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


def _column(X, number):
    """A feature of all rows: float64 of shape (n_rows,)."""
    column = X[:, [number]]
    column = column.toarray() if sparse.issparse(column) else np.asarray(column)
    return column[:, 0].astype(np.float64, copy=False)


class _FittedRows:
    """The rows of a fit, at the raw predictions of its solution."""

    def __init__(self, objective, solution, spec, rows):
        self._spec, self._loss = spec, spec.loss
        self._X, strength = rows.host_X, penalty_strength(spec.C, rows.total_weight)
        self._ridge = (1 - spec.l1_ratio) * strength
        self._lasso = spec.l1_ratio * strength
        self._coef, intercept = objective.to_model(solution.parameters)
        blocks = rows.blocks(spec.mapping.traits.polytope, tuning=spec.tuning)
        self._blocks = blocks.collect(_itself)
        self._raw = [
            block.design.matvec(self._coef, intercept) for block in self._blocks
        ]

    def decrease_along(self, number, centre, spread, limit):
        """By how much the objective falls along a feature; 0 if no more than the limit.

        A step of the coefficients (M,) is the negative gradient, divided by a bound of
        the curvature of most losses. The intercepts change by -centre times that. Where
        the loss of a huge value grows along the whole step, it may fall along that of a
        single coefficient.
        """
        x, square = _column(self._X, number), spread**2
        if self._spec.fit_intercept:
            x = x - centre
        else:
            square += centre**2
        factors = self._spec.penalty_factors
        factor = 1.0 if factors is None else factors[number]
        coef = self._coef[:, number]
        losses, residuals = zip(*self._evaluated(x, 0 * coef), strict=True)
        value = sum(losses) + factor * self._penalty(coef)
        gradient = x @ np.concatenate(residuals) + factor * self._ridge * coef
        gradient = self._smallest_subgradient(gradient, coef, factor * self._lasso)
        whole = -gradient / (square / 4 + factor * self._ridge)
        largest = np.argsort(-np.abs(whole))[:_MOST_ALONE]
        alone = [np.where(np.arange(len(coef)) == m, whole, 0) for m in largest]
        for step in [whole, *alone] if len(coef) > 1 else [whole]:
            slope, length = float(-gradient @ step), _LONGEST
            # The objective is convex: it falls by no more than its slope says.
            while math.isfinite(slope) and length * slope > limit:
                losses, _ = zip(*self._evaluated(x, length * step), strict=True)
                penalty = factor * self._penalty(coef + length * step)
                decrease = value - sum(losses) - penalty
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

    def _evaluated(self, x, step):
        """Loss of each block, and weighted gradient in its raw predictions."""
        start = 0
        for block, raw in zip(self._blocks, self._raw, strict=True):
            end = start + len(raw)
            moved = raw + (x[start:end, None] * step).astype(raw.dtype)
            values, residual = block.evaluate(self._loss, moved)
            residual = residual * block.weight[:, None]
            yield float(block.weight.astype(np.float64) @ values), residual
            start = end


def _itself(block):
    return block
