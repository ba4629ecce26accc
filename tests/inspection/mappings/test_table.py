"""The table of what mappings make of one row of scores."""

import numpy as np
import pandas as pd
import pytest

from skprob.inspection import mapping_table
from skprob.mappings import MAPPINGS, Entmax


def test_numbers_of_sparsemax_by_hand():
    (row,) = mapping_table([0.5, 0.3, -2.0], ["sparsemax"])
    assert row.mapping == "sparsemax"
    np.testing.assert_allclose(row.probabilities, [0.6, 0.4, 0], atol=1e-15)
    assert row.support == (0, 1)
    assert row.entropy == pytest.approx(-0.6 * np.log(0.6) - 0.4 * np.log(0.4))
    # On two classes the Jacobian is [[1, -1], [-1, 1]] / 2, the projection.
    assert row.jacobian_norm == pytest.approx(1)


def test_slope_of_softmax_is_the_largest_eigenvalue():
    (row,) = mapping_table([0.0, 0.0, 0.0, 0.0], ["softmax"])
    # diag(p) - p p' with p = 1/4 has the eigenvalues 0 and 1/4.
    assert row.jacobian_norm == pytest.approx(0.25)
    assert row.entropy == pytest.approx(np.log(4))
    assert row.support == (0, 1, 2, 3)


def test_all_registered_mappings_by_default():
    assert [row.mapping for row in mapping_table([1.0, 0.0])] == list(MAPPINGS)


def test_rows_are_labelled_by_name_representation_or_key():
    def halves(scores):
        return np.full(scores.shape, 1 / scores.shape[1])

    rows = mapping_table([1.0, 0.0], ["softmax", Entmax(2.0), halves])
    assert [row.mapping for row in rows] == ["softmax", "Entmax(alpha=2.0)", "halves"]
    assert rows[2].jacobian_norm == pytest.approx(0, abs=1e-9)
    rows = mapping_table([1.0, 0.0], {"mine": halves, "theirs": "softmax"})
    assert [row.mapping for row in rows] == ["mine", "theirs"]


def test_a_table_becomes_a_data_frame():
    frame = pd.DataFrame(mapping_table([1.0, 0.0], ["softmax", "sparsemax"]))
    assert list(frame.columns) == [
        "mapping", "probabilities", "support", "entropy", "jacobian_norm",
    ]  # fmt: skip
    assert frame["entropy"].tolist() == [pytest.approx(0.5822, abs=1e-4), 0]


def test_bad_input_is_refused():
    for scores, mappings, message in (
        ([[1.0, 0.0]], None, "scores must be a row of one finite number or more"),
        ([1.0, np.nan], None, "scores must be a row of one finite number or more"),
        ([], None, "scores must be a row of one finite number or more"),
        (["a"], None, "scores must be real numbers"),
        ([1.0], ["hardmax"], "got 'hardmax'"),
        ([1.0], [Entmax], "mapping must be a Mapping"),
        ([1.0], {}, "at least one mapping"),
        ([1.0], [Entmax(), Entmax()], "the label 'Entmax"),
        ([1.0], 3, "mappings must be a sequence .* got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            mapping_table(scores, mappings)
