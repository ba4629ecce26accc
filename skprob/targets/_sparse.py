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
        Class of each entry; a row has a class once at most.
    values : ndarray of shape (n_entries,)
        Positive; in each row they sum to one, or they are marginals of labels.
    n_classes : int

    Examples
    --------
    The labels 2 and 0, and the sets {0} and {0, 1}:

    >>> import numpy as np
    >>> from skprob.targets import SparseTarget
    >>> SparseTarget.from_labels(np.array([2, 0]), n_classes=3).to_dense(float)
    array([[0., 0., 1.],
           [1., 0., 0.]])
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

    @classmethod
    def from_labels(cls, labels, n_classes, dtype=np.float64):
        """The target of rows with one class each, given by their indices."""
        n = len(labels)
        return cls(np.arange(n + 1), labels, np.ones(n, dtype=dtype), n_classes)

    @cached_property
    def shape(self):
        return len(self.indptr) - 1, self.n_classes

    @cached_property
    def _rows(self):
        """The row of each entry."""
        rows = np.arange(self.shape[0])
        return rows if self._one_a_row else np.repeat(rows, np.diff(self.indptr))

    @cached_property
    def _one_a_row(self):
        same = len(self.columns) == self.shape[0]
        return same and bool((self.indptr[1:] > self.indptr[:-1]).all())

    @cached_property
    def _filled(self):
        """The rows that have an entry."""
        return np.flatnonzero(self.indptr[1:] > self.indptr[:-1])

    def inner(self, array):
        """Σ_k q_k a_k of each row; an infinite a_k does not count where q_k = 0."""
        terms = self.values * array[self._rows, self.columns]
        if self._one_a_row:
            return terms
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
        if self._one_a_row:
            return matrix[self.columns] * self.values[:, None]
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
        if self._one_a_row:
            return self.values[:, None]
        rows, counts = self._rows, np.diff(self.indptr)
        packed = np.zeros((len(counts), counts.max(initial=1)), self.values.dtype)
        packed[rows, np.arange(len(rows)) - self.indptr[rows]] = self.values
        return packed

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        of_entries = weight if self._one_a_row else weight[self._rows]
        terms = self.values * of_entries
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
        """The target of rows given by their numbers."""
        counts = np.diff(self.indptr)[rows]
        indptr = np.append(0, np.cumsum(counts))
        entries = np.repeat(self.indptr[rows] - indptr[:-1], counts)
        entries += np.arange(len(entries))
        return SparseTarget(
            indptr, self.columns[entries], self.values[entries], self.n_classes
        )
