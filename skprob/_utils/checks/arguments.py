"""The arguments X, y and sample_weight: errors that name them, and checked weights."""

from contextlib import contextmanager

import numpy as np

from ..arrays import check_no_gradient, is_foreign, to_numpy
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


def check_sample_weight(sample_weight, X):
    """Weights of the rows of `X`, of shape (n_samples,); ones for None."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    with naming("sample_weight"):
        if is_foreign(sample_weight):
            check_no_gradient("sample_weight", sample_weight)
            sample_weight = to_numpy(sample_weight)
        if np.asarray(sample_weight).dtype.kind == "c":
            raise ValueError("Complex numbers were found.")
        if is_foreign(X):  # The weights are a NumPy array in any case.
            X = np.empty((X.shape[0], 0))
        return check_weights(sample_weight, X)
