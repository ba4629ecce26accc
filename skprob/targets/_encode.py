"""From the `y` of a user to a distribution over the classes for each row."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._utils.labels import positions_of
from .._utils.names import did_you_mean
from ._dense import DenseTarget
from ._indicator import checked_indicator, shares_of_candidates
from ._kind import (
    KINDS,
    as_labels,
    if_encoded,
    infer_target_type,
    other_than_0_and_1,
)
from ._sparse import SparseTarget

# Largest error of the sum of a distribution, which is then normalised.
_SUM_TOLERANCE = 1e-5


class EncodedTarget(NamedTuple):
    """The target that is learnt from `y`, and its classes.

    Attributes
    ----------
    kind : {"class", "label_set", "distribution", "candidates"}
    classes : ndarray of shape (n_classes,)
        The sorted labels; if `y` is a matrix, the names of its columns or, without
        names, their numbers.
    target : DenseTarget or SparseTarget of shape (n_labelled, n_classes)
        If there is a class for rows without a label, it has one more column, the last.
    labelled : ndarray of shape (n_samples,) or None
        Whether each row has a target; None if all have.
    has_none : bool
        Whether there is a class for rows without a label, which is not in `classes`.

    Examples
    --------
    >>> from skprob.targets import encode_target
    >>> encoded = encode_target([[1, 1, 0], [0, 0, 0]])
    >>> encoded.kind, encoded.classes, encoded.target.shape, encoded.labelled
    ('label_set', array([0, 1, 2]), (1, 3), array([ True, False]))
    """

    kind: str
    classes: np.ndarray
    target: DenseTarget | SparseTarget
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
        If `y` is none of these kinds or not of the given `target_type`; if it has fewer
        than two classes, no label at all, a row that is not a distribution, or a row
        without a candidate; if it is distributions or candidates and the polytope is
        the cube.

    Examples
    --------
    >>> from skprob.targets import encode_target
    >>> encoded = encode_target(["cat", "dog", "cat"])
    >>> encoded.kind, encoded.classes.tolist()
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
    if target_type not in KINDS:
        raise ValueError(
            f"target_type must be 'auto' or one of {KINDS}; got {target_type!r}."
            f"{did_you_mean(target_type, ['auto', *KINDS])}"
        )
    if polytope == "cube":
        check_marginals(target_type, y)
    if target_type == "class" and classes is None:
        y = _labels_of(y)
        classes = np.unique(y)
        codes = np.searchsorted(classes, y)
        target = SparseTarget.from_labels(codes, len(classes), dtype)
        encoded = EncodedTarget("class", classes, target)
    else:
        encoded = encode_rows(y, target_type, dtype, classes, polytope, none_class)
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
    """Encode some of the rows of a `y` of a known kind.

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
        return _encode_labels(_labels_of(y), dtype, classes)
    if y.ndim != 2 or y.shape[1] < 2:
        raise ValueError(
            f"target_type={target_type!r} needs y of shape (n_samples, n_classes) "
            f"with at least two classes; got shape {y.shape}."
        )
    if classes is not None and len(classes) != y.shape[1]:
        raise ValueError(f"y must have {len(classes)} columns, got {y.shape[1]}.")
    if target_type == "distribution":
        encoded = _encode_distributions(y, dtype)
    elif target_type == "candidates":
        target = shares_of_candidates(checked_indicator(y, target_type), dtype)
        encoded = EncodedTarget(target_type, np.arange(y.shape[1]), target)
    else:
        encoded = _encode_sets(y, dtype, polytope, none_class)
    return encoded if classes is None else encoded._replace(classes=classes)


def check_marginals(target_type, y=None):
    """Raise if a kind of target has no marginals.

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
        If `y` is anything but strings, booleans or whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import unique_labels
    >>> unique_labels(np.array([3, 1, 3]))
    array([1, 3])
    """
    return np.unique(_labels_of(y))


def _labels_of(y):
    if sparse.issparse(y):
        raise ValueError("target_type='class' needs labels, got a sparse y.")
    if y.ndim == 2 and y.shape[1] != 1:
        raise ValueError(
            f"target_type='class' needs y of shape (n_samples,), got {y.shape}."
        )
    return as_labels(y)


def _encode_labels(y, dtype, classes):
    codes = positions_of(y, classes)
    if codes.min(initial=0) < 0:
        unknown = np.unique(y[codes < 0])
        raise ValueError(
            f"y holds the labels {unknown[:5].tolist()}, which are not among "
            f"the classes {classes[:10].tolist()}."
        )
    return EncodedTarget(
        "class", classes, SparseTarget.from_labels(codes, len(classes), dtype)
    )


def _encode_sets(y, dtype, polytope, none_class):
    y = checked_indicator(y, "label_set")
    classes = np.arange(y.shape[1])
    if polytope == "cube":
        marginals = y.data.astype(dtype, copy=False)
        target = SparseTarget(y.indptr, y.indices, marginals, y.shape[1])
        return EncodedTarget("label_set", classes, target)
    counts = np.diff(y.indptr)
    labelled = counts > 0
    has_none = not labelled.all() if none_class == "auto" else none_class
    if has_none:
        y = sparse.hstack([y, ~labelled[:, None]], format="csr")
        counts, labelled = np.maximum(counts, 1), np.ones_like(labelled)
    values = np.repeat(1 / counts[labelled], counts[labelled]).astype(dtype)
    # Rows without a label have no entries: only their row pointers are removed.
    indptr = np.concatenate([[0], np.cumsum(counts[labelled])])
    target = SparseTarget(indptr, y.indices, values, y.shape[1])
    labelled = None if labelled.all() else labelled
    return EncodedTarget("label_set", classes, target, labelled, bool(has_none))


def _encode_distributions(y, dtype):
    if sparse.issparse(y):
        raise ValueError("target_type='distribution' needs a dense y, got sparse.")
    if y.dtype.kind not in "biuf":
        raise ValueError(f"Distributions must be real numbers, got dtype {y.dtype}.")
    hint = if_encoded(y)
    # In C order, rounding errors do not depend on the memory order of a DataFrame.
    y = y.astype(np.float64, order="C")
    with np.errstate(over="ignore", invalid="ignore"):
        total = y.sum(axis=1, keepdims=True)
    good = (np.abs(total[:, 0] - 1) <= _SUM_TOLERANCE) & (y >= 0).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            "As distributions, the rows of y must be non-negative and sum to one; row "
            f"{row} has sum {total[row, 0]:.6g} and minimum {y[row].min():.6g}. (Label "
            "sets are 0/1 indicators, labels are one-dimensional; counts of votes are "
            f"divided by the sums of their rows.){hint}"
        )
    y /= total
    return EncodedTarget(
        "distribution",
        np.arange(y.shape[1]),
        DenseTarget(y.astype(dtype, copy=False)),
    )
