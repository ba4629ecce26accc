"""Checking scores and going through them a block of rows at a time."""

from numbers import Integral

import numpy as np

# A block and a kernel's scratch should about fit the cache of a core.
_BLOCK_BYTES = 1 << 19
#: Up to this many classes a reduction over a row of contiguous scores costs more
#: than laying the block out class by class.
FEW_CLASSES = 64


class BadScores(ValueError):
    """A row of scores that stands for no probabilities."""

    def __init__(self, row, holds, where=None):
        self.row, self.holds = row, holds
        super().__init__(
            "scores must be finite, or -inf for classes that are not available, "
            "with at least one available class in each row; "
            f"{where or f'row {row}'} holds {holds}."
        )


def as_real(name, array):
    """`array` as float32 if it is, else as float64; only real numbers pass."""
    try:
        array = np.asarray(array)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of real numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers, got dtype {array.dtype}.")
    if array.dtype != np.float32:
        # A longdouble beyond the range of float64 becomes inf and is caught there.
        with np.errstate(over="ignore"):
            array = array.astype(np.float64, copy=False)
    return array


def as_rows(scores, **others):
    """`scores`, and arrays named in `others`, as checked float matrices."""
    scores = _as_matrix("scores", scores)
    if not others:
        return scores
    checked = [scores]
    for name, array in others.items():
        array = _as_matrix(name, array).astype(scores.dtype, copy=False)
        if array.shape != scores.shape:
            raise ValueError(
                f"{name} must have the shape of scores, {scores.shape}; "
                f"got {array.shape}."
            )
        finite = np.isfinite(array).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise ValueError(f"{name} must be finite; row {row} is not.")
        checked.append(array)
    return checked


def as_distributions(probabilities, name="probabilities"):
    """`probabilities` as a float matrix whose rows are on the simplex."""
    p = _as_matrix(name, probabilities)
    total = p.sum(axis=1, dtype=np.float64)
    # NaN fails both comparisons.
    good = np.abs(total - 1) <= 1e3 * np.finfo(p.dtype).eps
    if not (good.all() and p.min(initial=0) >= 0):
        row = int(np.argmin(good & (p >= 0).all(axis=1)))
        raise ValueError(
            f"{name} must be rows of non-negative numbers that sum to one; row {row} "
            f"has minimum {p[row].min():.6g} and sum {total[row]:.6g}: it is "
            f"{np.array2string(p[row], precision=6, threshold=8, max_line_width=200)}."
        )
    return p


def standard_scores(scores, shift, first_row=0):
    """A copy of scores that kernels accept: checked, and shifted if `shift`.

    Raises ValueError where a row holds NaN or +inf, or nothing above -inf; rows are
    counted from `first_row`.
    """
    standard = _laid_out(scores)
    top = standard.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        row = int(np.argmin(np.isfinite(top)))
        holds = {np.inf: "+inf", -np.inf: "nothing but -inf"}.get(top[row, 0], "NaN")
        raise BadScores(first_row + row, holds)
    if shift:
        with np.errstate(over="ignore"):
            standard -= top
    return standard


def by_blocks(kernel, scores, shift, *others):
    """Apply a kernel to standard scores block by block and gather the results.

    The kernel gets copies that it may overwrite, of the scores and of `others`.
    """
    n_samples, n_classes = scores.shape
    step = max(1, _BLOCK_BYTES // (scores.itemsize * n_classes))
    result = None
    for start in range(0, max(n_samples, 1), step):
        rows = slice(start, start + step)
        standard = standard_scores(scores[rows], shift, start)
        block = kernel(standard, *(_laid_out(other[rows]) for other in others))
        if result is None:
            result = np.empty((n_samples, *block.shape[1:]), dtype=scores.dtype)
        result[rows] = block
    return result


def along_axis(mapping, scores, axis):
    """Probabilities that `mapping` gives the scores along one axis of an array."""
    mapping._validate_params()
    scores = as_real("scores", scores)
    if scores.ndim == 0:
        raise ValueError("scores must have at least one dimension, got a number.")
    if not isinstance(axis, Integral) or not -scores.ndim <= axis < scores.ndim:
        raise ValueError(
            f"axis must be an integer from {-scores.ndim} to {scores.ndim - 1} for "
            f"scores of shape {scores.shape}, got {axis!r}."
        )
    moved = np.moveaxis(scores, axis, -1)
    if moved.shape[-1] == 0:
        raise ValueError(
            f"scores must have at least one class along axis {axis}, "
            f"got shape {scores.shape}."
        )
    rows = moved.reshape(-1, moved.shape[-1]) if moved.ndim != 2 else moved
    try:
        p = by_blocks(mapping.probabilities, rows, mapping.is_shift_invariant)
    except BadScores as bad:
        index = list(map(str, np.unravel_index(bad.row, moved.shape[:-1])))
        index.insert(axis % scores.ndim, ":")
        where = f"scores[{', '.join(index)}]"
        raise BadScores(bad.row, bad.holds, where) from None
    return np.moveaxis(p.reshape(moved.shape), -1, axis)


def _laid_out(block):
    order = "F" if block.shape[1] <= FEW_CLASSES else "C"
    return np.array(block, order=order)


def _as_matrix(name, array):
    array = as_real(name, array)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_classes), got {array.ndim} "
            f"dimension(s), shape {array.shape}."
        )
    if array.shape[1] == 0:
        raise ValueError(
            f"{name} must have at least one class, got shape {array.shape}."
        )
    return array
