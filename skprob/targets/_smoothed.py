"""A target mixed with the uniform distribution."""

from dataclasses import dataclass

from ._dense import DenseTarget
from ._sparse import SparseTarget


@dataclass(frozen=True)
class SmoothedTarget:
    """A target mixed with the uniform distribution over the classes.

    The mixture, which has no zeros, is not written out.

    Parameters
    ----------
    target : DenseTarget or SparseTarget
    amount : float
        The proportion of the uniform distribution, in (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import SmoothedTarget, SparseTarget
    >>> label = SparseTarget.from_labels(np.array([2]), n_classes=4)
    >>> SmoothedTarget(label, amount=0.1).to_dense(float)
    array([[0.025, 0.025, 0.925, 0.025]])
    """

    target: DenseTarget | SparseTarget
    amount: float

    @property
    def shape(self):
        return self.target.shape

    @property
    def _everywhere(self):
        """What each class gets of the uniform distribution."""
        return self.amount / self.shape[1]

    def inner(self, array):
        """Σ_k q_k a_k of each row."""
        inner = (1 - self.amount) * self.target.inner(array)
        return inner + self._everywhere * array.sum(axis=1)

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        self.target.add_to(array, (1 - self.amount) * factor)
        array += self._everywhere * factor

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        dense = self.target.to_dense(self.target.values.dtype)
        mixture = (1 - self.amount) * dense + self._everywhere
        return mixture.astype(dtype, copy=False)

    @property
    def second(self):
        """Of two classes, the second's probability in each row."""
        return (1 - self.amount) * self.target.second + self._everywhere

    def packed(self):
        """The rows without what their entropy does not depend on."""
        return self.to_dense(self.target.values.dtype)

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        totals = (1 - self.amount) * self.target.class_totals(weight)
        return totals + self._everywhere * weight.sum()

    def block(self, rows):
        """The target of a slice of rows."""
        return SmoothedTarget(self.target.block(rows), self.amount)

    def take(self, rows):
        """The target of rows given by their numbers."""
        return SmoothedTarget(self.target.take(rows), self.amount)
