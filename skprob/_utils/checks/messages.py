"""Errors that name the argument, and parts of messages."""

from contextlib import contextmanager

import numpy as np

from .bad_columns import is_about_features, with_columns, without_values

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

    For the argument `X`, give it, so that errors name its columns. Errors about other
    columns than in `fit` are not changed.
    """
    try:
        # The check for infinities in scikit-learn may overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (OverflowError, TypeError, ValueError) as error:
        message = without_values(str(error))
        if argument == "X":
            if is_about_features(message):
                raise
            message = with_columns(message, X)
        allowed = _ALLOWED[argument]
        if "dense data is required" in message:
            allowed = allowed.replace("dense or sparse", "dense")
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument} must be {allowed}. {message}") from None


def row_and_others(wrong):
    """The first wrong row, and the number of the others.

    Parameters
    ----------
    wrong : ndarray of bool of shape (n_samples,)
        True in at least one row.

    Returns
    -------
    rows : str

    Examples
    --------
    >>> import numpy as np
    >>> for wrong in [0, 0, 1], [0, 1, 1], [1, 1, 1]:
    ...     print(row_and_others(np.array(wrong, dtype=bool)))
    row 2
    row 1 and 1 other row
    row 0 and 2 other rows
    """
    n_others = int(wrong.sum()) - 1
    first = f"row {int(wrong.argmax())}"
    if not n_others:
        return first
    return f"{first} and {n_others} other row{'s' if n_others > 1 else ''}"
