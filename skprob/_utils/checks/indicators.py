"""Indicators that users give: matrices of 0 and 1."""

import numpy as np
from scipy import sparse


def check_indicator(name, indicator):
    """Raise unless an array, or a CSR array, is a matrix of 0 and 1 with rows.

    Examples
    --------
    >>> check_indicator("sets", np.array([[0, 1], [1, 1]]))
    """
    entries = indicator.data if sparse.issparse(indicator) else indicator
    is_matrix = indicator.ndim == 2 and indicator.shape[0] > 0
    if not is_matrix or entries.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a 0/1 indicator of shape (n_samples, n_classes) with "
            f"rows; got dtype {indicator.dtype} and shape {indicator.shape}."
        )
    wrong = entries[~np.isin(entries, (0, 1))]
    if wrong.size:
        raise ValueError(
            f"{name} must be a 0/1 indicator of shape (n_samples, n_classes); got the "
            f"value {wrong[0]:.6g}."
        )


def csr_indicator(matrix):
    """A matrix as a CSR copy without stored zeros, and its entries other than 0 and 1.

    Examples
    --------
    >>> indicator, wrong = csr_indicator([[0, 1], [2, 0]])
    >>> indicator.toarray()
    array([[0., 1.],
           [2., 0.]])
    >>> wrong
    array([2.])
    """
    indicator = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    indicator.sum_duplicates()
    indicator.eliminate_zeros()
    return indicator, indicator.data[indicator.data != 1]
