"""Kernels applied to scores in blocks of rows."""

import numpy as np

from .._utils.arrays import is_foreign, namespace
from .._utils.checks import array_real, as_real, is_integer
from .._utils.scores import BadScores, laid_out

# Size of a block: with the temporary arrays of a kernel it fits the cache of a core.
_BLOCK_BYTES = 1 << 19


def by_blocks(kernel, scores, standard, *others):
    """Apply a kernel to standard scores block by block and gather the results.

    ``standard(scores, first_row)`` makes the standard scores of some rows. The kernel
    may overwrite them and its copies of `others`. Arrays of other libraries than NumPy
    are one block.
    """
    if not isinstance(scores, np.ndarray):
        return kernel(standard(scores), *map(laid_out, others))
    n_samples, n_classes = scores.shape
    step = max(1, _BLOCK_BYTES // (scores.itemsize * n_classes))
    result = None
    for start in range(0, max(n_samples, 1), step):
        rows = slice(start, start + step)
        given = (laid_out(other[rows]) for other in others)
        block = kernel(standard(scores[rows], start), *given)
        if result is None:
            result = np.empty((n_samples, *block.shape[1:]), dtype=scores.dtype)
        result[rows] = block
    return result


def along_axis(mapping, scores, axis):
    """Probabilities of a mapping along one axis of an array of scores."""
    mapping._validate_params()
    if is_foreign(scores):
        mapping._check_array_api()
        scores = array_real("scores", scores)
    else:
        scores = as_real("scores", scores)
    xp = namespace(scores)
    if scores.ndim == 0:
        raise ValueError("scores must have at least one dimension, got a number.")
    if not is_integer(axis) or not -scores.ndim <= axis < scores.ndim:
        raise ValueError(
            f"axis must be an integer from {-scores.ndim} to {scores.ndim - 1} for "
            f"scores of shape {scores.shape}, got {axis!r}."
        )
    moved = xp.moveaxis(scores, axis, -1)
    if moved.shape[-1] == 0:
        raise ValueError(
            f"scores must have at least one class along axis {axis}, "
            f"got shape {scores.shape}."
        )
    rows = xp.reshape(moved, (-1, moved.shape[-1])) if moved.ndim != 2 else moved
    try:
        p = by_blocks(mapping.probabilities, rows, mapping._standard)
    except BadScores as bad:
        index = list(map(str, np.unravel_index(bad.row, moved.shape[:-1])))
        index.insert(axis % scores.ndim, ":")
        where = f"scores[{', '.join(index)}]"
        raise BadScores(bad.row, bad.holds, where) from None
    return xp.moveaxis(xp.reshape(p, moved.shape), -1, axis)
