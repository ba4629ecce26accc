"""A target with the classes that each row may choose from."""

from dataclasses import dataclass

import numpy as np

from .._arrays import fill, is_foreign, namespace, take, to_numpy
from ._dense import DenseTarget
from ._wrapped import WrappedTarget


@dataclass(frozen=True)
class ChoiceSetTarget(WrappedTarget):
    """A target with the classes that each row may choose from.

    Parameters
    ----------
    target : DenseTarget, SparseTarget or SmoothedTarget
        Zero where a class is not available.
    available : ndarray of bool of shape (n_samples, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import ChoiceSetTarget, SparseTarget
    >>> label = SparseTarget.from_labels(np.array([2]), n_classes=3)
    >>> target = ChoiceSetTarget(label, np.array([[True, False, True]]))
    >>> scores = np.zeros((1, 3))
    >>> target.mask(scores, -np.inf)
    >>> scores
    array([[  0., -inf,   0.]])
    """

    available: np.ndarray

    @classmethod
    def smoothed(cls, target, available, amount, polytope="simplex"):
        """The target mixed with the centre of the polytope of what is available."""
        if amount == 0:
            return cls(target, available)
        centre = available / (
            2 if polytope == "cube" else available.sum(axis=1, keepdims=True)
        )
        dtype = target.values.dtype
        mixture = (1 - amount) * target.to_dense(dtype) + amount * centre
        return cls(DenseTarget(mixture.astype(dtype, copy=False)), available)

    @property
    def n_available(self):
        """How many classes each row may choose from."""
        return namespace(self.available).count_nonzero(self.available, axis=1)

    def mask(self, array, value):
        """Set entries of classes that are not available, in place."""
        fill(array, ~self.available, value)

    def _of(self, target, rows):
        return ChoiceSetTarget(target, take(self.available, rows))


def check_available(available, shape, name="available"):
    """The classes that rows may choose from, as a checked array of booleans.

    Parameters
    ----------
    available : array-like of bool of shape (n_samples, n_classes)
        Booleans, or numbers that are zero or one.
    shape : tuple
        The shape that it must have.
    name : str
        The name of the argument in errors.

    Returns
    -------
    available : ndarray of bool

    Raises
    ------
    ValueError
        If it has another shape, other values, or a row without any class.
    """
    found = to_numpy(available) if is_foreign(available) else np.asarray(available)
    if found.shape != tuple(shape):
        raise ValueError(
            f"{name} must be booleans of shape (n_samples, n_classes), {tuple(shape)}; "
            f"got shape {found.shape}."
        )
    if found.dtype != bool:
        if found.dtype.kind not in "iuf" or not np.isin(found, (0, 1)).all():
            raise ValueError(f"{name} must be booleans; got dtype {found.dtype}.")
        found = found.astype(bool)
    without = ~found.any(axis=1)
    if without.any():
        raise ValueError(
            f"{name} must have a class for each row; row {without.argmax()} has none."
        )
    return found


def check_target_available(target, available, rows):
    """Raise where a target has a class that is not available.

    Errors name the row by its number in `rows`.
    """
    wrong = (target.to_dense(np.float64) > 0) & ~available
    if wrong.any():
        row = int(wrong.any(axis=1).argmax())
        raise ValueError(
            f"The target of row {rows[row]} is not available: y has class "
            f"{int(wrong[row].argmax())}, counted from 0, and available is False there."
        )
