"""Probabilities as dense blocks of rows."""

from scipy import sparse

# Dense blocks of probabilities have at most so many entries (8 MiB).
_BLOCK = 1 << 20


class Blocks:
    """Dense blocks of the rows of a checked matrix, any number of times."""

    def __init__(self, p):
        self._p = p
        self._n_rows = max(1, _BLOCK // p.shape[1])

    def __iter__(self):
        for start in range(0, self._p.shape[0], self._n_rows):
            block = self._p[start : start + self._n_rows]
            yield block.toarray() if sparse.issparse(block) else block


def with_rows(blocks, array):
    """Pairs of each block and its rows of an array, which may be None."""
    start = 0
    for p in blocks:
        yield p, None if array is None else array[start : start + len(p)]
        start += len(p)
