"""The arguments X, y and sample_weight: errors that name them, and checked weights."""

from contextlib import contextmanager

import numpy as np
from scipy import sparse

from ..arrays import check_tensor, is_foreign, namespace, numpy_dtype, to_numpy
from ..compat import check_weights
from .bad_columns import is_about_features, with_columns

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


@contextmanager
def naming(argument, X=None):
    """Context that adds the argument and its allowed values to errors.

    For the argument `X` it is given, so that errors name its columns. Errors about
    other columns than in `fit` are raised as they are.
    """
    try:
        # The check for infinities in scikit-learn may overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (TypeError, ValueError) as error:
        message = str(error)
        if argument == "X":
            if is_about_features(message):
                raise
            message = with_columns(message, X)
        allowed = _ALLOWED[argument]
        if "dense data is required" in message:
            allowed = allowed.replace("dense or sparse", "dense")
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument} must be {allowed}. {message}") from None


def refuse_masked(data):
    """Raise if data are an array of NumPy with masked entries.

    NumPy and scikit-learn drop the mask, and would use the numbers below it.

    Examples
    --------
    >>> refuse_masked(np.ma.masked_array([[1.0, 2.0]], mask=False))
    """
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        n_masked = np.count_nonzero(np.ma.getmaskarray(data))
        raise ValueError(
            f"Masked entries were found, {n_masked} of {data.size}. Leave these rows "
            "out, or give numbers for them: array.filled(number)."
        )


def limit_of_squares(X):
    """Largest absolute value of entries whose squares, and their sums, are finite."""
    return np.sqrt(np.finfo(numpy_dtype(X)).max) / 100


def check_squares(X):
    """Raise where the squares of the entries of a matrix overflow, or their sums."""
    dtype, values = numpy_dtype(X), X.data if sparse.issparse(X) else X
    limit = limit_of_squares(X)
    if isinstance(values, np.ndarray):
        largest = max(values.max(initial=0), -values.min(initial=0))
    else:
        largest = float(namespace(values).max(abs(values)))
    if largest > limit:
        raise ValueError(
            f"X must not exceed {limit:.1g} in absolute value, or the squares of "
            f"{dtype} overflow; got {largest:.1g}. Scale the features."
        )


def check_sample_weight(sample_weight, X):
    """Weights of the rows of `X`, of shape (n_samples,); ones for None."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    with naming("sample_weight"):
        if is_foreign(sample_weight):
            check_tensor("sample_weight", sample_weight)
            sample_weight = to_numpy(sample_weight)
        if np.asarray(sample_weight).dtype.kind == "c":
            raise ValueError("Complex numbers were found.")
        if is_foreign(X):  # The weights are a NumPy array in any case.
            X = np.empty((X.shape[0], 0))
        refuse_masked(sample_weight)
        return check_weights(sample_weight, X)


def weighted_mean(values, weight):
    """Mean by checked weights that are not all zero, as a float.

    It does not depend on the unit of the weights: their sum may overflow, and a product
    with a tiny one may be zero.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_mean(np.array([0.0, 3.0]), np.array([5e-324, 1e-323]))
    2.0
    """
    return float(np.average(values, weights=weight / weight.max()))


def rows_of_folds(folds, n_samples):
    """Numbers of the training and test rows of each fold of a user's `cv`.

    Parameters
    ----------
    folds : list of pair of array-like
        Numbers of rows, or masks of all rows.
    n_samples : int

    Raises
    ------
    ValueError
        If a row is not among those of X, or a fold is no pair.

    Examples
    --------
    >>> rows_of_folds([([True, False], [-1])], 2)
    [(array([0]), array([1]))]
    """
    rows = np.arange(n_samples)
    try:
        return [(rows[train], rows[test]) for train, test in folds]
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            "cv must make pairs of training and test rows, as numbers from 0 to "
            f"{n_samples - 1} or as masks of all {n_samples} rows. {error}"
        ) from error
