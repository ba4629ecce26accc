"""How rows are cut into blocks."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from skprob.data import row_slices

DATA = {
    "dense": lambda shape: np.empty(shape),
    "single": lambda shape: np.empty(shape, dtype=np.float32),
    "sparse": lambda shape: sparse.random_array(
        shape, density=min(1.0, 3 / shape[1]), format="csr", rng=0
    ),
}


@pytest.mark.parametrize("make", DATA.values(), ids=DATA)
def test_all_rows_are_there_once_and_in_order(make):
    shapes = (1, 1), (7, 3), (50_000, 5), (3000, 4000)
    for shape, n_outputs in itertools.product(shapes, (1, 10, 5000)):
        X = make(shape)
        slices = row_slices(X, n_outputs)
        sizes = [rows.stop - rows.start for rows in slices]
        assert [0, *np.cumsum(sizes)] == [slices[0].start, *(s.stop for s in slices)]
        assert sum(sizes) == shape[0]
        assert all(rows.step is None for rows in slices)
        assert max(sizes) - min(sizes) <= 1
        assert min(sizes) > 0


def test_blocks_are_neither_too_large_nor_too_many():
    """X and the predictions of a block fit in a cache, and take a while to read."""
    X = np.empty((400_000, 50))  # of which nothing is read
    for n_outputs in (1, 20):
        n_rows = 400_000 / len(row_slices(X, n_outputs))
        assert n_rows * 50 * 8 < 2e7
        assert n_rows * n_outputs * 8 < 2e6
        assert n_rows > 1000
    assert len(row_slices(X[:1000], 20)) == 1
    # They grow with the coefficients, which are read once for each.
    assert 400_000 / len(row_slices(X, 3000)) > 300
