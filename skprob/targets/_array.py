"""A target in an array of another library than NumPy."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.arrays import as_type, asarray_like, namespace, one_hot, take
from ._dense import DenseTarget
from ._labels import LabelTarget
from ._smoothed import SmoothedTarget


@dataclass(frozen=True)
class ArrayTarget(DenseTarget):
    """A target with a number for every class, on the device of X.

    Parameters
    ----------
    values : array of shape (n_samples, n_classes)
        Rows of the polytope.
    """

    values: Any

    @property
    def shape(self):
        return tuple(self.values.shape)

    def inner(self, array):
        """Σ_k q_k a_k of each row; an infinite a_k does not count where q_k = 0."""
        xp = namespace(array)
        return xp.sum(self.values * xp.where(self.values > 0, array, 0.0), axis=1)

    def to_dense(self, dtype):
        """The values; their type changes only to a type of their own library."""
        return self.values

    def take(self, rows):
        """The target of some rows, given by a slice or by their numbers."""
        return ArrayTarget(take(self.values, rows))

    def of_classes(self, classes):
        """The numbers of a slice of the classes, in all rows."""
        return ArrayTarget(self.values[:, classes])


def target_like(target, X):
    """A target in the library and on the device of an array.

    Parameters
    ----------
    target : target of shape (n_samples, n_classes)
        A target of NumPy arrays.
    X : array of shape (n_samples, n_features)

    Returns
    -------
    target : ArrayTarget

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import LabelTarget, target_like
    >>> target = LabelTarget(np.array([1, 0]), n_classes=2)
    >>> target_like(target, np.zeros((2, 3))).values
    array([[0., 1.],
           [1., 0.]])
    """
    if isinstance(target, SmoothedTarget):
        inner = target_like(target.target, X)
        mixture = replace(target, target=inner)
        return ArrayTarget(mixture.to_dense(inner.values.dtype))
    if isinstance(target, LabelTarget):
        # Only the class numbers are moved to the device, in as few bytes as hold them.
        types = (np.int8, np.int16, np.int32, np.int64)
        dtype = next(t for t in types if target.n_classes <= np.iinfo(t).max)
        numbers = asarray_like(target.class_numbers.astype(dtype), X)
        return ArrayTarget(as_type(one_hot(numbers, target.n_classes), X.dtype))
    return ArrayTarget(asarray_like(target.to_dense(target.dtype), X))
