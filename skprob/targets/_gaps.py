"""Entries of a target that are not known."""

import numpy as np
from scipy import sparse


def without_gaps(y):
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
    >>> from skprob.targets import without_gaps
    >>> y, known = without_gaps(np.array([[1.0, np.nan], [0.0, 1.0]]))
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
    gaps = np.isnan(entries)
    if not sparse.issparse(y):
        return np.where(gaps, 0, y), ~gaps
    known = np.ones(y.shape, dtype=bool)
    y = sparse.coo_array(y)
    known[y.row[gaps], y.col[gaps]] = False
    values = np.where(gaps, 0, y.data)
    return sparse.csr_array((values, (y.row, y.col)), shape=y.shape), known
