"""True labels as an indicator of the columns of a prediction."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._utils.checks import (
    as_dense,
    check_target,
    csr_indicator,
    fill_unknown,
    naming,
    without_duplicates,
)
from .._utils.labels import label_indicator, positions_of
from ..targets import unique_labels
from ._lined_up import lined_up_with


def true_indicator(y_true, classes, **predicted):
    """0/1 indicator of the true classes, and the prediction in their order.

    Parameters
    ----------
    y_true : array-like, sparse matrix or DataFrame
        Labels of shape (n_samples,), or a 0/1 indicator of label sets.
    classes : array-like of shape (n_classes,) or None
        Labels of the columns; None stands for the sorted labels in `y_true`.
    **predicted : array-like, sparse matrix or DataFrame
        The prediction, by the argument that errors name.

    Returns
    -------
    true : CSR array of shape (n_samples, n_classes)
        Zero where an entry of label sets is NaN: not known.
    predicted : ndarray or CSR array of shape (n_samples, n_classes)
    known : ndarray of bool of shape (n_samples, n_classes) or None
        Which entries are known; None if all are.

    Raises
    ------
    ValueError
        If an array has another shape or other values.
    """
    (name,) = predicted
    y_true, predictions = lined_up_with(classes, y_true, **predicted)
    predictions = as_array(name, predictions)
    entries = predictions.data if sparse.issparse(predictions) else predictions
    if (
        predictions.ndim != 2
        or entries.dtype.kind not in "biuf"
        or np.isnan(entries).any()
    ):
        raise ValueError(
            f"{name} must be numbers of shape (n_samples, n_classes), without NaN; got "
            f"dtype {predictions.dtype} and shape {predictions.shape}."
        )
    y = check_target(y_true, "y_true", len_of=predictions, may_have_unknown=True)
    if sparse.issparse(y) or (y.ndim == 2 and y.shape[1] > 1):
        y, known = fill_unknown(y)
        return _indicator(y, predictions.shape, name), predictions, known
    n_classes = predictions.shape[1]
    columns = _columns(y.ravel(), classes, n_classes, name)
    return label_indicator(columns, n_classes), predictions, None


def as_array(name, rows):
    """Rows of a prediction as a CSR array or an array.

    Raises
    ------
    ValueError
        If rows have different lengths, as lists of the names in sets have.
    """
    if sparse.issparse(rows):
        return without_duplicates(sparse.csr_array(rows))
    if isinstance(rows, list | tuple):
        try:
            return np.asarray(rows)
        except ValueError:
            raise ValueError(
                f"{name} must be numbers of shape (n_samples, n_classes); got rows of "
                "different lengths. Give an indicator of the classes, not their names."
            ) from None
    return as_dense(name, rows)


def _indicator(y, shape, name):
    if y.dtype.kind not in "biuf":
        raise ValueError(
            f"y_true must be labels, or a 0/1 indicator of the shape of {name}, "
            f"{shape}; got dtype {y.dtype} and shape {y.shape}."
        )
    true, wrong = csr_indicator(y)
    if true.shape != shape or len(wrong):
        values = f" and the value {wrong[0]:.6g}" if len(wrong) else ""
        raise ValueError(
            f"y_true must be labels, or a 0/1 indicator of the shape of {name}, "
            f"{shape}; got shape {true.shape}{values}."
        )
    return true


def _columns(y, classes, n_classes, name):
    """The column of the label of each row."""
    with naming("y_true"):
        labels = unique_labels(y) if classes is None else np.asarray(classes)
    if labels.shape != (n_classes,) or len(set(labels.tolist())) < n_classes:
        start = "the labels in y_true are" if classes is None else "got"
        raise ValueError(
            f"classes must be the labels of the {n_classes} columns of {name}, "
            f"distinct; {start} {labels[:10].tolist()}."
        )
    columns = positions_of(y, labels)
    if columns.min(initial=0) < 0:
        raise ValueError(
            f"y_true must have labels among the classes {labels[:10].tolist()}; got "
            f"{y[columns < 0][:1].tolist()[0]!r}."
        )
    return columns
