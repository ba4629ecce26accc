"""Coordinates of each output in which the diagonal of its Hessian is one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._utils.arrays import rows_of
from ..._utils.typing import Array

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class OutputScaling:
    """An approximation B of the inverse Hessian of each output.

    In columns that are centred by the curvature of the output, B is the inverse of the
    diagonal. Means and variances of the columns are computed again when the total
    curvature of an output has changed much.

    Attributes
    ----------
    total : ndarray of shape (m,)
        Curvature of each output at the current point.
    total_before : ndarray of shape (m,)
        Curvature of each output when the moments were computed.
    mean, variance : ndarray of shape (m, size)
        Means and variances of the columns. Without an intercept means are zero, and
        variances mean squares. The constant column has mean zero and variance one.
    inverse : ndarray of shape (m, size)
        One over the diagonal of each Hessian in centred columns.
    """

    total: Array
    total_before: Array
    mean: Array
    variance: Array
    inverse: Array

    @classmethod
    def at(cls, point, has_intercept, precision):
        """The scaling at a point; in one pass."""
        total = _positive(point.total_curvature())
        mean, variance = _mean_and_variance(
            point, np.arange(len(total)), total, has_intercept, precision
        )
        inverse = _inverse(total, variance, point.ridge)
        return cls(total, total, mean, variance, inverse)

    def moved_to(self, point, has_intercept, precision, most_change):
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
                point, changed, total[changed], has_intercept, precision
            )
        inverse = _inverse(total, variance, point.ridge)
        return replace(
            self,
            total=total,
            total_before=before,
            mean=mean,
            variance=variance,
            inverse=inverse,
        )

    def of_outputs(self, some):
        """The scaling of some of the outputs."""
        matrices = self.mean, self.variance, self.inverse
        vectors = self.total[some], self.total_before[some]
        return OutputScaling(*vectors, *(rows_of(matrix, some) for matrix in matrices))

    def times(self, gradient):
        """B gradient (m, size), and ⟨gradient, B gradient⟩ of each output (m,)."""
        centred = gradient - self.mean * gradient[:, -1:]
        product = centred * self.inverse
        squares = (centred * product).sum(axis=1)
        product[:, -1] -= (self.mean * product).sum(axis=1)
        return product, squares


def _positive(total):
    # The scale is one where there is no curvature.
    return np.where(total > _EPS**2, total, 1.0)


def _mean_and_variance(point, some, total, has_intercept, precision):
    """Means and variances of the columns, weighted by the curvature of some outputs."""
    first, second = point.curvature_sums(some, precision)
    mean, square = first / total[:, None], second / total[:, None]
    if not has_intercept:
        return np.zeros_like(mean), square
    variance = np.maximum(square - np.square(mean), 0)
    mean[:, -1], variance[:, -1] = 0, 1
    return mean, variance


def _inverse(total, variance, ridge):
    diagonal = total[:, None] * variance + ridge
    largest = diagonal.max(axis=1, keepdims=True)
    return 1 / np.maximum(diagonal, _EPS * largest)
