"""A target that is made from another, with additional data for each row."""

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass

from ._dense import DenseTarget
from ._smoothed import SmoothedTarget
from ._sparse import SparseTarget


@dataclass(frozen=True)
class WrappedTarget(metaclass=ABCMeta):
    """A target that is made from another, and has its operations."""

    target: "DenseTarget | SparseTarget | SmoothedTarget | WrappedTarget"

    @abstractmethod
    def _of(self, target, rows):
        """The same for some rows, given by a slice or numbers, with their target."""

    @property
    def shape(self):
        return self.target.shape

    @property
    def second(self):
        """For two classes, the probability of the second in each row."""
        return self.target.second

    def inner(self, array):
        """Σ_k q_k a_k of each row; an infinite a_k does not count where q_k = 0."""
        return self.target.inner(array)

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        self.target.add_to(array, factor)

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        return self.target.to_dense(dtype)

    def packed(self):
        """Rows with the same entropies, in as few columns as possible."""
        return self.target.packed()

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        return self.target.class_totals(weight)

    def mask(self, array, value):
        """Set entries of classes that are not available, in place."""
        self.target.mask(array, value)

    def block(self, rows):
        """The target of a slice of rows."""
        return self._of(self.target.block(rows), rows)

    def take(self, rows):
        """The target of rows given by their numbers."""
        return self._of(self.target.take(rows), rows)
