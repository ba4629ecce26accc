"""Errors that name the argument and what is allowed."""

from contextlib import contextmanager

import numpy as np

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
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument} must be {_ALLOWED[argument]}. {message}") from None
