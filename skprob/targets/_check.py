"""Checks of targets that users pass."""

import numpy as np
from sklearn.utils import check_array

from .._utils.arrays import check_tensor, is_dask, is_foreign, to_numpy
from .._utils.checks import naming, refuse_unreadable
from .._utils.labels import plain_labels


def check_target(y, name, *, len_of, may_have_gaps=False):
    """A user's target as an array or CSR matrix of the right length.

    Parameters
    ----------
    y : array-like or sparse matrix
        Labels, a 0/1 indicator or distributions; the kind is not checked.
    name : {"y", "y_true"}
        The argument that errors name.
    len_of : array or sparse matrix
        The data whose number of rows `y` must have.
    may_have_gaps : bool, default=False
        Whether entries of a matrix may be NaN: not known.

    Returns
    -------
    y : ndarray or CSR matrix

    Raises
    ------
    ValueError
        If `y` is not an array, not finite, or has another number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import check_target
    >>> check_target([0, 1, 1], "y", len_of=np.zeros((3, 5)))
    array([0, 1, 1])
    """
    if is_dask(y):
        raise ValueError(
            f"{name} must be in memory here, not a Dask collection; got "
            f"{type(y).__name__}. Give {name}.compute(), or Dask collections only."
        )
    if is_foreign(y):
        check_tensor(name, y)
        y = to_numpy(y)
    # A vector of integers has no lists and no NaN.
    is_vector = type(y) is np.ndarray and y.ndim == 1 and len(y) > 0
    if not (is_vector and y.dtype.kind in "biu"):
        y = _checked_array(y, name, may_have_gaps)
    n_samples = len_of.shape[0]
    if y.ndim == 0 or y.shape[0] != n_samples:
        raise ValueError(
            f"{name} must have one entry for each of the {n_samples} rows; got shape "
            f"{y.shape}."
        )
    # SciPy has no sparse matrices of the other byte order.
    return y if y.dtype.isnative else y.astype(y.dtype.newbyteorder("="))


def _checked_array(y, name, may_have_gaps):
    """A user's target as an array or CSR matrix of finite numbers, or of labels."""
    if isinstance(y, memoryview):  # scikit-learn refuses it.
        y = np.asarray(y)
    _check_no_lists_of_labels(y, name)
    with naming(name):
        refuse_unreadable(y)
        if y is None or np.isscalar(y):
            raise ValueError(
                f"Expected array-like (array or non-string sequence), got {y!r}."
            )
        if hasattr(y, "isna") and y.ndim == 1 and y.isna().any():
            # With pandas' NA scikit-learn would raise a TypeError about booleans.
            raise ValueError(f"Input {name} contains NaN.")
        y = plain_labels(y)
        options = {"accept_sparse": "csr", "ensure_2d": False, "dtype": None}
        if may_have_gaps:
            finite = {"ensure_all_finite": "allow-nan"}
            checked = check_array(y, input_name=name, **options, **finite)
            # A vector has no gaps.
            if checked.ndim == 2 and checked.shape[1] > 1:
                return checked
        return check_array(y, input_name=name, **options)


def _check_no_lists_of_labels(y, name):
    """Raise if `y` is lists of labels instead of an indicator."""
    # polars has a special dtype for a Series of lists.
    is_series = hasattr(y, "to_numpy") and not hasattr(y, "columns")
    y = np.asarray(y) if is_series else y
    if not (isinstance(y, (list, tuple)) or getattr(y, "dtype", None) == np.dtype("O")):
        return
    collections = list, tuple, set, frozenset, np.ndarray
    rows = [row for row in list(y) if isinstance(row, collections)]
    is_set = any(isinstance(row, (set, frozenset)) for row in rows)
    is_ragged = len({len(row) for row in rows}) > 1
    has_names = any(len(row) != 1 and isinstance(x, str) for row in rows for x in row)
    if is_set or is_ragged or has_names or (is_series and rows):
        raise ValueError(
            f"{name} must be a 0/1 indicator of label sets, of shape (n_samples, "
            "n_labels); got a list of the labels of each row. "
            "sklearn.preprocessing.MultiLabelBinarizer makes an indicator of it."
        )
