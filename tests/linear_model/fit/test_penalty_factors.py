"""Penalty factors that are refused: texts and others that are not real numbers."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from skprob.linear_model.fit._penalty_factors import checked_factors


@pytest.mark.parametrize(
    "factors",
    [
        ["1", "2", "3"],
        np.array(["1", "2", "3"]),
        [1, "2", 3],
        np.array([1, "2", 3], dtype=object),
        [b"1", b"2", b"3"],
        {"a": "2"},
        pd.Series({"a": 1, "b": "2", "c": 3}),
        [1j, 1, 1],
        [{}, 1, 1],
    ],
)
def test_texts_are_not_read_as_numbers(factors):
    """Digits in texts were factors."""
    with pytest.raises(ValueError, match="penalty_factors must be real numbers, one "):
        checked_factors(factors, 3, np.array(["a", "b", "c"], dtype=object))


@pytest.mark.parametrize(
    "factors",
    [
        [1, Fraction(1, 2), np.inf],
        np.array([1, 0.5, np.inf], dtype=object),
        pd.Series([1, 0.5, np.inf], dtype="Float64"),
        {"b": 0.5, "c": np.inf},
        np.array([1, 0.5, np.inf], dtype=np.float32),
    ],
)
def test_numbers_of_all_types_are_taken(factors):
    names = np.array(["a", "b", "c"], dtype=object)
    checked = checked_factors(factors, 3, names)
    assert checked.dtype == np.float64
    assert_array_equal(checked, [1, 0.5, np.inf])
