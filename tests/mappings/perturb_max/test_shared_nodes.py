"""The shared route: which rows take it, and when its tables are rejected."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from skprob.mappings.perturb_max import _shared_nodes
from skprob.mappings.perturb_max._shared_nodes import (
    SharedNodes,
    padded_chunks,
    shared_groups,
)
from skprob.mappings.perturb_max._tuning import TUNING
from skprob.mappings.perturb_max.noises import get_noise

from .one_row import one_probability, row_of_scores

SMOOTH = {
    "normal": stats.norm(),
    "logistic": stats.logistic(),
    "cauchy": stats.cauchy(),
    "student_t": stats.t(5),
}


@pytest.mark.parametrize("noise", SMOOTH)
@pytest.mark.parametrize("depth", [3.0, 10.0])
def test_values_and_logarithms_at_the_nodes(noise, depth):
    distribution = SMOOTH[noise]
    with np.errstate(all="ignore"):
        shared = SharedNodes(get_noise(noise), 8, depth, 1e-10)
    assert shared.is_accurate
    z = row_of_scores(8, 1)
    z *= 0.9 * depth / -z.min()
    ((_, padded, _),) = padded_chunks(z[None], np.arange(1))
    exact = [one_probability(z, i, distribution) for i in range(8)]
    for relative, rtol in (False, 0), (True, 1e-6):
        log_p, _, is_done = shared.integrals(padded, relative)
        assert is_done[0]
        assert_allclose(np.exp(log_p[0]), exact, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("noise", SMOOTH)
def test_a_rule_with_long_steps_is_rejected(noise, monkeypatch):
    monkeypatch.setattr(
        _shared_nodes, "TUNING", replace(TUNING, step=1.2, most_steps=1)
    )
    with np.errstate(all="ignore"):
        assert not SharedNodes(get_noise(noise), 8, 4.0, 1e-10).is_accurate


@pytest.mark.parametrize("noise", SMOOTH)
def test_tables_of_a_low_degree_are_rejected(noise, monkeypatch):
    tuning = replace(TUNING, degrees=range(3, 4))
    monkeypatch.setattr(_shared_nodes, "TUNING", tuning)
    with np.errstate(all="ignore"):
        assert not SharedNodes(get_noise(noise), 8, 8.0, 1e-10).is_accurate


def rows_of(noise, scores, relative):
    groups = shared_groups(scores, get_noise(noise), 1e-10, relative)
    return sorted(row for _, rows in groups for row in rows)


def test_rows_that_share_nodes():
    scores = np.array([[0.0, 0.0], [0.0, -2.0], [-1e3, 0.0], [0.0, -np.inf]])
    # A light tail makes lower classes negligible, but their logarithms are not.
    assert_array_equal(rows_of("normal", scores, relative=False), [0, 1, 2, 3])
    assert_array_equal(rows_of("normal", scores, relative=True), [0, 1, 3])
    assert_array_equal(rows_of("cauchy", scores, relative=False), [0, 1, 3])
    for noise in "laplace", "exponential", "uniform", "generalized_normal":
        assert rows_of(noise, scores, relative=False) == []
