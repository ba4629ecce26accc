"""Checks of the arguments X, y and sample_weight.

NumPy arrays of suitable types pass a short check here. `conversions.py` checks and
converts X and sample_weight of all other kinds, and `targets.py` y.
"""

import numpy as np
from scipy import sparse

from .targets import target_array

# Largest square of an entry of X, as a share of the largest number of its type. Sums
# of squares are finite, too.
SHARE_OF_SQUARES = 1e-4


def check_X(estimator, X, *, reset):
    """`X` as a float array or CSR matrix; `reset` at fit, not at predict.

    At fit the squares must not overflow.
    """
    # The search for names of features takes scikit-learn 60 microseconds: a fit to
    # breast cancer takes 0.9 times as long without it.
    is_plain = (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.size > 0
        and not hasattr(estimator, "feature_names_in_")
        and (reset or X.shape[1] == getattr(estimator, "n_features_in_", None))
    )
    if is_plain and has_small_squares(X):
        estimator.n_features_in_ = X.shape[1]
        return X
    from .conversions import converted_X  # It imports this module.

    return converted_X(estimator, X, reset)


def has_small_squares(X):
    """Whether the sum of squares of an array or CSR matrix is within its limit.

    Then all numbers are finite, and :func:`check_squares` does not raise.
    """
    values = X.data if sparse.issparse(X) else X
    if not values.flags.forc:
        return False
    flat = values.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(flat.dot(flat) <= SHARE_OF_SQUARES * np.finfo(X.dtype).max)


def check_target(y, name, *, len_of, may_have_unknown=False):
    """A user's target as an array or CSR matrix, with a row for each one of `len_of`.

    Its kind is not checked. With `may_have_unknown`, entries of a matrix may be NaN,
    which stands for "not known". Errors name the argument.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob._utils.checks import check_target
    >>> check_target([0, 1, 1], "y", len_of=np.zeros((3, 5)))
    array([0, 1, 1])
    """
    # A vector of integers has no lists and no NaN.
    is_plain = type(y) is np.ndarray and y.ndim == 1 and len(y) > 0
    if not (is_plain and y.dtype.kind in "biu"):
        y = target_array(y, name, may_have_unknown)
    n_samples = len_of.shape[0]
    if y.ndim == 0 or y.shape[0] != n_samples:
        raise ValueError(
            f"{name} must have one entry for each of the {n_samples} rows; got shape "
            f"{y.shape}."
        )
    # SciPy has no sparse matrices of the other byte order.
    return y if y.dtype.isnative else y.astype(y.dtype.newbyteorder("="))


def check_sample_weight(sample_weight, X):
    """Weights of the rows of `X`, of shape (n_samples,); ones for None."""
    if sample_weight is None:
        return np.ones(X.shape[0])
    from .conversions import converted_weights  # It imports this module.

    return converted_weights(sample_weight, X)
