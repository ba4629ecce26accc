"""Checks of a user's data, with errors that name the argument and what is allowed."""

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import validate_data

from .._utils.arrays import (
    all_finite,
    check_no_gradient,
    is_foreign,
    namespace,
    numpy_dtype,
    real_dtypes,
    to_numpy,
)
from .._utils.checks import as_marginals, naming
from .._utils.pair import n_raw_predictions
from .._utils.scores import standard_scores
from ..data import as_design
from ..mappings import MAPPINGS
from ..objective import scores_of


def is_dask(data):
    """Whether it is a Dask collection, for which Dask need not be imported."""
    return hasattr(type(data), "__dask_graph__")


def has_dask(*arguments):
    """Whether one of some arguments is a Dask collection."""
    return any([hasattr(type(each), "__dask_graph__") for each in arguments])


def refuse_for_dask(**given):
    """Raise where an argument with a value for each row comes with Dask collections."""
    for name, array in given.items():
        if array is not None:
            raise ValueError(
                f"{name} must be None for Dask collections; got "
                f"{type(array).__name__}. Give X, y and {name} in memory, for instance "
                "by compute()."
            )


def check_X(estimator, X, *, reset):
    """`X` as a float array or CSR matrix; `reset` at fit, not at predict.

    At fit the squares must not overflow.
    """
    if is_dask(X):
        raise ValueError(
            "X must be in memory here, not a Dask collection. Give X.compute(), or "
            "some of its rows."
        )
    dtypes = [np.float64, np.float32]
    if is_foreign(X):
        check_no_gradient("X", X)
        dtypes = real_dtypes(X)
    with naming("X", X):
        if is_foreign(X) and namespace(X).isdtype(X.dtype, "complex floating"):
            raise ValueError("Complex numbers were found.")
        # At fit the sum of squares is finite only if all numbers are.
        sums_squares = reset and not is_foreign(X)
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=dtypes,
            reset=reset,
            ensure_all_finite=not sums_squares,
        )
        if sums_squares and has_small_squares(X):
            return X
        if sums_squares:
            assert_all_finite(
                X, estimator_name=type(estimator).__name__, input_name="X"
            )
    if reset:
        check_squares(X)
    return X


def check_predictions(predictions, first_row):
    """Raise where features were so large that raw predictions overflowed.

    Rows are counted from `first_row`.
    """
    if not all_finite(predictions):
        finite = np.isfinite(to_numpy(predictions)).all(axis=1)
        raise ValueError(
            "X must be small enough for finite scores; in row "
            f"{first_row + np.argmin(finite)} they overflow {predictions.dtype}."
        )


def has_small_squares(X):
    """Whether the sum of squares of an array or CSR matrix is within its limit.

    Then all numbers are finite, and :func:`check_squares` does not raise.
    """
    values = X.data if sparse.issparse(X) else X
    if not values.flags.forc:
        return False
    flat = values.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(flat.dot(flat) <= _limit_of_squares(X) ** 2)


def _limit_of_squares(X):
    return np.sqrt(np.finfo(numpy_dtype(X)).max) / 100


def check_squares(X):
    """Raise where squares overflow, by which the solver scales the features."""
    dtype, values = numpy_dtype(X), X.data if sparse.issparse(X) else X
    limit = _limit_of_squares(X)
    if isinstance(values, np.ndarray):
        largest = max(values.max(initial=0), -values.min(initial=0))
    else:
        largest = float(namespace(values).max(abs(values)))
    if largest > limit:
        raise ValueError(
            f"X must not exceed {limit:.1g} in absolute value, or the squares of "
            f"{dtype} overflow; got {largest:.1g}. Scale the features."
        )


def trial_scores(X, n_classes, polytope):
    """Scores of some rows under random coefficients, about as large as after a fit.

    For checks of a mapping and a loss on the data at hand; the same at every call.
    """
    X = as_design(X).take(slice(0, 64))
    shape = n_raw_predictions(n_classes, polytope), X.shape[1]
    coef = np.random.default_rng(0).standard_normal(shape)
    predictions = X.matvec(coef)
    predictions = predictions - predictions.mean(axis=0)
    spread = predictions.std(axis=0)
    return scores_of(2 * predictions / np.where(spread > 0, spread, 1))


def check_kernel(mapping, n_classes, dtype):
    """Raise where a mapping does not give a point of its polytope for each row.

    The mappings of this package give one; it is checked for a user's own mapping.
    """
    if type(mapping) in MAPPINGS.values():
        return
    # Scores of the size that they have after a fit, all different.
    scores = 3 * np.sin(np.arange(1.0, 8 * n_classes + 1)).reshape(8, n_classes)
    scores = standard_scores(scores.astype(dtype), mapping.traits.is_shift_invariant)
    p = np.asarray(mapping.probabilities(scores.copy()))
    if p.shape != scores.shape:
        raise ValueError(
            f"The mapping must give probabilities of shape {scores.shape} for these "
            f"scores; {mapping!r} gave {p.shape}."
        )
    if mapping.traits.polytope == "cube":
        as_marginals(p, f"the values of {mapping!r}")
        return
    off = np.abs(p.sum(axis=1) - 1).max()
    if not (off <= 1e-3 and p.min() >= 0):
        raise ValueError(
            "The mapping must give non-negative probabilities that sum to one; "
            f"{mapping!r} gave rows with the least entry {p.min():.6g} and sums that "
            f"are off by {off:.6g}."
        )
    if n_classes == 2 and not mapping.traits.is_shift_invariant:
        _check_two_classes(mapping, dtype)


def _check_two_classes(mapping, dtype):
    """Raise where opposite scores have probabilities that do not tell them apart."""
    difference = np.array([[0.25], [0.5], [1.0], [2.0], [3.0]], dtype=dtype)
    both = np.concatenate([difference, -difference])
    p = np.asarray(mapping.probabilities(scores_of(both)))
    is_even = np.abs(p - 0.5).max() <= 1e-6
    if is_even or mapping.traits.is_scale_invariant:
        fact = "always 1/2" if is_even else "only by the sign of u"
        raise ValueError(
            "The scores of two classes are -u/2 and u/2, and the mapping must tell "
            f"them apart by the size of u; the probabilities of {mapping!r} are "
            f"{'' if is_even else 'changed '}{fact}. Take a function that is neither "
            "symmetric about zero nor a power, such as that of the score plus one."
        )
