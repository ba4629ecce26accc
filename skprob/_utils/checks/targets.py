"""A target that a user gives, of any kind, as an array or a CSR matrix."""

from numbers import Real
from types import NoneType

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from ..arrays import is_foreign, to_numpy
from ..labels import plain_labels
from .matrices import refuse_dask, refuse_unreadable, refuse_wrong_indices
from .messages import naming, row_and_others
from .tensors import check_tensor

# Missing labels of Python, NumPy, pandas and polars, as text and in errors.
_MISSING = {"nan": "NaN", "<NA>": "NaN", "NaT": "NaT", "None": "None"}


def target_array(y, name, may_have_unknown):
    """A user's target as an array or CSR matrix: see :func:`check_target`."""
    refuse_dask(name, y)
    if is_foreign(y):
        check_tensor(name, y)
        y = to_numpy(y)
    refuse_lists_of_labels(y, name)
    with naming(name):
        return _finite_or_labels(y, name, may_have_unknown)


def _finite_or_labels(y, name, may_have_unknown):
    """A target in memory as an array or CSR matrix of finite numbers, or of labels."""
    if isinstance(y, memoryview):  # scikit-learn refuses it.
        y = np.asarray(y)
    refuse_unreadable(y)
    refuse_wrong_indices(y)
    if y is None or np.isscalar(y):
        raise ValueError(
            f"Expected array-like (array or non-string sequence), got {y!r}."
        )
    refuse_missing_labels(y, name)
    y = plain_labels(y)
    options = {"accept_sparse": "csr", "ensure_2d": False, "dtype": None}
    if may_have_unknown:
        finite = {"ensure_all_finite": "allow-nan"}
        checked = check_array(y, input_name=name, **options, **finite)
        # Labels in a vector or a single column may not be NaN.
        if checked.ndim == 2 and checked.shape[1] > 1:
            return _plain_numbers(checked)
    checked = check_array(y, input_name=name, **options)
    numbers = _plain_numbers(checked)
    if numbers is not checked:
        check_array(numbers, input_name=name, **options)  # None has become NaN.
    return numbers


def refuse_missing_labels(y, name):
    """Raise if a vector, or a single column, has a row without a label."""
    if sparse.issparse(y):
        return
    try:
        labels = np.asarray(y)
    except ValueError:  # Rows of different lengths: another check raises an error.
        return
    if labels.dtype.kind not in "fO" or not 0 < labels.size == len(labels):
        return
    labels = labels.ravel()
    if labels.dtype.kind == "O":
        is_text = [isinstance(label, str) for label in labels]
        missing = ~np.array(is_text)
        missing[missing] = [str(label) in _MISSING for label in labels[missing]]
    else:
        missing = np.isnan(labels)
    if missing.any():
        raise ValueError(
            f"Input {name} contains {_MISSING[str(labels[missing][0])]}, in "
            f"{row_and_others(missing)}. Leave out the rows without a label."
        )


def _plain_numbers(y):
    """A matrix of objects as numbers, where all are, and one of float16 as float32.

    pandas makes a matrix of objects of columns of several types, or of categories; None
    in it is NaN. Sparse matrices, which label sets become, have no float16.
    """
    if y.dtype == np.float16 and y.ndim == 2:
        return y.astype(np.float32)
    if y.dtype != object or y.ndim != 2 or y.shape[1] == 1:
        return y
    if not all(isinstance(entry, (Real, np.bool_, NoneType)) for entry in y.flat):
        return y
    return y.astype(np.float64)


def are_labels(y, name):
    """Whether a user's target is a label for each row; False for None.

    Examples
    --------
    >>> are_labels(["calm", "sad"], "y"), are_labels([[1, 0], [0, 1]], "y")
    (True, False)
    """
    if y is None or sparse.issparse(y):
        return False
    refuse_lists_of_labels(y, name)
    return np.ndim(y) == 1


def refuse_lists_of_labels(y, name):
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
