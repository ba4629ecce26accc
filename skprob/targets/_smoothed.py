"""A target mixed with the centre of its polytope."""

from dataclasses import dataclass, replace

from .._utils.arrays import as_type
from ._dense import DenseTarget
from ._labels import LabelTarget
from ._sparse import SparseTarget


@dataclass(frozen=True)
class SmoothedTarget:
    """A target mixed with the centre of its polytope.

    The centre of the simplex is the uniform distribution over the classes, that of the
    cube is one half for each label. The mixture, which has no zeros, is not stored as a
    dense array.

    Parameters
    ----------
    target : LabelTarget, SparseTarget or DenseTarget
    amount : float
        The proportion of the centre, in (0, 1).
    polytope : {"simplex", "cube"}, default="simplex"

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import LabelTarget, SmoothedTarget
    >>> label = LabelTarget(np.array([2]), n_classes=4)
    >>> SmoothedTarget(label, amount=0.1).to_dense(float)
    array([[0.025, 0.025, 0.925, 0.025]])
    """

    target: LabelTarget | SparseTarget | DenseTarget
    amount: float
    polytope: str = "simplex"

    @property
    def shape(self):
        return self.target.shape

    @property
    def _everywhere(self):
        """The share of the centre in each probability."""
        return self.amount / (2 if self.polytope == "cube" else self.shape[1])

    def inner(self, array):
        """Σ_k q_k a_k of each row."""
        inner = (1 - self.amount) * self.target.inner(array)
        return inner + self._everywhere * array.sum(axis=1)

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        self.target.add_to(array, (1 - self.amount) * factor)
        array += self._everywhere * factor

    def matmul(self, matrix):
        """The product of the rows and a matrix of shape (n_classes, n_columns)."""
        product = (1 - self.amount) * self.target.matmul(matrix)
        return product + self._everywhere * matrix.sum(axis=0)

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        dense = self.target.to_dense(self.target.dtype)
        mixture = (1 - self.amount) * dense + self._everywhere
        return as_type(mixture, dtype)

    @property
    def second(self):
        """For two classes, the probability of the second in each row."""
        return (1 - self.amount) * self.target.second + self._everywhere

    def packed(self):
        """Rows with the same entropies, in as few columns as possible."""
        return self.to_dense(self.target.dtype)

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        totals = (1 - self.amount) * self.target.class_totals(weight)
        return totals + self._everywhere * weight.sum()

    def take(self, rows):
        """The target of some rows, given by a slice or by their numbers."""
        return replace(self, target=self.target.take(rows))

    def joined(self, others):
        """The rows of this target, then those of others with the same smoothing."""
        return replace(self, target=self.target.joined([o.target for o in others]))

    def of_classes(self, classes):
        """The marginals of a slice of the labels, in all rows."""
        # On the simplex the uniform part would be that of fewer classes.
        assert self.polytope == "cube"
        return replace(self, target=self.target.of_classes(classes))


def smoothed_target(target, amount, polytope="simplex", available=None):
    """The target with this amount of label smoothing, which may be zero.

    Parameters
    ----------
    target : LabelTarget, SparseTarget or DenseTarget
    amount : float
        Share of the centre of the polytope, in [0, 1).
    polytope : {"simplex", "cube"}, default="simplex"
    available : ndarray of bool of shape (n_samples, n_classes), default=None
        The centre is that of the classes that are available to the row.

    Returns
    -------
    target : LabelTarget, SparseTarget, DenseTarget or SmoothedTarget

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import LabelTarget, smoothed_target
    >>> label = LabelTarget(np.array([2]), n_classes=3)
    >>> available = np.array([[True, False, True]])
    >>> smoothed_target(label, 0.1, available=available).values
    array([[0.05, 0.  , 0.95]])
    """
    if amount == 0:
        return target
    if available is None:
        return SmoothedTarget(target, amount, polytope)
    n_available = 2 if polytope == "cube" else available.sum(axis=1, keepdims=True)
    dtype = target.dtype
    mixture = (1 - amount) * target.to_dense(dtype) + amount * available / n_available
    return DenseTarget(mixture.astype(dtype, copy=False))
