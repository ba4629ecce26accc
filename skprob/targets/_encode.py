"""From the `y` of a user to a distribution over the classes for each row."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._utils.names import did_you_mean
from ._dense import DenseTarget
from ._distributions import checked_distributions
from ._indicator import (
    checked_indicator,
    if_encoded,
    label_sets,
    other_than_0_and_1,
    shares_of_candidates,
)
from ._labels import LabelTarget, labels_of, target_of_labels
from ._sparse import SparseTarget

#: The types of target that can be learnt.
TARGET_TYPES = ("class", "label_set", "distribution", "candidates")


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
    if target_type == "class" and classes is None:
        classes, target = target_of_labels(labels_of(y), dtype)
        encoded = EncodedTarget("class", classes, target)
    else:
        encoded = encode_rows(
            y,
            target_type,
            dtype,
            classes=classes,
            polytope=polytope,
            none_class=none_class,
        )
    if len(encoded.classes) < 2:
        raise ValueError(
            "y must have at least 2 classes, but the data contains only one class: "
            f"{encoded.classes.tolist()[0]!r}."
        )
    if target_type == "label_set" and not _has_labels(encoded):
        raise ValueError(
            f"y must have a label in at least one row; got {y.shape[0]} without any."
        )
    return encoded


def encode_rows(y, target_type, dtype, classes, polytope="simplex", none_class=False):
    """Encode some of the rows of a `y` of a known target type.

    Parameters and errors are those of :func:`encode_target`, with two differences:
    there may be no rows, no row of some class and no row with a label; and for labels,
    the classes must be given.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import encode_rows
    >>> encoded = encode_rows(np.array([1, 1]), "class", float, np.array([0, 1]))
    >>> encoded.target.to_dense(float)
    array([[0., 1.],
           [0., 1.]])
    """
    if target_type == "class":
        _, target = target_of_labels(labels_of(y), dtype, classes)
        return EncodedTarget("class", classes, target)
    if y.ndim != 2 or y.shape[1] < 2:
        raise ValueError(
            f"target_type={target_type!r} needs y of shape (n_samples, n_classes) "
            f"with at least two classes; got shape {y.shape}."
        )
    if classes is not None and len(classes) != y.shape[1]:
        raise ValueError(f"y must have {len(classes)} columns, got {y.shape[1]}.")
    labelled, has_none = None, False
    if target_type == "distribution":
        target = checked_distributions(y, dtype)
    elif target_type == "candidates":
        target = shares_of_candidates(checked_indicator(y, target_type), dtype)
    else:
        indicator = checked_indicator(y, target_type)
        target, labelled, has_none = label_sets(indicator, dtype, polytope, none_class)
    classes = np.arange(y.shape[1]) if classes is None else classes
    return EncodedTarget(target_type, classes, target, labelled, has_none)


def infer_target_type(y):
    """The target type of `y`; a 0/1 matrix never counts as candidates.

    Parameters
    ----------
    y : ndarray or sparse matrix

    Returns
    -------
    target_type : {"class", "label_set", "distribution"}

    Raises
    ------
    ValueError
        If it is none of them.

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
        f"dtype {y.dtype}, shape {y.shape}{_not_an_indicator(y)}.{if_encoded(y)}"
    )


def _not_an_indicator(y):
    """The end of a sentence in an error: the values that are not 0 and 1."""
    if y.dtype.kind not in "biuf":
        return "; make an indicator of lists of names by MultiLabelBinarizer"
    values = f", with the values {other_than_0_and_1(y)}"
    if (y >= 0).all():
        values += "; divide counts of votes by their row sums"
        values += ", and make an indicator of lists of labels by MultiLabelBinarizer"
    return values


def check_marginals(target_type, y=None):
    """Raise if targets of a type have no marginals.

    Parameters
    ----------
    target_type : {"class", "label_set", "distribution", "candidates"}
    y : ndarray or sparse matrix, default=None
        The target, whose values other than 0 and 1 errors name.

    Raises
    ------
    ValueError
        If it is "distribution" or "candidates".

    Examples
    --------
    >>> from skprob.targets import check_marginals
    >>> check_marginals("class")
    """
    contents = {"distribution": "distributions", "candidates": "candidates"}
    if target_type in contents:
        is_dense = isinstance(y, np.ndarray) and y.dtype.kind in "biuf"
        other = other_than_0_and_1(y) if is_dense else []
        raise ValueError(
            "y must be labels of shape (n_samples,), or label sets, a 0/1 indicator of "
            "shape (n_samples, n_labels), for a mapping to marginals such as sigmoid; "
            f"got {contents[target_type]}{f', with the values {other}' * bool(other)}."
        )


def _has_labels(encoded):
    return bool((encoded.target.columns < len(encoded.classes)).any())
