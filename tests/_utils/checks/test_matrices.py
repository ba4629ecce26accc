"""Matrices that users give: frames of nullable columns, and what is no dense array."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from skprob._utils.checks import as_dense, as_real

FRAME = pd.DataFrame({"a": [1.5, -2.0], "b": [True, False], "c": [3, 0]})
VALUES = [[1.5, 1, 3], [-2, 0, 0]]


def arrow(frame):
    pytest.importorskip("pyarrow")
    return frame.convert_dtypes(dtype_backend="pyarrow")


@pytest.mark.parametrize("of", [pd.DataFrame, pd.DataFrame.convert_dtypes, arrow])
def test_columns_of_any_numbers(of):
    real = as_real("offset", of(FRAME))
    assert real.dtype == np.float64
    assert_array_equal(real, VALUES)
    assert_array_equal(as_real("offset", of(FRAME)["b"]), [1, 0])


def test_missing_numbers():
    frame = FRAME.convert_dtypes()
    frame.loc[1, "c"] = pd.NA
    assert_array_equal(as_real("offset", frame), [VALUES[0], [-2, 0, np.nan]])


def test_booleans_stay_booleans():
    assert as_dense("available", FRAME[["b", "b"]]).dtype == bool


@pytest.mark.parametrize("column", [["1", "2"], [None, 1j], [[1], [2]]])
def test_columns_of_anything_else(column):
    frame = FRAME.assign(d=pd.Series(column, dtype=object))
    with pytest.raises(ValueError, match="offset must be real numbers, got dtype obj"):
        as_real("offset", frame)


def test_sparse_matrices():
    match = r"scores must be a dense array; got coo_array. Give scores.toarray\(\)"
    with pytest.raises(ValueError, match=match):
        as_real("scores", sparse.coo_array(np.eye(2)))
