"""Targets: a distribution over the classes for each row, dense or sparse.

Losses meet a target through a handful of operations, so that labels and label
sets, which have a few non-zeros a row, are never written out class by class.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ..mappings._rows import as_distributions, as_real


@dataclass(frozen=True)
class DenseTarget:
    """A target that may put weight on every class.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_classes)
        Rows on the probability simplex.
    """

    values: np.ndarray

    @property
    def shape(self):
        return self.values.shape

    def inner(self, array):
        """Σ_k q_k a_k of each row; where q_k = 0 an infinite a_k counts nothing."""
        with np.errstate(invalid="ignore"):
            inner = np.einsum("nk,nk->n", self.values, array)
            if not np.isfinite(inner).all():
                inner = np.where(self.values > 0, self.values * array, 0).sum(axis=1)
        return inner

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        array += factor * self.values

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        return self.values.astype(dtype, copy=False)

    @property
    def second(self):
        """Of two classes, the second's probability in each row."""
        return self.values[:, 1]

    def packed(self):
        """The rows without what their entropy does not depend on."""
        return self.values

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        return weight @ self.values

    def block(self, rows):
        """The target of a slice of rows."""
        return DenseTarget(self.values[rows])

    def take(self, rows):
        """The target of rows given by their numbers."""
        return DenseTarget(self.values[rows])


@dataclass(frozen=True)
class SparseTarget:
    """A target with few non-zeros in a row.

    Parameters
    ----------
    indptr : ndarray of shape (n_samples + 1,)
        Row ``i`` has entries ``indptr[i]`` to ``indptr[i + 1]``.
    columns : ndarray of shape (n_entries,)
        Class of each entry; no class twice in a row.
    values : ndarray of shape (n_entries,)
        Positive; they sum to one in each row.
    n_classes : int
    """

    indptr: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    n_classes: int

    @classmethod
    def from_labels(cls, labels, n_classes, dtype=np.float64):
        """Target of one class a row, given by its index."""
        n = len(labels)
        return cls(np.arange(n + 1), labels, np.ones(n, dtype=dtype), n_classes)

    @property
    def shape(self):
        return len(self.indptr) - 1, self.n_classes

    @property
    def _rows(self):
        rows = np.arange(self.shape[0])
        return rows if self._one_a_row else np.repeat(rows, np.diff(self.indptr))

    @property
    def _one_a_row(self):
        # Every row has an entry, so the count tells.
        return len(self.columns) == self.shape[0]

    def inner(self, array):
        """Σ_k q_k a_k of each row; where q_k = 0 an infinite a_k counts nothing."""
        view, places = self._places_in(array)
        terms = self.values * view[places]
        return terms if self._one_a_row else np.add.reduceat(terms, self.indptr[:-1])

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        view, places = self._places_in(array)
        view[places] += factor * self.values

    def _places_in(self, array):
        """A view of an array, and the index of the entries there."""
        # One index takes half as long as two.
        if array.flags.f_contiguous:
            return array.T.reshape(-1), self._places_by_class
        if array.flags.c_contiguous:
            return array.reshape(-1), self._places_by_row
        return array, (self._rows, self.columns)

    @cached_property
    def _places_by_class(self):
        return self.columns.astype(np.intp) * self.shape[0] + self._rows

    @cached_property
    def _places_by_row(self):
        return self._rows * self.n_classes + self.columns

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        dense = np.zeros(self.shape, dtype=dtype)
        dense[self._rows, self.columns] = self.values
        return dense

    @cached_property
    def second(self):
        """Of two classes, the second's probability in each row."""
        return self.to_dense(self.values.dtype)[:, 1].copy()

    def packed(self):
        """The rows without what their entropy does not depend on."""
        if self._one_a_row:
            return self.values[:, None]
        rows, counts = self._rows, np.diff(self.indptr)
        packed = np.zeros((len(counts), counts.max(initial=1)), self.values.dtype)
        packed[rows, np.arange(len(rows)) - self.indptr[rows]] = self.values
        return packed

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        terms = self.values * weight[self._rows]
        return np.bincount(self.columns, terms, minlength=self.n_classes)

    def block(self, rows):
        """The target of a slice of rows."""
        start, stop, _ = rows.indices(self.shape[0])
        first, last = self.indptr[start], self.indptr[stop]
        return SparseTarget(
            self.indptr[start : stop + 1] - first,
            self.columns[first:last],
            self.values[first:last],
            self.n_classes,
        )

    def take(self, rows):
        """The target of rows given by their numbers."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(counts))
        entries = np.repeat(self.indptr[rows] - indptr[:-1], counts)
        entries += np.arange(len(entries))
        return SparseTarget(
            indptr, self.columns[entries], self.values[entries], self.n_classes
        )


def as_target(target, shape, dtype):
    """The checked target that an array or sparse matrix of distributions is.

    Raises ValueError where it does not have the given shape or a row is not on
    the probability simplex.
    """
    if not sparse.issparse(target):
        target = as_real("target", target)
    if target.shape != shape:
        raise ValueError(
            f"target must have the shape of scores, {shape}; got {target.shape}."
        )
    if not sparse.issparse(target):
        return DenseTarget(as_distributions(target, "target").astype(dtype, copy=False))
    target = as_sparse_distributions(target, "target")
    values = target.data.astype(dtype, copy=False)
    return SparseTarget(target.indptr, target.indices, values, shape[1])


def as_sparse_distributions(probabilities, name="probabilities"):
    """A sparse matrix as a CSR array of its non-zeros, its rows on the simplex."""
    if probabilities.ndim != 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_classes), got shape "
            f"{probabilities.shape}."
        )
    p = sparse.csr_array(probabilities, copy=True)
    p.data = as_real(name, p.data)
    p.sum_duplicates()
    p.eliminate_zeros()
    total = p.sum(axis=1, dtype=np.float64)
    lowest = np.zeros(len(total))
    np.fmin.at(lowest, p.tocoo().row, p.data)
    # NaN makes the sum NaN, which fails the comparison.
    good = (np.abs(total - 1) <= 1e3 * np.finfo(p.dtype).eps) & (lowest >= 0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            f"{name} must be rows of non-negative numbers that sum to one; row {row} "
            f"has minimum {lowest[row]:.6g} and sum {total[row]:.6g}."
        )
    return p
