"""Checking scores and going through them a block of rows at a time."""

import numpy as np

# A block should stay in a core's cache; a column of it should fill vector units.
_BLOCK_SIZE = 1 << 15
# Up to this many classes a reduction over a row of contiguous scores costs more
# than laying the block out class by class.
_FEW_CLASSES = 64


def as_rows(scores, **others):
    """`scores`, and arrays named in `others`, as checked float matrices."""
    scores = _as_matrix("scores", scores)
    if scores.shape[1] == 0:
        raise ValueError(
            f"scores must have at least one class, got shape {scores.shape}."
        )
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
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite.")
        checked.append(array)
    return checked


def as_distributions(probabilities, name="probabilities"):
    """`probabilities` as a float matrix whose rows are on the simplex."""
    p = _as_matrix(name, probabilities)
    total = p.sum(axis=1, dtype=np.float64)
    # NaN fails both comparisons.
    good = (np.abs(total - 1) <= 1e3 * np.finfo(p.dtype).eps) & (p >= 0).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            f"{name} must be rows of non-negative numbers that sum to one; row {row} "
            f"has minimum {p[row].min():.6g} and sum {total[row]:.6g}."
        )
    return p


def standard_scores(scores, shift, order=None):
    """A copy of scores that kernels accept: checked, and shifted if `shift`.

    Raises ValueError where a row holds NaN or +inf, or nothing above -inf.
    """
    if order is None:
        order = "F" if scores.shape[1] <= _FEW_CLASSES else "C"
    standard = np.array(scores, order=order)
    top = standard.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        row = int(np.argmin(np.isfinite(top)))
        kind = {True: "NaN", False: "+inf or nothing but -inf"}[bool(np.isnan(top[row]))]
        raise ValueError(
            "scores must be finite, or -inf for classes that are not available, "
            f"with at least one available class in each row; row {row} holds {kind}."
        )
    if shift:
        with np.errstate(over="ignore"):
            standard -= top
    return standard


def by_blocks(kernel, scores, shift, *others):
    """Apply a kernel to standard scores block by block and gather the results."""
    n_samples, n_classes = scores.shape
    step = max(1, _BLOCK_SIZE // n_classes)
    result = None
    for start in range(0, max(n_samples, 1), step):
        rows = slice(start, start + step)
        standard = standard_scores(scores[rows], shift)
        block = kernel(standard, *(other[rows] for other in others))
        if result is None:
            result = np.empty((n_samples, *block.shape[1:]), dtype=scores.dtype)
        result[rows] = block
    return result


def _as_matrix(name, array):
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers, got dtype {array.dtype}.")
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_classes), got {array.ndim} "
            f"dimension(s), shape {array.shape}."
        )
    return array
