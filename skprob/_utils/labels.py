"""Labels among the classes."""

import numpy as np
from scipy import sparse


def plain_names(classes):
    """Names of classes as Python objects; dates and durations as those of NumPy.

    Python has whole numbers for those in nanoseconds.

    Examples
    --------
    >>> import numpy as np
    >>> plain_names(np.array(["b", "a"]))
    ['b', 'a']
    """
    return list(classes) if classes.dtype.kind in "mM" else classes.tolist()


def plain_labels(labels):
    """Labels of a type that scikit-learn changes or refuses, as a plain array.

    scikit-learn converts pandas' nullable integers to floats: integers above 2^53 that
    differ by one would be one class. NumPy's ``StringDType`` is an error there.

    Parameters
    ----------
    labels : array-like of shape (n_samples,) or (n_samples, 1)
        Those of other types, or with missing values, are not changed.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_labels(pd.Series([3, 1], dtype="Int64"))
    array([3, 1])
    """
    is_frame = hasattr(labels, "iloc") and labels.ndim == 2 and labels.shape[1] == 1
    column = labels.iloc[:, 0] if is_frame else labels
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    if kind == "T":
        return labels.astype(object)
    is_pandas = hasattr(column, "isna") and column.ndim == 1
    if not is_pandas or kind not in "biu" or column.isna().any():
        return labels
    return labels.to_numpy()


def types_of_objects(labels):
    """Description of labels that are objects of Python, for errors, with advice.

    Examples
    --------
    >>> types_of_objects([1, "a", "b"])
    'objects of type int, str. Give text, such as [str(label) for label in y]'
    """
    types = sorted({type(label).__name__ for label in labels})
    return (
        f"objects of type {', '.join(types)}. Give text, such as [str(label) for label "
        "in y]"
    )


def positions_of(labels, classes):
    """The number of each label among the classes.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        Distinct, in any order.

    Returns
    -------
    positions : ndarray of int of shape (n_samples,)
        -1 for labels that are none of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> positions_of(np.array(["b", "c", "a"]), np.array(["b", "a"]))
    array([ 0, -1,  1])
    """
    order = np.argsort(classes, kind="stable")
    try:
        positions = np.searchsorted(classes, labels, sorter=order)
    except TypeError:  # Strings and numbers have no order.
        return np.full(len(labels), -1)
    positions = order[np.minimum(positions, len(order) - 1)]
    return np.where(classes[positions] == labels, positions, -1)


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


def label_indicator(columns, n_classes):
    """0/1 indicator of one label in each row, as a CSR array.

    Parameters
    ----------
    columns : ndarray of int of shape (n_samples,)
        The number of the class of each row.
    n_classes : int

    Examples
    --------
    >>> import numpy as np
    >>> label_indicator(np.array([1, 0]), 3).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    n_rows = len(columns)
    parts = np.ones(n_rows), columns, np.arange(n_rows + 1)
    return sparse.csr_array(parts, shape=(n_rows, n_classes))
