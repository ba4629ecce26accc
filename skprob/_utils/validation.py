"""Checks of arrays, with errors that name the argument and what is allowed."""

import sys
from contextlib import contextmanager
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, Options

from .arrays import (
    beside,
    check_no_gradient,
    is_beside,
    is_foreign,
    namespace,
    to_numpy,
    widened,
)
from .bad_columns import is_about_features, with_columns
from .compat import check_weights
from .saving import public_name

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


class RealInterval(Interval):
    """The numbers of an interval that a float can represent, for a parameter."""

    def __init__(self, left, right, *, closed):
        super().__init__(Real, left, right, closed=closed)

    def __contains__(self, value):
        # An int may be larger than all floats, but pass the other comparisons.
        too_large = value != np.inf and abs(value) > sys.float_info.max
        return not too_large and super().__contains__(value)


class InstancesOf(Options):
    """Instances of a class of skprob, for a parameter; errors have its public name."""

    def __init__(self, cls):
        super().__init__(cls, set())

    def is_satisfied_by(self, value):
        return isinstance(value, self.type)

    def __str__(self):
        return f"an instance of {public_name(self.type)!r}"


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


def as_real(name, array):
    """`array` as float32 if it is, else as float64; only real numbers pass."""
    if is_foreign(array):
        check_no_gradient(name, array)
        array = to_numpy(array)
    try:
        array = np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of real numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers, got dtype {array.dtype}.")
    if array.dtype.newbyteorder("=") == np.float32:
        array = array.astype(np.float32, copy=False)
    else:
        # A longdouble beyond the range of float64 becomes inf, which is refused.
        with np.errstate(over="ignore"):
            array = array.astype(np.float64, copy=False)
    return array


def real_or_nan(values):
    """`values` as a float64 array; a single NaN if they are not real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fiubO":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    return np.array(np.nan)


def refuse_arrays(function, **arrays):
    """Raise if a function for NumPy arrays gets arrays of another library."""
    for name, array in arrays.items():
        if is_foreign(array):
            raise ValueError(
                f"{function} takes NumPy arrays only; {name} is of type "
                f"{type(array).__module__}.{type(array).__name__}. Convert it, for "
                "instance by np.asarray(array)."
            )


def array_real(name, array):
    """The result of :func:`as_real` for an array of another library than NumPy."""
    xp = namespace(array)
    check_no_gradient(name, array)
    if not xp.isdtype(array.dtype, ("real floating", "integral", "bool")):
        raise ValueError(f"{name} must be real numbers, got dtype {array.dtype}.")
    return array if array.dtype == xp.float32 else widened(array)


def array_rows(scores, **others):
    """The result of :func:`as_rows` for arrays of the library of the first."""
    scores = check_matrix("scores", array_real("scores", scores))
    if not others:
        return scores
    xp, checked = namespace(scores), [scores]
    for name, array in others.items():
        check_no_gradient(name, array)
        if not is_beside(array, scores):
            array = to_numpy(array) if is_foreign(array) else array
            array = beside(as_real(name, array), scores)
        array = xp.astype(array_real(name, array), scores.dtype, copy=False)
        check_direction(name, array, scores)
        checked.append(array)
    return checked


def array_points(probabilities, polytope, name="probabilities"):
    """The result of :func:`as_points` for an array of another library than NumPy."""
    p = check_matrix(name, array_real(name, probabilities))
    xp = namespace(p)
    good = xp.all((p >= 0) & (p <= 1))
    if polytope == "simplex":
        off = abs(xp.sum(p, axis=1) - 1)
        good = good & xp.all(off <= 1e3 * float(xp.finfo(p.dtype).eps))
    if not good:
        as_points(to_numpy(p), polytope, name)  # This raises the error.
    return p


def as_rows(scores, **others):
    """`scores`, and arrays named in `others`, as checked float matrices."""
    scores = _as_matrix("scores", scores)
    if not others:
        return scores
    checked = [scores]
    for name, array in others.items():
        array = _as_matrix(name, array).astype(scores.dtype, copy=False)
        check_direction(name, array, scores)
        checked.append(array)
    return checked


def check_direction(name, array, scores):
    """Raise if an array does not have the shape of scores, or is not finite."""
    xp = namespace(array)
    if array.shape != scores.shape:
        raise ValueError(
            f"{name} must have the shape of scores, {tuple(scores.shape)}; "
            f"got {tuple(array.shape)}."
        )
    finite = xp.all(xp.isfinite(array), axis=1)
    if not xp.all(finite):
        row = int(np.argmin(to_numpy(finite)))
        raise ValueError(f"{name} must be finite; row {row} is not.")


def as_distributions(probabilities, name="probabilities", may_fall_short=False):
    """`probabilities` as a float matrix whose rows are on the simplex.

    With `may_fall_short` they may sum to less than one.
    """
    p = _as_matrix(name, probabilities)
    total = p.sum(axis=1, dtype=np.float64)
    good = _sums_to_one(total, p.dtype, may_fall_short)
    if not (good.all() and p.min(initial=0) >= 0):
        row = int(np.argmin(good & (p >= 0).all(axis=1)))
        raise ValueError(
            f"{name} must be rows of non-negative numbers that sum to "
            f"{'at most ' if may_fall_short else ''}one; row {row} "
            f"has minimum {p[row].min():.6g} and sum {total[row]:.6g}: it is "
            f"{np.array2string(p[row], precision=6, threshold=8, max_line_width=200)}."
        )
    return p


def _sums_to_one(total, dtype, may_fall_short):
    """Whether sums of rows are one, or at most one; False for NaN."""
    excess = total - 1 if may_fall_short else np.abs(total - 1)
    return excess <= 1e3 * np.finfo(dtype).eps


def as_sparse_distributions(probabilities, name="probabilities", may_fall_short=False):
    """A sparse matrix as a CSR array of its non-zeros, its rows on the simplex.

    With `may_fall_short` they may sum to less than one.
    """
    if probabilities.ndim != 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_classes), got shape "
            f"{probabilities.shape}."
        )
    p = sparse.csr_array(probabilities, copy=True)
    p.data = as_real(name, p.data)
    p.sum_duplicates()
    p.eliminate_zeros()
    total = p.sum(axis=1, dtype=np.float64)
    lowest = np.zeros(len(total))
    np.fmin.at(lowest, p.tocoo().row, p.data)
    # NaN makes the sum NaN.
    good = _sums_to_one(total, p.dtype, may_fall_short) & (lowest >= 0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            f"{name} must be rows of non-negative numbers that sum to "
            f"{'at most ' if may_fall_short else ''}one; row {row} "
            f"has minimum {lowest[row]:.6g} and sum {total[row]:.6g}."
        )
    return p


def as_marginals(probabilities, name="probabilities"):
    """`probabilities` as a float matrix, or a CSR array, of numbers from 0 to 1."""
    if sparse.issparse(probabilities):
        p = sparse.csr_array(probabilities, copy=True)
        p.data = as_real(name, p.data)
        p.sum_duplicates()
        p.eliminate_zeros()
        values = p.data
    else:
        p = values = _as_matrix(name, probabilities)
    # NaN fails the comparisons.
    good = (values >= 0) & (values <= 1)
    if not good.all():
        raise ValueError(
            f"{name} must be marginals, numbers from 0 to 1; got {values[~good][0]:.6g}"
            f" and {np.count_nonzero(~good)} such numbers in all."
        )
    return p


def as_points(probabilities, polytope, name="probabilities"):
    """`probabilities` as a float matrix, or a CSR array, of rows in a polytope."""
    if polytope == "cube":
        return as_marginals(probabilities, name)
    if sparse.issparse(probabilities):
        return as_sparse_distributions(probabilities, name)
    return as_distributions(probabilities, name)


def _as_matrix(name, array):
    return check_matrix(name, as_real(name, array))


def check_matrix(name, array):
    """The array itself, which must have rows and at least one column."""
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_classes), got {array.ndim} "
            f"dimension(s), shape {tuple(array.shape)}."
        )
    if array.shape[1] == 0:
        raise ValueError(
            f"{name} must have at least one class, got shape {tuple(array.shape)}."
        )
    return array
