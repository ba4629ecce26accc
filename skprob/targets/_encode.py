"""From the `y` of a user to a distribution over the classes for each row."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._utils.labels import numbers_among
from .._utils.names import did_you_mean
from ._dense import DenseTarget
from ._indicator import if_encoded, not_an_indicator
from ._labels import LabelTarget, classes_and_numbers
from ._matrix import check_marginals, encode_matrix
from ._sparse import SparseTarget

#: The types of target that can be learnt.
TARGET_TYPES = ("class", "label_set", "distribution", "candidates")


def encode_target(
    y,
    target_type="auto",
    dtype=np.float64,
    classes=None,
    polytope="simplex",
    none_class=False,
):
    """Encode labels, label sets, distributions or candidates as rows of a polytope.

    Parameters
    ----------
    y : array-like or CSR matrix
        Labels (n_samples,), a 0/1 indicator (n_samples, n_classes), dense or
        sparse, or distributions (n_samples, n_classes).
    target_type : {"auto", "class", "label_set", "distribution", "candidates"}, \
            default="auto"
        "auto" derives it from `y`; a 0/1 matrix contains label sets. As "candidates" it
        marks the classes of which one is true, encoded with equal shares.
    dtype : dtype, default=float64
        Type of the encoded target.
    classes : ndarray of shape (n_classes,), default=None
        The classes of a fitted model, or the names of the columns of a matrix. None
        takes them from `y`.
    polytope : {"simplex", "cube"}, default="simplex"
        On the simplex a set of labels is the uniform distribution over its labels. In
        the cube it is a 0/1 row, which may be zero. A label is a 0/1 row in both.
    none_class : bool or "auto", default=False
        On the simplex, whether label sets have one more class, which is the target of
        rows without a label; otherwise such rows have no target. "auto" is True if
        there are such rows.

    Returns
    -------
    encoded : EncodedTarget

    Raises
    ------
    ValueError
        If `y` is of none of these types or not of the given `target_type`; if it has
        fewer than two classes, no label at all, a row that is not a distribution, or a
        row without a candidate; if it is distributions or candidates and the polytope
        is the cube.

    Examples
    --------
    >>> from skprob.targets import encode_target
    >>> encoded = encode_target(["cat", "dog", "cat"])
    >>> encoded.target_type, encoded.classes.tolist()
    ('class', ['cat', 'dog'])
    >>> encoded.target.to_dense(float)
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    >>> encode_target([[1, 1], [0, 0]], polytope="cube").target.to_dense(float)
    array([[1., 1.],
           [0., 0.]])
    >>> encode_target([[1, 1], [0, 0]], none_class=True).target.to_dense(float)
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    if not sparse.issparse(y):
        y = np.asarray(y)
    if target_type == "auto":
        target_type = infer_target_type(y)
    if target_type not in TARGET_TYPES:
        raise ValueError(
            f"target_type must be 'auto' or one of {TARGET_TYPES}; got {target_type!r}."
            f"{did_you_mean(target_type, ['auto', *TARGET_TYPES])}"
        )
    if polytope == "cube":
        check_marginals(target_type, y)
    encoded = encode_rows(y, target_type, dtype, classes, polytope, none_class)
    if len(encoded.classes) < 2:
        raise ValueError(
            "y must have at least 2 classes, but the data contains only one class: "
            f"{encoded.classes.tolist()[0]!r}."
        )
    if target_type == "label_set":
        encoded.check_has_label()
    return encoded


def encode_rows(y, target_type, dtype, classes, polytope="simplex", none_class=False):
    """Encode some of the rows of a `y` of a known target type.

    Parameters and errors are those of :func:`encode_target`, with two differences:
    there may be no rows, no row of some class and no row with a label; and the target
    type must be given.
    """
    if target_type != "class":
        fields = encode_matrix(y, target_type, dtype, classes, polytope, none_class)
        return EncodedTarget(target_type, *fields)
    labels = y
    if y.ndim != 1 or y.dtype.kind not in "biuU":
        from ._as_labels import labels_of  # Imported when used.

        labels = labels_of(y)
    if classes is None:
        classes, numbers = classes_and_numbers(labels)
    else:
        numbers = numbers_among(classes, labels)
    return EncodedTarget("class", classes, LabelTarget(numbers, len(classes), dtype))


def infer_target_type(y):
    """The target type of `y`; a 0/1 matrix never counts as candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import infer_target_type
    >>> infer_target_type(np.array([[0.5, 0.5], [1.0, 0.0]]))
    'distribution'
    """
    if sparse.issparse(y):
        return "label_set"
    if y.ndim == 1 or (y.ndim == 2 and y.shape[1] == 1):
        return "class"
    if y.ndim == 2 and y.dtype.kind in "biuf":
        if ((y == 0) | (y == 1)).all():
            return "label_set"
        if y.dtype.kind == "f":
            return "distribution"
    raise ValueError(
        "y must be labels of shape (n_samples,), a 0/1 indicator of shape (n_samples, "
        "n_classes), dense or CSR, or distributions of that shape; got "
        f"dtype {y.dtype}, shape {y.shape}{not_an_indicator(y)}.{if_encoded(y)}"
    )


class EncodedTarget(NamedTuple):
    """The target that is learnt from `y`, and its classes.

    Attributes
    ----------
    target_type : {"class", "label_set", "distribution", "candidates"}
    classes : ndarray of shape (n_classes,)
        The sorted labels; if `y` is a matrix, the names of its columns or, without
        names, their numbers.
    target : LabelTarget, SparseTarget or DenseTarget
        Of shape (n_labelled, n_classes).
        If there is a class for rows without a label, it has one more column, the last.
    labelled : ndarray of shape (n_samples,) or None
        Whether each row has a target; None if all have.
    has_none : bool
        Whether there is a class for rows without a label, which is not in `classes`.

    Examples
    --------
    >>> from skprob.targets import encode_target
    >>> encoded = encode_target([[1, 1, 0], [0, 0, 0]])
    >>> encoded.target_type, encoded.classes, encoded.target.shape, encoded.labelled
    ('label_set', array([0, 1, 2]), (1, 3), array([ True, False]))
    """

    target_type: str
    classes: np.ndarray
    target: LabelTarget | SparseTarget | DenseTarget
    labelled: np.ndarray | None = None
    has_none: bool = False

    @property
    def n_scores(self):
        """Number of classes, including the class for rows without a label."""
        return len(self.classes) + self.has_none

    def take(self, rows):
        """The encoded target of some of the rows of `y`."""
        if self.labelled is None:
            numbers = np.arange(self.target.shape[0])[rows]
            return self._replace(target=self.target.take(numbers))
        # Numbers of the rows among those with a target.
        numbers, labelled = np.cumsum(self.labelled)[rows] - 1, self.labelled[rows]
        target = self.target.take(numbers[labelled])
        labelled = None if labelled.all() else labelled
        return self._replace(target=target, labelled=labelled)

    def check_has_label(self):
        """Raise where label sets have no label at all."""
        # The class of rows without a label is the last column of the target.
        if not (self.target.columns < len(self.classes)).any():
            all_labelled = self.labelled is None
            n_rows = self.target.shape[0] if all_labelled else len(self.labelled)
            raise ValueError(
                f"y must have a label in at least one row; got {n_rows} without any."
            )
