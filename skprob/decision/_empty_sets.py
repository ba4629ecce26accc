"""Rows without a label in an indicator of label sets."""

from __future__ import annotations

import numpy as np

from .._utils.typing import Array, MatrixLike

# Standard deviations by which the number of rows without a known label must exceed its
# expectation.
_SIGNIFICANT = 3


def n_labelled(labels: MatrixLike) -> int:
    """Number of rows of a CSR indicator that have a label."""
    return np.count_nonzero(np.diff(labels.indptr))


def has_empty(labels: MatrixLike, known: Array | None = None) -> bool:
    """Whether a CSR indicator has a row without a label.

    Parameters
    ----------
    labels : CSR array of shape (n_samples, n_labels)
    known : ndarray of bool of shape (n_samples, n_labels), default=None
        Which entries are known; None if all are. The unknown ones are assumed to be
        random: the only label of a row is then unknown with a probability that is the
        share of its unknown entries. The result is True if significantly more rows than
        expected have no known label.

    Returns
    -------
    has_empty : bool

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from skprob.decision import has_empty
    >>> labels = csr_array(np.array([[1, 0], [0, 0]]))
    >>> has_empty(labels), has_empty(labels, np.array([[True, True], [False, True]]))
    (True, False)
    """
    n_empty = labels.shape[0] - n_labelled(labels)
    if known is None:
        return bool(n_empty > 0)
    hidden = 1 - known.mean(axis=1)
    deviation = np.sqrt(hidden @ (1 - hidden))
    return bool(n_empty > hidden.sum() + _SIGNIFICANT * deviation)
