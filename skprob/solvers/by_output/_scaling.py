"""Coordinates of each output in which the diagonal of its Hessian is one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._utils.arrays import rows_of
from ..._utils.typing import Array

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class OutputScaling:
    """Variables of each output in which its Hessian is about the identity.

    The columns are centred by the curvature of the output, and in units in which the
    diagonal of its Hessian is one. Means and variances of the columns are computed
    again when the total curvature of an output has changed much.

    Matrices (m, size) are in Fortran order, and variables (size, m) in C order: SciPy
    multiplies sparse matrices with such arrays.

    Attributes
    ----------
    total : ndarray of shape (m,)
        Curvature of each output at the current point.
    total_before : ndarray of shape (m,)
        Curvature of each output when the moments were computed.
    mean, variance : ndarray of shape (m, size)
        Means and variances of the columns. Without an intercept means are zero, and
        variances mean squares. The constant column has mean zero and variance one.
    unit : ndarray of shape (m, size)
        One over the root of the diagonal of each Hessian in centred columns.
    precision : type
        Floating-point type of the matrices and of variables.
    """

    total: Array
    total_before: Array
    mean: Array
    variance: Array
    unit: Array
    precision: type

    @classmethod
    def at(cls, point, has_intercept, precision):
        """The scaling at a point; in one pass."""
        total = _positive(point.total_curvature())
        mean, variance = _mean_and_variance(
            point, np.arange(len(total)), total, has_intercept, precision
        )
        unit = _unit(total, variance, point.ridge)
        return cls(total, total, mean, variance, unit, precision)

    def moved_to(self, point, has_intercept, most_change):
        """The scaling of the same outputs at another point.

        It takes a pass for the outputs whose curvature has changed by more than a
        factor since the moments were computed.
        """
        total = _positive(point.total_curvature())
        ratio = total / self.total_before
        changed = np.flatnonzero(np.maximum(ratio, 1 / ratio) > most_change)
        mean, variance, before = self.mean, self.variance, self.total_before.copy()
        if len(changed):
            mean, variance = mean.copy(order="K"), variance.copy(order="K")
            before[changed] = total[changed]
            mean[changed], variance[changed] = _mean_and_variance(
                point, changed, total[changed], has_intercept, self.precision
            )
        unit = _unit(total, variance, point.ridge)
        return replace(
            self,
            total=total,
            total_before=before,
            mean=mean,
            variance=variance,
            unit=unit,
        )

    def of_outputs(self, some):
        """The scaling of some of the outputs."""
        matrices = self.mean, self.variance, self.unit
        vectors = self.total[some], self.total_before[some]
        matrices = (rows_of(matrix, some) for matrix in matrices)
        return OutputScaling(*vectors, *matrices, self.precision)

    def hessian_at(self, point):
        """The ``OutputsHessian`` of the same outputs at a point, in the variables."""
        center = (self.mean * self.unit)[:, :-1]
        return point.scaled_hessian(self.unit, center, self.precision)

    def gradient(self, gradient):
        """Gradient (size, m) in the variables, of one (m, size) in the parameters."""
        slope = gradient.T.astype(self.precision, order="C")
        slope -= self.mean.T * slope[-1]
        slope *= self.unit.T
        return slope

    def to_parameters(self, variables):
        """Parameters (m, size) of variables (size, m), in double precision."""
        coef = self.unit.T * variables
        coef[-1] -= np.einsum("jk,jk->k", self.mean.T, coef)
        return coef.T.astype(np.float64, order="C")


def squared_lengths(variables):
    """Squared lengths (m,) of the columns of variables (size, m), in float64."""
    return np.einsum("jk,jk->k", variables, variables).astype(np.float64, copy=False)


def _positive(total):
    # The scale is one where there is no curvature.
    return np.where(total > _EPS**2, total, 1.0)


def _mean_and_variance(point, some, total, has_intercept, precision):
    """Means and variances of the columns, weighted by the curvature of some outputs."""
    first, second = point.curvature_sums(some, precision)
    mean, square = first / total[:, None], second / total[:, None]
    if has_intercept:
        square -= np.square(mean)
        np.maximum(square, 0, out=square)
        mean[:, -1], square[:, -1] = 0, 1
    else:
        mean = np.zeros_like(mean)
    return (matrix.astype(precision, order="F") for matrix in (mean, square))


def _unit(total, variance, ridge):
    diagonal = total[:, None].astype(variance.dtype) * variance
    diagonal += ridge.astype(variance.dtype)
    largest = diagonal.max(axis=1, keepdims=True)
    np.maximum(diagonal, _EPS * largest, out=diagonal)
    return np.reciprocal(np.sqrt(diagonal, out=diagonal), out=diagonal)
