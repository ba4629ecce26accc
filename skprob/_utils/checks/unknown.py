"""Entries of label sets that are not known: NaN."""

import numpy as np
from scipy import sparse


def fill_unknown(y):
    """A matrix with zeros in place of NaN, and which entries are known.

    Parameters
    ----------
    y : ndarray or CSR matrix of shape (n_samples, n_classes)
        Checked. A NaN stands for an entry that is not known.

    Returns
    -------
    y : ndarray or CSR matrix
        `y` itself if all is known.
    known : ndarray of bool of shape (n_samples, n_classes) or None
        None if all is known.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob._utils.checks import fill_unknown
    >>> y, known = fill_unknown(np.array([[1.0, np.nan], [0.0, 1.0]]))
    >>> y
    array([[1., 0.],
           [0., 1.]])
    >>> known
    array([[ True, False],
           [ True,  True]])
    """
    entries = y.data if sparse.issparse(y) else y
    if entries.dtype.kind != "f":
        return y, None
    # The minimum is NaN if an entry is, and needs no array as large as y.
    if not np.isnan(entries.min(initial=0)):
        return y, None
    unknown = np.isnan(entries)
    if not sparse.issparse(y):
        return np.where(unknown, 0, y), ~unknown
    known = np.ones(y.shape, dtype=bool)
    y = sparse.coo_array(y)
    known[y.row[unknown], y.col[unknown]] = False
    values = np.where(unknown, 0, y.data)
    return sparse.csr_array((values, (y.row, y.col)), shape=y.shape), known


def known_part(name, known, predicted, weight):
    """Predicted label sets without the entries that are not known.

    Parameters
    ----------
    name : str
        The argument in errors that has the true sets.
    known : ndarray of bool of shape (n_samples, n_classes) or None
        Which entries of the true sets are known; None if all are.
    predicted : ndarray or CSR array of shape (n_samples, n_classes)
        0/1 indicator of the predicted sets.
    weight : ndarray of shape (n_samples,)

    Returns
    -------
    predicted : ndarray or CSR array
        With zeros for what is not known, as :func:`fill_unknown` has in the true sets.
    weight : ndarray of shape (n_samples,)
        Zero where nothing of the row is known.

    Raises
    ------
    ValueError
        If nothing is known in the rows of positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob._utils.checks import known_part
    >>> known = np.array([[True, False], [False, False]])
    >>> for part in known_part("y", known, np.ones((2, 2)), weight=np.ones(2)):
    ...     print(part.tolist())
    [[1.0, 0.0], [0.0, 0.0]]
    [1.0, 0.0]
    """
    # Another check raises the error on other columns.
    if known is None or known.shape != predicted.shape:
        return predicted, weight
    weight = np.where(known.any(axis=1), weight, 0)
    if not weight.any():
        raise ValueError(
            f"{name} must have a known entry in a row of positive weight; got NaN in "
            "all entries of these rows."
        )
    if sparse.issparse(predicted):
        return sparse.csr_array(predicted.multiply(known)), weight
    return np.where(known, predicted, 0), weight
