"""True labels as an indicator of the columns of a prediction."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._utils.checks import naming
from ..targets import check_target, unique_labels
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
    predicted : ndarray or CSR array of shape (n_samples, n_classes)

    Raises
    ------
    ValueError
        If an array has another shape or other values.
    """
    (name,) = predicted
    y_true, predictions = lined_up_with(classes, y_true, **predicted)
    predictions = (
        sparse.csr_array(predictions)
        if sparse.issparse(predictions)
        else np.asarray(predictions)
    )
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
    y = check_target(y_true, "y_true", len_of=predictions)
    if sparse.issparse(y) or (y.ndim == 2 and y.shape[1] > 1):
        true = sparse.csr_array(y, copy=True)
        true.sum_duplicates()
        true.eliminate_zeros()
        if true.shape != predictions.shape or not (true.data == 1).all():
            raise ValueError(
                f"y_true must be labels, or a 0/1 indicator of the shape of {name}, "
                f"{predictions.shape}; got shape {true.shape}."
            )
        return true, predictions
    y = y.ravel()
    with naming("y_true"):
        known = unique_labels(y) if classes is None else np.asarray(classes)
    columns = np.searchsorted(np.sort(known), y)
    columns = np.argsort(known)[np.minimum(columns, len(known) - 1)]
    if len(known) != predictions.shape[1] or (known[columns] != y).any():
        raise ValueError(
            f"classes must be the labels of the {predictions.shape[1]} columns of "
            f"{name}, and those of y_true be among them; got {known[:10].tolist()}."
        )
    shape, starts = predictions.shape, np.arange(len(y) + 1)
    return sparse.csr_array(
        (np.ones(len(y)), columns, starts), shape=shape
    ), predictions
