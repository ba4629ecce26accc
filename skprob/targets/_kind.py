"""The kinds of target, and the kind of a given `y`."""

import numpy as np
from scipy import sparse

#: The kinds of target that can be learnt.
KINDS = ("class", "label_set", "distribution")

# cross_val_predict encodes each column of a matrix y to predict probabilities.
_ENCODED = (
    " If y is from cross_val_predict with method='predict_proba', which replaces the "
    "values of a column by their numbers, give it params={'y': y} in place of y."
)


def infer_target_type(y):
    """The kind of target that `y` is.

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
    found = f", with the values {other_than_0_and_1(y)}"
    if (y >= 0).all():
        found += "; divide counts of votes by their row sums"
        found += ", and make an indicator of lists of labels by MultiLabelBinarizer"
    return found


def if_encoded(y):
    """The end of an error: advice if scikit-learn encoded a matrix."""
    return _ENCODED if y.ndim == 2 and y.dtype.kind in "iu" else ""


def other_than_0_and_1(entries):
    """The first few other values among the entries, sorted."""
    return np.unique(entries[(entries != 0) & (entries != 1)])[:5].tolist()
