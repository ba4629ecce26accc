"""Nonconformity scores of probabilities against plain loops."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skprob.decision.conformal._probability_scores import AdaptiveScore, ThresholdScore
from skprob.mappings import softmax

from .given_responses import softmax_rows

_, P, _ = softmax_rows(60, 7)


def test_the_first_of_several_best_classes_is_alone():
    p = np.array([[0.2, 0.4, 0.4], [0.6, 0.3, 0.1], [0.0, 0.5, 0.5]])
    for score in (ThresholdScore(True), AdaptiveScore(True, 0.0, 1)):
        for rows in (p, p[[1, 1]]):
            expected = np.arange(3) == rows.argmax(axis=1)[:, None]
            assert_array_equal(score.within(rows, 0.0), expected)


@pytest.mark.parametrize("uniform", [None, np.linspace(0, 1, 60)])
@pytest.mark.parametrize("penalty", [0.0, 0.05])
def test_adaptive_score_by_its_definition(uniform, penalty):
    scores = AdaptiveScore(False, penalty, 2)._scores(P, uniform)
    for i, row in enumerate(P):
        part = 1.0 if uniform is None else 1 - uniform[i]
        for k, p in enumerate(row):
            rank = 1 + np.sum(row > p)
            expected = row[row > p].sum() + part * p + penalty * max(rank - 2, 0)
            assert scores[i, k] == pytest.approx(expected, abs=1e-14)


def test_the_most_probable_class_is_in_every_set():
    best = P.argmax(axis=1)
    for make in (ThresholdScore, lambda always: AdaptiveScore(always, 0.0, 1)):
        assert make(True).within(P, 0.0)[np.arange(60), best].all()
        assert make(True).within(P, 0.0).sum() == 60
        assert not make(False).within(P, 0.0).any()
        others = make(True)._scores(P, None) != make(False)._scores(P, None)
        assert_array_equal(np.nonzero(others)[1], best)


@pytest.mark.parametrize("never_empty", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 0.125])
@pytest.mark.parametrize("randomised", [False, True])
def test_adaptive_sets_at_the_limit(never_empty, penalty, randomised):
    """Sums that equal the limit, in double or only in single precision.

    A set is collected class by class, in Python. A score is one more where the
    probability is zero.
    """
    rng = np.random.default_rng(0)
    p = rng.multinomial(16, np.full(12, 1 / 12), size=40) / 16
    p[::2] += rng.choice([-1e-11, 0, 1e-11], size=p[::2].shape)
    p[:4] -= 1e-17
    p[4] = 0
    p[4, :2] = 0.25, -0.25
    # The bits of -0.0 are below those of all other numbers.
    p[5, :3] = -0.0, -0.25, 0.25
    uniform = rng.integers(0, 4, size=40) / 4 if randomised else None
    score = AdaptiveScore(never_empty, penalty, 2)
    limits = 1e-14, 0.375, np.nextafter(0.5, 1), 0.5 - 1e-11, 0.9375, 1.0, 2.0, 2.5
    for limit in limits:
        for row, within in enumerate(score.within(p, limit, uniform)):
            share = 0.0 if uniform is None else uniform[row]
            order, total = sorted(range(12), key=lambda k: -p[row, k]), 0.0
            chosen = {order[0]} if never_empty else set()
            for rank, k in enumerate(order, start=1):
                total += p[row, k]
                nonconformity = total - share * p[row, k]
                nonconformity += penalty * max(rank - 2, 0) + (p[row, k] <= 0)
                if nonconformity <= limit:
                    chosen.add(k)
            assert set(np.flatnonzero(within)) == chosen


@pytest.mark.parametrize("limit", [0.2, 0.5, 0.9, 0.999])
def test_sets_of_many_classes_and_of_ties(limit):
    """Sets are computed from sorted rows, scores of all classes without."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(50, 40))
    z[::3] = np.round(z[::3])
    p, uniform = softmax(z), rng.random(50)
    for draws in None, uniform:
        adaptive = AdaptiveScore(False, 0.01, 2)
        expected = adaptive._of_all(p, draws) <= limit
        assert_array_equal(adaptive.within(p, limit, draws), expected)
    for score in ThresholdScore(True), AdaptiveScore(True, 0.0, 1):
        within = score.within(p, 0.01)
        assert_array_equal(within.sum(axis=1), 1)
        assert within[np.arange(50), p.argmax(axis=1)].all()
