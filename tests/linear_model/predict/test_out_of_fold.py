"""Blocks of the folds, which are joined where they are small."""

import numpy as np

from skprob.linear_model.predict import _out_of_fold, chained


def test_small_blocks_are_joined_in_their_order(monkeypatch):
    monkeypatch.setattr(_out_of_fold, "MOST_JOINED", 6)
    rows = np.arange(20).reshape(10, 2)
    blocks = chained([[rows[:1], rows[1:3]], [rows[3:4]], [], [rows[4:9], rows[9:]]])
    for _ in range(2):
        joined = list(blocks)
        np.testing.assert_array_equal(np.concatenate(joined), rows)
        assert [len(block) for block in joined] == [3, 1, 5, 1]
    assert list(chained([])) == []
