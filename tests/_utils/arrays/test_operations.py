"""Operations on arrays of NumPy; `tests/array_api/` has those of other libraries."""

import math

import numpy as np

from skprob._utils.arrays import column_sums


def test_columns_in_single_precision_are_summed_in_double():
    # Each term is less than half a unit in the last place of the first.
    array = np.full((1001, 2), 0.25, dtype=np.float32)
    array[0] = [2.0**24, -(2.0**24)]
    sums = column_sums(array)
    assert sums.dtype == np.float64
    assert sums.tolist() == [math.fsum(column.tolist()) for column in array.T]
