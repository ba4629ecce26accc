"""A target that stores only its non-zeros."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class SparseTarget:
    """A target with few non-zeros in a row.

    Parameters
    ----------
    indptr : ndarray of shape (n_samples + 1,)
        Row ``i`` has entries ``indptr[i]`` to ``indptr[i + 1]``.
    columns : ndarray of shape (n_entries,)
        Class of each entry; a row has each class at most once.
    values : ndarray of shape (n_entries,)
        Positive; in each row they sum to one, or they are marginals of labels.
    n_classes : int

    Examples
    --------
    The sets {0} and {0, 1}:

    >>> import numpy as np
    >>> from skprob.targets import SparseTarget
    >>> indptr, columns = np.array([0, 1, 3]), np.array([0, 0, 1])
    >>> sets = SparseTarget(indptr, columns, np.array([1, 0.5, 0.5]), n_classes=3)
    >>> sets.to_dense(float)
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ]])
    """

    indptr: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    n_classes: int

    @property
    def shape(self):
        return len(self.indptr) - 1, self.n_classes

    @property
    def dtype(self):
        return self.values.dtype

    @cached_property
    def _rows(self):
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @cached_property
    def _filled(self):
        """The rows that have an entry."""
        return np.flatnonzero(self.indptr[1:] > self.indptr[:-1])

    def inner(self, array):
        """Σ_k q_k a_k of each row; an infinite a_k does not count where q_k = 0."""
        terms = self.values * array[self._rows, self.columns]
        inner = np.zeros(self.shape[0], dtype=terms.dtype)
        if len(terms):
            starts = self.indptr[self._filled]
            inner[self._filled] = np.add.reduceat(terms, starts)
        return inner

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        array[self._rows, self.columns] += factor * self.values

    def matmul(self, matrix):
        """The product of the rows and a matrix of shape (n_classes, n_columns)."""
        entries = self.values, self.columns, self.indptr
        return sparse.csr_array(entries, shape=self.shape) @ matrix

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        dense = np.zeros(self.shape, dtype=dtype)
        dense[self._rows, self.columns] = self.values
        return dense

    @cached_property
    def second(self):
        """For two classes, the probability of the second in each row."""
        return self.to_dense(self.values.dtype)[:, 1].copy()

    def packed(self):
        """Rows with the same entropies, in as few columns as possible."""
        rows, counts = self._rows, np.diff(self.indptr)
        packed = np.zeros((len(counts), counts.max(initial=1)), self.values.dtype)
        packed[rows, np.arange(len(rows)) - self.indptr[rows]] = self.values
        return packed

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        terms = self.values * weight[self._rows]
        return np.bincount(self.columns, terms, minlength=self.n_classes)

    def joined(self, others):
        """The rows of this target, then those of others of its kind."""
        targets = [self, *others]
        counts = np.concatenate([np.diff(target.indptr) for target in targets])
        return SparseTarget(
            np.append(0, np.cumsum(counts)),
            np.concatenate([target.columns for target in targets]),
            np.concatenate([target.values for target in targets]),
            self.n_classes,
        )

    def of_classes(self, classes):
        """The entries of a slice of the classes, in all rows."""
        start, stop, _ = classes.indices(self.n_classes)
        kept = (self.columns >= start) & (self.columns < stop)
        n_kept_before = np.append(0, np.cumsum(kept))
        return SparseTarget(
            n_kept_before[self.indptr],
            self.columns[kept] - start,
            self.values[kept],
            stop - start,
        )

    def take(self, rows):
        """The target of some rows, given by a slice or by their numbers."""
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.shape[0])
            first, last = self.indptr[start], self.indptr[stop]
            return SparseTarget(
                self.indptr[start : stop + 1] - first,
                self.columns[first:last],
                self.values[first:last],
                self.n_classes,
            )
        counts = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(counts))
        entries = np.repeat(self.indptr[rows] - indptr[:-1], counts)
        entries += np.arange(len(entries))
        return SparseTarget(
            indptr, self.columns[entries], self.values[entries], self.n_classes
        )
