"""The Hessian matrix of some parameters of a block.

With J_i the weighted Hessian of a row's loss in its raw predictions the entry of output
k and column a, and of output m and column b, is Σ_i J_i[k, m] z_ia z_ib. Where J_i is a
diagonal less an outer product, diag(d_i) - v_i v_iᵀ, the Hessian is one product of the
diagonal for each output, less one of v with all parameters in it: letter, with 26
classes, takes a tenth of the time of products for all pairs of outputs. With many
outputs and most of their parameters, one product of all pairs of outputs with all pairs
of columns takes half of that time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._utils.arrays import namespace, to_numpy, upper_triangle, widened
from .._utils.tuning import Tuning
from .._utils.typing import Array

# Most numbers of an array of rows and parameters that is multiplied at a time (4 MiB).
_NUMBERS_AT_ONCE = 1 << 19


class RowHessians(NamedTuple):
    """Weighted Hessians of the losses of rows, in their M raw predictions.

    Attributes
    ----------
    diagonal : ndarray of shape (n_rows, M) or None
        Non-negative diagonal, or None.
    vector : ndarray of shape (n_rows, M) or None
        Its outer product is subtracted from the diagonal.
    matrices : ndarray of shape (n_rows, M, M) or None
        The Hessians, where these have another form.
    """

    diagonal: Array | None
    vector: Array | None = None
    matrices: Array | None = None

    @classmethod
    def of(cls, linear, weight, traits):
        """The curvatures of a ``LossLinearization``."""
        weight = to_numpy(weight).astype(np.float64, copy=False)[:, None]
        slopes = linear.slopes()
        if slopes is None and not traits.is_separable:
            matrices = to_numpy(widened(linear.hessian_matrices()))
            if matrices.shape[1] > 1:
                return cls(None, None, weight[:, None] * matrices)
            return cls(_positive(weight * matrices[:, :, 0]))
        if slopes is None:
            diagonal = to_numpy(widened(linear.hessian_diagonal()))
            return cls(_positive(weight * diagonal))
        slopes = to_numpy(widened(slopes))
        # Rows with one class have no curvature.
        is_flat = np.count_nonzero(slopes, axis=1) < 2
        if is_flat.any():
            slopes = np.where(is_flat[:, None], 0.0, slopes)
        total = slopes.sum(axis=1, keepdims=True)
        vector = slopes * np.sqrt(weight / np.where(total > 0, total, 1))
        return cls(weight * slopes, vector)

    @property
    def numbers(self):
        """All arrays in one, to check that the numbers are finite."""
        return self.diagonal if self.matrices is None else self.matrices

    def of_outputs(self, some):
        """The Hessians in some of the raw predictions: an index of these."""
        if self.matrices is not None:
            return RowHessians(None, None, self.matrices[:, some][:, :, some])
        vector = None if self.vector is None else self.vector[:, some]
        return RowHessians(self.diagonal[:, some], vector)

    def of_rows(self, some):
        """The Hessians of some rows: an index of these."""
        return RowHessians(*(None if array is None else array[some] for array in self))

    def sampled(self, share):
        """The curvatures of some rows, drawn in proportion to their curvature."""
        if self.matrices is None:
            curvature = self.diagonal.sum(axis=1)
        else:
            curvature = np.trace(self.matrices, axis1=1, axis2=2)
        total, n_drawn = curvature.sum(), share * len(curvature)
        if not total > 0:
            return self
        counts, factors = (
            systematic_sample(curvature, n_drawn),
            np.zeros_like(curvature),
        )
        drawn = np.flatnonzero(counts)
        factors[drawn] = counts[drawn] * total / n_drawn / curvature[drawn]
        if self.matrices is not None:
            return RowHessians(None, None, self.matrices * factors[:, None, None])
        vector = self.vector
        if vector is not None:
            vector = np.sqrt(factors)[:, None] * vector
        return RowHessians(self.diagonal * factors[:, None], vector)

    @property
    def has_curvature(self):
        """Whether each row has curvature: (n_rows,)."""
        return self.numbers.any(axis=tuple(range(1, self.numbers.ndim)))

    def astype(self, dtype):
        """The row Hessians in another precision, which the Hessian then has."""
        arrays = (
            None if array is None else array.astype(dtype, copy=False) for array in self
        )
        return RowHessians(*arrays)

    def of_piece(self, design, included, tuning=Tuning()):
        """Σ_i J_i ⊗ z_i z_iᵀ of the included pairs of output and column, (M, size)."""
        has_some = included.any(axis=1)
        if not has_some.all():
            return self.of_outputs(has_some).of_piece(
                design, included[has_some], tuning
            )
        dtype = self.numbers.dtype
        outputs, columns = np.nonzero(included)
        ends = np.searchsorted(outputs, np.arange(len(included) + 1))
        pieces = [slice(*each) for each in pairwise(ends)]
        hessian = np.zeros((len(columns), len(columns)), dtype)
        has_grams = self.matrices is None and design.is_sparse(tuning.sparse_share)
        if has_grams and self._add_grams(hessian, design, columns, outputs, pieces):
            return hessian
        if self._has_most(included, tuning):
            some = included.reshape(-1).nonzero()[0]
            return self._of_all(design).take(some, axis=0).take(some, axis=1)
        length = max(_NUMBERS_AT_ONCE // max(included.shape[1], len(columns)), 64)
        for part in self._parts_of_rows(length):
            factors = to_numpy(design.columns(part)).astype(dtype, copy=False)
            factors = factors.take(columns, axis=0)
            if self.matrices is None:
                self._add_diagonal(hessian, factors, pieces, part)
                if self.vector is not None:
                    scaled = factors * self.vector[part].T.take(outputs, axis=0)
                    hessian -= scaled @ scaled.T
            else:
                self._add_pairs(hessian, factors, pieces, part)
        return hessian

    def _parts_of_rows(self, length):
        """Yield parts of at most `length` rows with curvature: numbers, or a slice."""
        rows = np.flatnonzero(self.has_curvature)
        for start in range(0, len(rows), length):
            part = rows[start : start + length]
            if len(part) == part[-1] + 1 - part[0]:
                part = slice(part[0], part[-1] + 1)  # A slice makes no copy.
            yield part

    def _has_most(self, included, tuning):
        """Whether it is faster to take a part of the Hessian of all parameters."""
        if self.vector is None or len(included) < tuning.outputs_of_pairs:
            return False
        return np.count_nonzero(included) >= tuning.share_of_pairs * included.size

    def _of_all(self, design):
        """The Hessian of all parameters by one product of all pairs."""
        n_outputs, size = self.diagonal.shape[1], design.shape[1]
        first, second, number = upper_triangle(n_outputs)
        left, right, place = upper_triangle(size)
        products = np.zeros((len(first), len(left)), self.diagonal.dtype)
        length = max(_NUMBERS_AT_ONCE // (len(first) + len(left)), 64)
        for rows in self._parts_of_rows(length):
            columns = to_numpy(design.columns(rows)).astype(products.dtype, copy=False)
            vector = np.ascontiguousarray(self.vector[rows].T)
            of_outputs = vector.take(first, axis=0) * vector.take(second, axis=0)
            of_outputs[first == second] -= self.diagonal[rows].T
            of_columns = columns.take(left, axis=0) * columns.take(right, axis=0)
            products -= of_outputs @ of_columns.T
        # Axes: first output, second output, column and column.
        blocks = products.take(number, axis=0).take(place, axis=2)
        n_parameters = n_outputs * size
        return blocks.transpose(0, 2, 1, 3).reshape(n_parameters, n_parameters)

    def _add_grams(self, hessian, design, columns, outputs, pieces):
        """Add products of sparse matrices; returns whether the design has them."""
        roots = np.sqrt(self.diagonal)
        for k, piece in enumerate(pieces):
            some = columns[piece]
            gram = design.gram(some, roots[:, k : k + 1], np.zeros_like(some))
            if gram is None:
                return False
            hessian[piece, piece] = gram
        if self.vector is not None:
            hessian -= design.gram(columns, self.vector, outputs)
        return True

    def _add_diagonal(self, hessian, factors, pieces, part):
        roots = np.sqrt(self.diagonal[part]).T
        for piece, root in zip(pieces, roots, strict=True):
            scaled = factors[piece] * root
            hessian[piece, piece] += scaled @ scaled.T

    def _add_pairs(self, hessian, factors, pieces, part):
        for k, first in enumerate(pieces):
            for m, second in enumerate(pieces[: k + 1]):
                weighted = factors[second] * self.matrices[part, k, m]
                block = factors[first] @ weighted.T
                hessian[first, second] += block
                if m < k:
                    hessian[second, first] += block.T


def _positive(diagonal):
    return np.maximum(diagonal, 0)


def systematic_sample(importance, n_drawn):
    """Number of draws of each row, in proportion to its importance.

    The importance is an array of any library; the result is one of the same library.
    """
    xp = namespace(importance)
    reached = xp.cumulative_sum(importance, axis=0)
    reached *= n_drawn / float(reached[-1])
    reached = xp.floor(reached + 0.5)
    return xp.concat([reached[:1], reached[1:] - reached[:-1]])


def add_penalty_to_piece(hessian, included, diagonal, common_columns):
    """Add a penalty to the Hessian of some parameters, in place.

    A common column gets curvature, as by :func:`add_penalty`, if it is included for all
    raw predictions.

    Parameters
    ----------
    hessian : ndarray of shape (n_included, n_included)
        In the order of the parameters.
    included : ndarray of bool of shape (M, size)
        The parameters of the Hessian.
    diagonal, common_columns
        As for :func:`add_penalty`.
    """
    columns = np.nonzero(included)[1]
    on_diagonal = np.einsum("ii->i", hessian)  # A view.
    on_diagonal += diagonal[columns]
    for column in common_columns:
        entries = np.flatnonzero(columns == column)
        if len(entries) == len(included):
            hessian[np.ix_(entries, entries)] += 1 / len(included)
