"""Checks of the arguments of a decision rule."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from .._utils.checks import as_real, csr_indicator, fill_unknown, naming
from .._utils.typing import MatrixLike


def as_probabilities(probabilities):
    """A float array or CSR array of non-negative numbers, of two dimensions."""
    name = "probabilities"
    p = probabilities
    if sparse.issparse(p):
        p = sparse.csr_array(p)
        values = p.data = as_real(name, p.data)
    else:
        p = values = as_real(name, p)
    if p.ndim != 2 or p.shape[1] == 0:
        raise ValueError(
            f"{name} must have shape (n_samples, n_labels); got shape {p.shape}."
        )
    if not (np.isfinite(values).all() and values.min(initial=0) >= 0):
        raise ValueError(
            f"{name} must be finite and not negative; got values from "
            f"{values.min():.6g} to {values.max():.6g}."
        )
    return p


def as_indicator(
    labels: MatrixLike, shape: tuple[int, int], name: str = "labels"
) -> sparse.csr_array:
    """A 0/1 indicator as a CSR array without stored zeros.

    Parameters
    ----------
    labels : array-like or sparse matrix of shape (n_samples, n_labels)
    shape : tuple of int
        The shape that it must have.
    name : str, default="labels"
        The argument that errors name.

    Returns
    -------
    labels : CSR array

    Raises
    ------
    ValueError
        If `labels` has another shape, or is not 0 or 1.

    Examples
    --------
    >>> from skprob.decision import as_indicator
    >>> as_indicator([[1, 0], [0, 1]], (2, 2)).nnz
    2
    """
    if not sparse.issparse(labels):
        labels = as_real(name, labels)
        if labels.ndim != 2:
            raise ValueError(
                f"{name} must be a 0/1 indicator of shape {shape}; got shape "
                f"{labels.shape}."
            )
    result, wrong = csr_indicator(labels)
    if result.shape != shape:
        raise ValueError(
            f"{name} must be a 0/1 indicator of shape {shape}; got shape "
            f"{result.shape}."
        )
    if len(wrong):
        raise ValueError(f"{name} must be 0 or 1; got {wrong[0]:.6g}.")
    return result


def as_known_indicator(labels, shape):
    """The 0/1 indicator with zeros in place of NaN, and a mask of the known entries.

    The mask is None if all entries are known.
    """
    if sparse.issparse(labels):
        labels = sparse.csr_array(labels)
    else:
        labels = as_real("labels", labels)
    labels, known = fill_unknown(labels)
    return as_indicator(labels, shape), known


def as_features(X, len_of):
    """A float array or CSR matrix with as many rows as probabilities have."""
    with naming("X", X):
        X = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X"
        )
    if X.shape[0] != len_of.shape[0]:
        raise ValueError(
            f"X must have a row for each of the {len_of.shape[0]} rows of "
            f"probabilities; got {X.shape[0]}."
        )
    return X
