"""The kinds of target, the kind of a given `y`, and checks of class labels."""

from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

#: The kinds of target that can be learnt.
KINDS = ("class", "label_set", "distribution", "candidates")

# cross_val_predict encodes each column of a matrix y to predict probabilities.
_ENCODED = (
    " If y is from cross_val_predict with method='predict_proba', which replaces the "
    "values of a column by their numbers, give it params={'y': y} in place of y."
)


def infer_target_type(y):
    """The kind of target that `y` is; a 0/1 matrix never counts as candidates.

    Parameters
    ----------
    y : ndarray or sparse matrix

    Returns
    -------
    kind : {"class", "label_set", "distribution"}

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


def if_encoded(y):
    """The end of an error: advice if scikit-learn encoded a matrix."""
    return _ENCODED if y.ndim == 2 and y.dtype.kind in "iu" else ""


def other_than_0_and_1(entries):
    """The first few other values among the entries, sorted."""
    return np.unique(entries[(entries != 0) & (entries != 1)])[:5].tolist()


def as_labels(y):
    """Labels as a one-dimensional array whose entries can be sorted.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, 1)

    Returns
    -------
    labels : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If `y` is anything but strings, booleans or whole numbers.

    Examples
    --------
    >>> from skprob.targets import as_labels
    >>> as_labels([2.0, 0.0])
    array([2., 0.])
    >>> as_labels([2.5, 0.0])
    Traceback (most recent call last):
        ...
    ValueError: y must be labels, ... Unknown label type: continuous, 2.5 in row 0.
    """
    if not isinstance(y, np.ndarray) or y.ndim != 1:
        y = column_or_1d(y, warn=True)
    what = ""
    if y.dtype == object:
        types = {type(label) for label in y}
        if all(issubclass(t, str) for t in types):
            return y
        what = f"objects of type {', '.join(sorted(t.__name__ for t in types))}"
        if all(issubclass(t, (Real, np.bool_)) for t in types):
            y = np.array(y.tolist())
    if y.dtype.kind in "biuU":
        return y
    if y.dtype.kind == "f":
        whole = np.isfinite(y) & (y == np.floor(y))
        if whole.all():
            return y
        what = f"continuous, {y[np.argmin(whole)]} in row {np.argmin(whole)}"
    raise ValueError(
        "y must be labels, all strings, all booleans or all whole numbers. Unknown "
        f"label type: {what or f'dtype {y.dtype}'}."
    )
