"""A matrix `y`, with a column for each class."""

import numpy as np

from .._utils.checks import names_of_columns
from ._distributions import checked_distributions
from ._indicator import (
    checked_indicator,
    label_sets,
    other_than_0_and_1,
    shares_of_candidates,
)


def column_names(y, shape, class_names=None):
    """The names of the columns of a matrix `y`, if they are known.

    Parameters
    ----------
    y : array-like, sparse matrix or DataFrame
        The names of the columns of a DataFrame are used. Numbers remain numbers, other
        names become text.
    shape : tuple of int
        Shape of `y` as an array.
    class_names : array-like of shape (n_classes,), default=None
        Names that are used instead, for a `y` with a column for each class.

    Returns
    -------
    names : ndarray of shape (n_classes,) or None

    Raises
    ------
    ValueError
        If the names are not distinct and one for each column.

    Examples
    --------
    >>> from skprob.targets import column_names
    >>> column_names([[0, 1], [1, 1]], (2, 2), ["calm", "sad"]).tolist()
    ['calm', 'sad']
    """
    is_matrix = len(shape) == 2 and shape[1] > 1
    if class_names is None:
        return names_of_columns("y", y) if is_matrix else None
    if not is_matrix:
        raise ValueError(
            "class_names need a y with a column for each class, because labels have "
            f"names already; got y of shape {tuple(shape)}."
        )
    names = np.asarray(class_names)
    if names.shape != (shape[1],) or len(set(names.tolist())) < shape[1]:
        raise ValueError(
            f"class_names must be {shape[1]} distinct names, one for each column of y; "
            f"got {names.tolist()}."
        )
    return names


def encode_matrix(y, target_type, dtype, classes, polytope, none_class):
    """The target of a matrix of a known target type.

    Parameters and errors are those of :func:`encode_rows`.

    Returns
    -------
    classes, target, labelled, has_none
        As in :class:`EncodedTarget`.
    """
    if y.ndim != 2 or y.shape[1] < 2:
        raise ValueError(
            f"target_type={target_type!r} needs y of shape (n_samples, n_classes) "
            f"with at least two classes; got shape {y.shape}."
        )
    if classes is None:
        classes = np.arange(y.shape[1])
    elif len(classes) != y.shape[1]:
        raise ValueError(f"y must have {len(classes)} columns, got {y.shape[1]}.")
    if target_type == "distribution":
        return classes, checked_distributions(y, dtype), None, False
    indicator = checked_indicator(y, target_type)
    if target_type == "candidates":
        return classes, shares_of_candidates(indicator, dtype), None, False
    return classes, *label_sets(indicator, dtype, polytope, none_class)


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
