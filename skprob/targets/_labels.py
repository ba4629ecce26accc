"""Class labels: their checks, their classes, and their target."""

from functools import cached_property
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from .._utils.labels import positions_of
from ._sparse import SparseTarget


def as_labels(y):
    """Labels as a one-dimensional array whose entries can be sorted.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, 1)

    Returns
    -------
    labels : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If `y` is anything but strings, booleans, whole numbers, dates or durations.

    Examples
    --------
    >>> from skprob.targets import as_labels
    >>> as_labels([2.0, 0.0])
    array([2., 0.])
    >>> as_labels([2.5, 0.0])
    Traceback (most recent call last):
        ...
    ValueError: y must be labels, ... Unknown label type: continuous, 2.5 in row 0.
    """
    if not isinstance(y, np.ndarray) or y.ndim != 1:
        y = column_or_1d(y, warn=True)
    description = ""
    if y.dtype == object:
        types = {type(label) for label in y}
        if all(issubclass(t, str) for t in types):
            return y
        description = f"objects of type {', '.join(sorted(t.__name__ for t in types))}"
        if all(issubclass(t, (Real, np.bool_)) for t in types):
            y = np.array(y.tolist())
    if y.dtype.kind in "biuU":
        return y
    if y.dtype.kind in "mM":
        is_missing = np.isnat(y)
        if not is_missing.any():
            return y
        description = f"NaT in row {np.argmax(is_missing)}"
    if y.dtype.kind == "f":
        whole = np.isfinite(y) & (y == np.floor(y))
        if whole.all():
            return y
        description = f"continuous, {y[np.argmin(whole)]} in row {np.argmin(whole)}"
    raise ValueError(
        "y must be labels, all strings, all booleans, all whole numbers, all dates or "
        f"all durations. Unknown label type: {description or f'dtype {y.dtype}'}."
    )


def labels_of(y):
    """The labels in the rows of a `y`, an array, of target type "class"."""
    if sparse.issparse(y):
        raise ValueError("target_type='class' needs labels, got a sparse y.")
    if y.ndim == 2 and y.shape[1] != 1:
        raise ValueError(
            f"target_type='class' needs y of shape (n_samples,), got {y.shape}."
        )
    return as_labels(y)


def unique_labels(y):
    """The classes among labels, sorted.

    Parameters
    ----------
    y : ndarray of shape (n_samples,) or (n_samples, 1)

    Returns
    -------
    classes : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        As for :func:`as_labels`.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import unique_labels
    >>> unique_labels(np.array([3, 1, 3]))
    array([1, 3])
    """
    return np.unique(labels_of(y))


def classes_and_numbers(labels):
    """The classes among checked labels, sorted, and the number of each label's class.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    numbers : ndarray of int of shape (n_samples,)
    """
    if labels.dtype.kind == "i" and len(labels):
        least, most = int(labels.min()), int(labels.max())
        if most - least < len(labels):
            # Number them by a table: a million labels take 1.5 ms, by sorting 24 ms.
            numbers = labels.astype(np.intp, copy=False) - least
            is_class = np.zeros(most - least + 1, dtype=bool)
            is_class[numbers] = True
            classes = np.flatnonzero(is_class) + least
            if len(classes) < len(is_class):
                numbers = (np.cumsum(is_class) - 1)[numbers]
            return classes.astype(labels.dtype, copy=False), numbers
    classes = np.unique(labels)
    return classes, np.searchsorted(classes, labels)


def numbers_among(classes, labels):
    """The number of each checked label among known classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Distinct, in any order.
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    numbers : ndarray of int of shape (n_samples,)

    Raises
    ------
    ValueError
        If a label is not among the classes.
    """
    numbers = positions_of(labels, classes)
    if numbers.min(initial=0) < 0:
        unknown = np.unique(labels[numbers < 0])
        raise ValueError(
            f"y holds the labels {unknown[:5].tolist()}, which are not among "
            f"the classes {classes[:10].tolist()}."
        )
    return numbers


class LabelTarget:
    """A target with one class in each row.

    Parameters
    ----------
    class_numbers : ndarray of shape (n_samples,)
        Number of the class of each row.
    n_classes : int
    dtype : dtype, default=float64

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import LabelTarget
    >>> LabelTarget(np.array([2, 0]), n_classes=3).to_dense(float)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """

    def __init__(self, class_numbers, n_classes, dtype=np.float64):
        self.class_numbers, self.n_classes, self.dtype = class_numbers, n_classes, dtype
        self.shape = len(class_numbers), n_classes
        # Rows and columns of the ones.
        self._entries = np.arange(len(class_numbers)), class_numbers

    def inner(self, array):
        """The entry a_k of each row whose class is k."""
        entries = array[self._entries]
        return entries.astype(np.result_type(array, self.dtype), copy=False)

    def add_to(self, array, factor):
        """Add the target times a factor to an array, in place."""
        array[self._entries] += factor

    def matmul(self, matrix):
        """The product of the rows and a matrix of shape (n_classes, n_columns)."""
        return matrix[self.class_numbers]

    def to_dense(self, dtype):
        """The target as an array of shape (n_samples, n_classes)."""
        dense = np.zeros(self.shape, dtype)
        dense[self._entries] = 1
        return dense

    @cached_property
    def second(self):
        """For two classes, the probability of the second in each row."""
        return self.class_numbers.astype(self.dtype)

    def packed(self):
        """Rows with the same entropies, in one column."""
        return np.ones((len(self.class_numbers), 1), self.dtype)

    def class_totals(self, weight):
        """Weighted sum of the rows, of shape (n_classes,)."""
        return np.bincount(self.class_numbers, weight, minlength=self.n_classes)

    def block(self, rows):
        """The target of a slice of rows."""
        return self.take(rows)

    def take(self, rows):
        """The target of rows given by their numbers."""
        return LabelTarget(self.class_numbers[rows], self.n_classes, self.dtype)

    def joined(self, others):
        """The rows of this target, then those of others of its kind."""
        numbers = [self.class_numbers, *(other.class_numbers for other in others)]
        return LabelTarget(np.concatenate(numbers), self.n_classes, self.dtype)

    def of_classes(self, classes):
        """The numbers of a slice of the classes, in all rows."""
        n_rows, ones = self.shape[0], np.ones(self.shape[0], self.dtype)
        whole = SparseTarget(
            np.arange(n_rows + 1), self.class_numbers, ones, self.n_classes
        )
        return whole.of_classes(classes)
