"""Matrices of zeros and ones: label sets, and candidates for the class of a row."""

import numpy as np
from scipy import sparse

from .._utils.checks import row_and_others
from ._sparse import SparseTarget

# cross_val_predict encodes each column of a matrix y to predict probabilities.
_ENCODED = (
    " If y is from cross_val_predict with method='predict_proba', which replaces the "
    "values of a column by their numbers, give it params={'y': y} in place of y."
)
_NOUNS = {"label_set": "label sets", "candidates": "candidates"}


def checked_indicator(y, kind):
    """A 0/1 matrix as a CSR array without stored zeros.

    Parameters
    ----------
    y : ndarray or sparse matrix of shape (n_samples, n_classes)
    kind : {"label_set", "candidates"}
        Kind of entries, for errors.

    Returns
    -------
    y : CSR array of shape (n_samples, n_classes)

    Raises
    ------
    ValueError
        If an entry is neither 0 nor 1.
    """
    noun = _NOUNS[kind]
    if y.dtype.kind not in "biuf":
        raise ValueError(
            f"As {noun}, y must be an indicator of 0 and 1; got dtype {y.dtype}."
        )
    if sparse.issparse(y):
        y = sparse.csr_array(y, copy=True)
        y.sum_duplicates()
        y.eliminate_zeros()
    entries = y.data if sparse.issparse(y) else y
    others = other_than_0_and_1(entries)
    if others:
        raise ValueError(
            f"As {noun}, y must be an indicator of 0 and 1; got also {others}. "
            "(Distributions must be dense. Counts of votes are divided by row sums; "
            "lists of labels are made an indicator by MultiLabelBinarizer.)"
            f"{if_encoded(y)}"
        )
    return sparse.csr_array(y)


def shares_of_candidates(y, dtype):
    """The candidates of each row as a distribution with equal shares.

    Parameters
    ----------
    y : CSR array of shape (n_samples, n_classes)
        Indicator of zeros and ones, without stored zeros.
    dtype : dtype

    Returns
    -------
    target : SparseTarget

    Raises
    ------
    ValueError
        If a row has no candidate.

    Examples
    --------
    >>> from scipy import sparse
    >>> from skprob.targets._indicator import shares_of_candidates
    >>> y = sparse.csr_array([[1, 1, 0], [0, 0, 1]])
    >>> shares_of_candidates(y, float).to_dense(float)
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    counts = np.diff(y.indptr)
    if not counts.all():
        raise ValueError(
            "As candidates, y must have a candidate in each row; there is none in "
            f"{row_and_others(counts == 0)}. Leave such rows out or, if nothing is "
            "known, mark all classes."
        )
    values = np.repeat(1 / counts, counts).astype(dtype)
    return SparseTarget(y.indptr, y.indices, values, y.shape[1])


def label_sets(y, dtype, polytope, none_class):
    """The target of label sets.

    Parameters
    ----------
    y : CSR array of shape (n_samples, n_classes)
        A checked indicator.
    dtype, polytope, none_class
        As for :func:`encode_target`.

    Returns
    -------
    target : SparseTarget
        Targets of the rows that have one.
    labelled : ndarray of bool of shape (n_samples,) or None
        Whether each row has a target; None if all have.
    has_none : bool
        Whether there is a class for rows without a label, in the last column.
    """
    if polytope == "cube":
        marginals = y.data.astype(dtype, copy=False)
        target = SparseTarget(y.indptr, y.indices, marginals, y.shape[1])
        return target, None, False
    counts = np.diff(y.indptr)
    labelled = counts > 0
    has_none = not labelled.all() if none_class == "auto" else none_class
    if has_none:
        y = sparse.hstack([y, ~labelled[:, None]], format="csr")
        counts, labelled = np.maximum(counts, 1), np.ones_like(labelled)
    values = np.repeat(1 / counts[labelled], counts[labelled]).astype(dtype)
    # Rows without a label have no entries: only their row pointers are removed.
    indptr = np.concatenate([[0], np.cumsum(counts[labelled])])
    target = SparseTarget(indptr, y.indices, values, y.shape[1])
    labelled = None if labelled.all() else labelled
    return target, labelled, bool(has_none)


def if_encoded(y):
    """The end of an error: advice if scikit-learn encoded a matrix."""
    return _ENCODED if y.ndim == 2 and y.dtype.kind in "iu" else ""


def other_than_0_and_1(entries):
    """Text of the first values of entries that are neither 0 nor 1, sorted."""
    return np.unique(entries[(entries != 0) & (entries != 1)])[:5].tolist()


def not_an_indicator(y):
    """The end of a sentence in an error: the values that are not 0 and 1."""
    if y.dtype.kind not in "biuf":
        return "; make an indicator of lists of names by MultiLabelBinarizer"
    values = f", with the values {other_than_0_and_1(y)}"
    if (y >= 0).all():
        values += "; divide counts of votes by their row sums"
        values += ", and make an indicator of lists of labels by MultiLabelBinarizer"
    return values
