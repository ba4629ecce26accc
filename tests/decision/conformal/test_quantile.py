"""The quantile of calibration scores against exact ranks."""

import math
from fractions import Fraction

import numpy as np
import pytest

from skprob.decision.conformal._quantile import conformal_quantile, rows_needed


@pytest.mark.parametrize("coverage", [0.05, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 1 / 3])
def test_the_quantile_has_the_exact_rank(coverage):
    exact = Fraction(str(coverage)) if coverage != 1 / 3 else Fraction(1, 3)
    for n in range(1, 220):
        rank = math.ceil((n + 1) * exact)
        scores = np.random.default_rng(n).permutation(n) + 1.0
        if rank <= n:
            assert n >= rows_needed(coverage)
            assert conformal_quantile(scores, np.ones(n), coverage) == rank
        else:
            assert n < rows_needed(coverage)
            needed = rows_needed(coverage)
            with pytest.raises(ValueError, match=rf"needs at least {needed} .*= {n}\."):
                conformal_quantile(scores, np.ones(n), coverage)


def test_weights_of_the_quantile_are_repetitions():
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=50), rng.integers(1, 5, size=50)
    repeated = np.sort(np.repeat(scores, weight))
    for coverage in (0.1, 0.5, 0.9, 0.95):
        rank = math.ceil((len(repeated) + 1) * Fraction(str(coverage)))
        quantile = conformal_quantile(scores, weight.astype(float), coverage)
        assert quantile == repeated[rank - 1]
