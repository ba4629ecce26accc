"""Checks of a user's data, with errors that name the argument and what is allowed."""

from contextlib import contextmanager

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, validate_data

_TARGET = (
    "labels of shape (n_samples,), or an indicator or distributions of shape "
    "(n_samples, n_classes)"
)
_ALLOWED = {
    "X": "finite numbers, dense or sparse, of shape (n_samples, n_features)",
    "y": _TARGET,
    "y_true": _TARGET,
    "sample_weight": "finite, non-negative numbers, one for each row, not all zero",
}


def check_X(estimator, X, *, reset):
    """`X` as a float array or CSR matrix; `reset` at fit, not at predict."""
    with naming("X"):
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=reset,
        )
    return X


def check_fit_data(estimator, X, y, sample_weight):
    """What `fit` is given: `X`, `y` and `sample_weight` as arrays of one length."""
    X = check_X(estimator, X, reset=True)
    _check_squares(X)
    y = check_target(y, "y", len_of=X)
    return X, y, check_sample_weight(sample_weight, X)


def check_target(y, name, *, len_of):
    """A target as an array or CSR matrix with as many rows as `len_of`."""
    with naming(name):
        if y is None or np.isscalar(y):
            raise ValueError(
                f"Expected array-like (array or non-string sequence), got {y!r}."
            )
        # In a row of integers there is nothing to be found.
        is_row = isinstance(y, np.ndarray) and y.ndim == 1 and len(y) > 0
        if not (is_row and y.dtype.kind in "biu"):
            y = check_array(
                y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name=name
            )
    n_samples = len_of.shape[0]
    if y.ndim == 0 or y.shape[0] != n_samples:
        raise ValueError(
            f"{name} must have one entry for each of the {n_samples} rows; got shape "
            f"{y.shape}."
        )
    return y


def check_sample_weight(sample_weight, X):
    """Weights of the rows of `X`, of shape (n_samples,); ones for None."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    with naming("sample_weight"):
        return _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )


def check_outputs(outputs, first_row):
    """Raise where features were so large that a model's outputs overflowed.

    Rows are counted from `first_row`.
    """
    finite = np.isfinite(outputs)
    if not finite.all():
        finite = finite.all(axis=1)
        raise ValueError(
            "X must be small enough for finite scores; in row "
            f"{first_row + np.argmin(finite)} they overflow {outputs.dtype}."
        )


@contextmanager
def naming(argument):
    """Say in errors which argument is meant, and what it may be."""
    try:
        # Looking for infinities, scikit-learn may add some.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument} must be {_ALLOWED[argument]}. {error}") from None


def _check_squares(X):
    # Means and variances of the features, which the solver scales them by.
    limit = np.sqrt(np.finfo(X.dtype).max) / 100
    values = X.data if sparse.issparse(X) else X
    largest = max(values.max(initial=0), -values.min(initial=0))
    if largest > limit:
        raise ValueError(
            f"X must not exceed {limit:.1g} in absolute value, or the squares of "
            f"{X.dtype} overflow; got {largest:.1g}. Scale the features."
        )
