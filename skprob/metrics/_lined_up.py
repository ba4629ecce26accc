"""Truth and prediction with their columns in one order."""

import numpy as np
from scipy import sparse

from .._utils.checks import (
    check_target,
    in_order,
    lined_up,
    names_of_columns,
    naming,
)
from ..targets import unique_labels


def lined_up_with(classes, y_true, **predicted):
    """The truth and what is predicted, with the columns of DataFrames in one order.

    It is the order of the classes where these are known: they are given, or `y_true`
    holds labels. Otherwise it is the order of the columns of `y_true`.

    Parameters
    ----------
    classes : array-like of shape (n_classes,) or None
    y_true : array-like, sparse matrix or DataFrame
    **predicted : array-like, sparse matrix or DataFrame
        The predictions, by the argument that errors name.

    Returns
    -------
    y_true, predicted : object

    Raises
    ------
    ValueError
        If names differ, or two columns have the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> p = pd.DataFrame([[0.9, 0.1]], columns=["sad", "calm"])
    >>> lined_up_with(["calm", "sad"], ["sad"], probabilities=p)[1]
       calm  sad
    0   0.1  0.9
    """
    ((name, array),) = predicted.items()
    are_labels = names_of_columns("y_true", y_true) is None
    if classes is None and are_labels and names_of_columns(name, array) is not None:
        classes = _labels(y_true, array)
    if classes is None:
        _, (y_true, array) = lined_up(y_true=y_true, **predicted)
        return y_true, array
    classes = np.asarray(classes)
    y_true = in_order("y_true", y_true, classes)
    return y_true, in_order(name, array, classes, are_labels=are_labels)


def names_in_order(classes, y_true, **predicted):
    """The names of the columns that :func:`lined_up_with` returns; None if unknown.

    Examples
    --------
    >>> names_in_order(None, ["sad", "calm"], scores=np.zeros((2, 2)))
    array(['calm', 'sad'], dtype='<U4')
    """
    if classes is not None:
        return np.asarray(classes)
    ((_, array),) = predicted.items()
    if names_of_columns("y_true", y_true) is None:
        labels = _labels(y_true, array if hasattr(array, "shape") else np.array(array))
        if labels is not None:
            return labels
    return lined_up(y_true=y_true, **predicted)[0]


def _labels(y_true, predicted):
    """The labels that `y_true` holds, if there is one for each column; else None."""
    y = check_target(y_true, "y_true", len_of=predicted, may_have_unknown=True)
    if sparse.issparse(y) or y.size != len(y):
        return None
    with naming("y_true"):
        labels = unique_labels(y.ravel())
    return labels if len(labels) == predicted.shape[1] else None
