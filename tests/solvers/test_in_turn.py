"""Problems that are minimised one after the other."""

import numpy as np
from numpy.testing import assert_array_equal

from skprob.solvers import Iteration, Stage, total_of


def test_histories_are_joined():
    def rows(n, start):
        return [
            Iteration(i, start + i, 1.0, 0.5, 2.0 * i, 3.0 * i, i, 8 * i)
            for i in range(n)
        ]

    first, second = rows(3, 100.0), rows(2, 10.0)
    joined = total_of(first, second, Stage.EASIER_LOSS)
    assert total_of([], second, Stage.EASIER_LOSS) == second
    assert [row.iteration for row in joined] == [0, 1, 2, 3]
    # The last row of the first is the start of the second.
    assert_array_equal([r.objective for r in joined], [np.nan, np.nan, 10.0, 11.0])
    assert_array_equal([r.duality_gap for r in joined], [np.nan, np.nan, 0.5, 0.5])
    assert [row.passes for row in joined] == [0.0, 2.0, 4.0, 6.0]
    assert [row.seconds for row in joined] == [0.0, 3.0, 6.0, 9.0]
    assert [row.round_trips for row in joined] == [0, 1, 2, 3]
    assert [row.bytes for row in joined] == [0, 8, 16, 24]
    assert [row.gradient_norm for row in joined] == [1.0] * 4
    assert [row.stage for row in joined] == ["easier loss"] * 2 + ["final"] * 2
    # A penalty is no other loss.
    joined = total_of(first, second, Stage.STRONGER_PENALTY)
    assert_array_equal([r.objective for r in joined], [100.0, 101.0, 10.0, 11.0])
    assert_array_equal([r.duality_gap for r in joined], [np.nan, np.nan, 0.5, 0.5])
    # The arguments are not changed.
    assert first == rows(3, 100.0)
