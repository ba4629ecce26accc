"""A target with a number for every class."""

from dataclasses import dataclass, replace

import numpy as np

from .._utils.arrays import concat


@dataclass(frozen=True)
class DenseTarget:
    """A target with a number for every class.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_classes)
        Rows on the probability simplex.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import DenseTarget
    >>> target = DenseTarget(np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]))
    >>> target.inner(np.array([[2.0, 0.0, 1.0], [0.0, 4.0, 0.0]]))
    array([1., 1.])
    """

    values: np.ndarray

    @property
    def shape(self):
        return self.values.shape

    @property
    def dtype(self):
        return self.values.dtype

    def inner(self, array):
        """Σ_k q_k a_k of each row; an infinite a_k does not count where q_k = 0."""
        with np.errstate(invalid="ignore"):
            inner = np.einsum("nk,nk->n", self.values, array)
            if not np.isfinite(inner).all():
                inner = np.where(self.values > 0, self.values * array, 0).sum(axis=1)
        return inner

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        if factor == -1:  # This makes no new array.
            array -= self.values
        else:
            array += factor * self.values

    def matmul(self, matrix):
        """The product of the rows and a matrix of shape (n_classes, n_columns)."""
        return self.values @ matrix

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        return self.values.astype(dtype, copy=False)

    @property
    def second(self):
        """For two classes, the probability of the second in each row."""
        return self.values[:, 1]

    def packed(self):
        """Rows with the same entropies, in as few columns as possible."""
        return self.values

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        return weight @ self.values

    def take(self, rows):
        """The target of some rows, given by a slice or by their numbers."""
        return DenseTarget(self.values[rows])

    def joined(self, others):
        """The rows of this target, then those of others of its kind."""
        return replace(self, values=concat([self.values, *(o.values for o in others)]))

    def of_classes(self, classes):
        """The numbers of a slice of the classes, in all rows."""
        return DenseTarget(self.values[:, classes])
