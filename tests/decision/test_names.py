"""Names of the labels in sets."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from skprob.decision import names_of


def test_names_of_sets():
    sets = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    for given in (sets, sets.astype(bool), sparse.csr_matrix(sets), pd.DataFrame(sets)):
        assert names_of(given, np.array(["a", "b", "c"])) == [["a", "c"], [], ["b"]]
    numbers = names_of(sets[:1], np.array([4, 5, 6]))
    assert numbers == [[4, 6]]
    assert type(numbers[0][0]) is int
    assert names_of(sets[:0], ["a", "b", "c"]) == []
    with pytest.raises(ValueError, match=r"indicator must be .* shape \(3, 2\)"):
        names_of(sets, ["a", "b"])
    with pytest.raises(ValueError, match="indicator must be 0 or 1"):
        names_of(0.5 * sets, ["a", "b", "c"])
    for classes in ([["a", "b", "c"]], ["a", "b", "b"], None):
        with pytest.raises(ValueError, match="classes must be distinct labels"):
            names_of(sets, classes)
    for nothing in (None, 3):
        with pytest.raises(ValueError, match="indicator must be"):
            names_of(nothing, ["a", "b", "c"])


def test_dates_have_the_type_of_the_classes():
    """Python has whole numbers for dates in nanoseconds."""
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]")
    (names,) = names_of([[0, 1]], dates)
    assert names == [np.datetime64("2021-01-01")]
    assert isinstance(names[0], np.datetime64)


def test_names_of_sets_in_a_frame_with_another_order():
    sets = {"b": [1, 0], "c": [0, 1], "a": [1, 0]}
    for frame in (pd.DataFrame(sets), pl.DataFrame(sets)):
        assert names_of(frame, ["a", "b", "c"]) == [["a", "b"], ["c"]]
        with pytest.raises(ValueError, match="indicator must have the columns"):
            names_of(frame, ["a", "b", "d"])
