"""Probabilities as dense blocks of rows."""

from collections.abc import Iterable

import numpy as np

from .._utils.arrays import dense
from .._utils.parts import Repeatable, slices

# Most entries of a dense block of probabilities (8 MiB).
_BLOCK = 1 << 20


def dense_blocks(p):
    """Dense blocks of the rows of a checked matrix, any number of times."""
    return Repeatable(_dense_blocks, p)


def row_slices(shape):
    """Slices of the rows of a matrix of a shape, one for each block."""
    n_rows, n_columns = shape
    return slices(n_rows, max(1, _BLOCK // n_columns))


def _dense_blocks(p):
    for rows in row_slices(p.shape):
        yield dense(p[rows])


def with_rows(blocks, *arrays):
    """Each block with its rows of some arrays, of which any may be None."""
    start = 0
    for p in blocks:
        rows = slice(start, start + len(p))
        yield p, *(_rows_of(array, rows) for array in arrays)
        start = rows.stop


def _rows_of(array, rows):
    # A slice of a sparse array is a copy.
    if array is None or array.shape[0] == rows.stop - rows.start:
        return array
    return array[rows]


def known_only(
    blocks: Iterable[np.ndarray], known: np.ndarray | None
) -> Iterable[np.ndarray]:
    """The same blocks, with zeros in place of entries whose labels are not known.

    Such an entry is above no cut, and counts neither as right nor as wrong.

    Parameters
    ----------
    blocks : iterable of ndarray of shape (n_rows, n_labels)
    known : ndarray of bool of shape (n_samples, n_labels) or None
        None if all are known.

    Returns
    -------
    blocks : iterable of ndarray
        It can be iterated over any number of times.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.decision import known_only
    >>> blocks = [np.array([[0.6, 0.3]])]
    >>> list(known_only(blocks, np.array([[True, False]])))
    [array([[0.6, 0. ]])]
    """
    return blocks if known is None else Repeatable(_without_unknown, blocks, known)


def _without_unknown(blocks, known):
    return (np.where(is_known, p, 0) for p, is_known in with_rows(blocks, known))
