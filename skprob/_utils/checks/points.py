"""Probabilities that users give: points of a polytope."""

import numpy as np
from scipy import sparse

from ..arrays import namespace, to_numpy
from .matrices import array_real, as_matrix, as_real, check_matrix


def as_distributions(probabilities, name="probabilities", may_fall_short=False):
    """`probabilities` as a float matrix, or a CSR array, with rows on the simplex.

    With `may_fall_short` they may sum to less than one. A CSR array has the non-zeros.
    """
    if sparse.issparse(probabilities):
        return _sparse_distributions(probabilities, name, may_fall_short)
    p = as_matrix(name, probabilities)
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


def _sparse_distributions(probabilities, name, may_fall_short):
    if probabilities.ndim != 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_classes), got shape "
            f"{probabilities.shape}."
        )
    p = _non_zeros(probabilities, name)
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


def _non_zeros(matrix, name):
    """A sparse matrix as a CSR array of its non-zeros, in floats."""
    array = sparse.csr_array(matrix, copy=True)
    array.data = as_real(name, array.data)
    array.sum_duplicates()
    array.eliminate_zeros()
    return array


def as_marginals(probabilities, name="probabilities"):
    """`probabilities` as a float matrix, or a CSR array, of numbers from 0 to 1."""
    if sparse.issparse(probabilities):
        p = _non_zeros(probabilities, name)
        values = p.data
    else:
        p = values = as_matrix(name, probabilities)
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
    return as_distributions(probabilities, name)


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
