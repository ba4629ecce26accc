"""Columns of DataFrames, which are matched with the classes by name."""

from collections import Counter
from numbers import Integral

import numpy as np
from sklearn.utils import _safe_indexing

from ..arrays import on_host, to_numpy

# Longest list of names in an error.
_MOST_NAMES = 10


def names_of_columns(name, data):
    """The names of the columns of a DataFrame, as classes.

    Numbers remain numbers, other names become text. A single column contains labels, so
    its name is not that of a class.

    Parameters
    ----------
    name : str
        The argument that errors name.
    data : object
        A DataFrame of pandas, polars, pyarrow or Dask, or anything else.

    Returns
    -------
    names : ndarray of shape (n_columns,) or None
        None if `data` has no names.

    Raises
    ------
    ValueError
        If two columns have the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> from skprob._utils.checks import names_of_columns
    >>> names_of_columns("y", pd.DataFrame([[0, 1]], columns=["calm", "sad"]))
    array(['calm', 'sad'], dtype=object)
    """
    names = _column_names(name, data)
    if names is None:
        return None
    numbers = np.asarray(names)
    are_numbers = numbers.ndim == 1 and numbers.dtype.kind in "biuf"
    # NaN, which is not equal to itself, becomes text like other names.
    if are_numbers and (numbers == numbers).all():
        return numbers
    return np.array([str(key) for key in names], dtype=object)


def in_order(name, data, classes, *, are_labels=False, part="columns"):
    """A DataFrame with its columns in the order of the classes.

    Other data are returned without a change. A column belongs to the class that equals
    its name or, if some column has no such class, to the class with the same text. The
    default names of pandas (0, 1, ...) and polars (column_0, column_1, ...) are
    positions if they do not name the classes.

    Parameters
    ----------
    name : str
        The argument that errors name.
    data : object
        A DataFrame of pandas, polars, pyarrow or Dask, or anything else. A frame with a
        single column is not changed.
    classes : array of shape (n_classes,) or list of arrays
        Columns are not matched with the classes of several outputs, a list.
    are_labels : bool, default=False
        Whether the classes are labels. Otherwise the classes 0, 1, ... are the numbers
        of columns without names, with which frames are matched by position.
    part : str, default="columns"
        Name of the columns in errors: "rows" for a transposed argument.

    Returns
    -------
    data : object

    Raises
    ------
    ValueError
        If the names are not those of the classes, or two are the same.

    Examples
    --------
    >>> import pandas as pd
    >>> from skprob._utils.checks import in_order
    >>> available = pd.DataFrame([[True, False]], columns=["sad", "calm"])
    >>> in_order("available", available, np.array(["calm", "sad"]))
        calm   sad
    0  False  True
    """
    names = _column_names(name, data, part)
    if names is None or isinstance(classes, list):
        return data
    classes = to_numpy(classes).tolist()
    order = order_of(names, classes, are_labels=are_labels)
    if order is None:
        raise ValueError(_says_what_differs(name, part, names, classes))
    if order == list(range(len(names))):
        return data
    if hasattr(data, "iloc"):
        return data.iloc[:, order]
    return _safe_indexing(data, order, axis=1)


def series_in_order(name, values, classes):
    """A pandas Series of a value for each class, in the order of the classes.

    It is matched by its index as the columns of a DataFrame are (:func:`in_order`).
    Other values are returned without a change.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skprob._utils.checks import series_in_order
    >>> cuts = pd.Series([0.1, 0.2], index=["sad", "calm"])
    >>> series_in_order("threshold", cuts, np.array(["calm", "sad"])).tolist()
    [0.2, 0.1]
    """
    if not (hasattr(values, "iloc") and values.ndim == 1):
        return values
    row = values.to_frame().T
    return in_order(name, row, classes, part="entries").iloc[0]


def lined_up(classes=None, *, are_labels=False, **frames):
    """Some matrices with the columns of DataFrames in one order, and their names.

    A matrix without names is not changed.

    Parameters
    ----------
    classes : array-like of shape (n_classes,), default=None
        Names of the columns in this order. None stands for the order of the first
        DataFrame with names. The names 0, 1, ... of a frame made from an array count
        only if no other frame has names.
    are_labels : bool, default=False
        As in :func:`in_order`.
    **frames : array-like, sparse matrix, DataFrame or None
        The matrices by the argument that errors name.

    Returns
    -------
    classes : ndarray of shape (n_classes,) or None
        None if no matrix has names and none are given.
    frames : list

    Raises
    ------
    ValueError
        If two frames have different names, or one has a name twice.

    Examples
    --------
    >>> import pandas as pd
    >>> from skprob._utils.checks import lined_up
    >>> true = pd.DataFrame([[1, 0]], columns=["calm", "sad"])
    >>> names, (_, predicted) = lined_up(y_true=true, y_pred=true[["sad", "calm"]])
    >>> print(names, list(predicted.columns))
    ['calm' 'sad'] ['calm', 'sad']
    """
    if classes is None:
        known = [names_of_columns(name, data) for name, data in frames.items()]
        known = [names for names in known if names is not None]
        named = [names for names in known if not _are_positions(names.tolist())]
        classes = next(iter(named or known), None)
    if classes is None:
        return None, list(frames.values())
    classes = np.asarray(classes)
    return classes, [
        in_order(name, data, classes, are_labels=are_labels)
        for name, data in frames.items()
    ]


def order_of(names, classes, *, are_labels):
    """The positions of the classes among names, as a list of numbers.

    Parameters
    ----------
    names, classes : list
        Lists without duplicates.
    are_labels : bool
        As in :func:`in_order`.

    Returns
    -------
    order : list of int or None
        None if the names are not those of the classes.

    Examples
    --------
    >>> from skprob._utils.checks import order_of
    >>> order_of(["sad", "calm"], ["calm", "sad"], are_labels=True)
    [1, 0]
    >>> order_of([0, 1], ["calm", "sad"], are_labels=True)
    [0, 1]
    """
    order = order_by_name(names, classes)
    if order is not None:
        return order
    unnamed = _are_positions(names) or (not are_labels and _are_positions(classes))
    return list(range(len(names))) if unnamed else None


def order_by_name(names, classes):
    """The result of :func:`order_of` if 0, 1, ... are names like all others.

    Examples
    --------
    >>> from skprob._utils.checks import order_by_name
    >>> order_by_name(["2", "1"], [1, 2])
    [1, 0]
    >>> order_by_name([0, 1], [1, 2])
    """
    for key in (lambda label: label, str):
        position = {key(label): i for i, label in enumerate(names)}
        wanted = [key(label) for label in classes]
        if len(wanted) == len(names) and set(wanted) == position.keys():
            return [position[label] for label in wanted]
    return None


def check_distinct(name, names, part="columns"):
    """Raise if two columns of the argument, which errors call `part`, share a name."""
    repeated = [text for text, n in Counter(map(str, names)).items() if n > 1]
    if repeated:
        raise ValueError(
            f"{name} must have {part} with distinct names; got {_shown(repeated)} "
            "more than once."
        )


def distinct_classes(classes):
    """The argument `classes` as a vector of labels, at least one and no label twice.

    Examples
    --------
    >>> from skprob._utils.checks import distinct_classes
    >>> distinct_classes(["calm", "sad"])
    array(['calm', 'sad'], dtype='<U4')
    """
    classes = on_host(classes)
    if classes.ndim != 1 or not 0 < len(classes) == len(set(classes.tolist())):
        raise ValueError(
            "classes must be distinct labels of shape (n_classes,); got "
            f"{classes[:10].tolist() if classes.ndim else classes.item()!r}."
        )
    return classes


def _column_names(name, data, part="columns"):
    """The distinct names of two columns or more, or None."""
    shape = getattr(data, "shape", ())
    if len(shape) != 2 or shape[1] < 2 or not hasattr(data, "columns"):
        return None
    # The `columns` of pyarrow are arrays.
    is_arrow = hasattr(type(data), "column_names")
    names = list(data.column_names if is_arrow else data.columns)
    check_distinct(name, names, part)
    return names


def _are_positions(names):
    """Whether names are the default names of a frame made from an array."""
    if names == [f"column_{i}" for i in range(len(names))]:
        return True
    are_numbers = all(isinstance(key, Integral) and key is not False for key in names)
    return are_numbers and names == list(range(len(names)))


def _says_what_differs(name, part, names, classes):
    # Dictionaries keep the order of the names.
    names, classes = (dict.fromkeys(map(str, keys)) for keys in (names, classes))
    missing = [key for key in classes if key not in names]
    unexpected = [key for key in names if key not in classes]
    return (
        f"{name} must have the {part} {_shown(list(classes))}, the names of the "
        f"classes, in any order; missing: {_shown(missing)}, unexpected: "
        f"{_shown(unexpected)}. Rename the {part}, or give an array, whose {part} are "
        "in the order of the classes."
    )


def _shown(names):
    if len(names) <= _MOST_NAMES:
        return str(names)
    return f"{names[:_MOST_NAMES]} and {len(names) - _MOST_NAMES} more"
