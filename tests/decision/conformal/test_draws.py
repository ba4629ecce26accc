"""Random numbers of a seed against a new generator of NumPy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.testing import assert_array_equal

from skprob.decision.conformal._draws import uniform_draws


def test_draws_are_those_of_a_new_generator_in_every_thread():
    seeds = [0, 1, 2**31 - 2, 1]
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(uniform_draws, seeds * 8, [50, 0, 7, 2000] * 8))
    for at, draws in enumerate(drawn):
        expected = np.random.RandomState(seeds[at % 4]).uniform(size=len(draws))
        assert_array_equal(draws, expected)
