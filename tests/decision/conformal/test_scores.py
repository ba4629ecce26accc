"""Nonconformity scores and the quantile against plain loops."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.decision.conformal._quantile import conformal_quantile, rows_needed
from skprob.decision.conformal._scores import (
    AdaptiveScore,
    EntmaxScore,
    ThresholdScore,
)
from skprob.mappings import entmax

from .given_responses import softmax_rows

ALPHAS = [1.01, 1.1, 1.25, 1.5, 1.75, 2.0, 3.0, 6.0]
Z, P, _ = softmax_rows(60, 7)
PAIRS = tuple(index.ravel() for index in np.indices(Z.shape))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_entmax_score_by_its_formula(alpha):
    computed = EntmaxScore(alpha).of_pairs(Z, *PAIRS).reshape(Z.shape)
    with mpmath.workdps(40):
        delta = 1 / (mpmath.mpf(alpha) - 1)
        for row, scores in zip(Z[:5], computed[:5], strict=True):
            for at, score in zip(row, scores, strict=True):
                above = [mpmath.mpf(z) - mpmath.mpf(at) for z in row if z > at]
                exact = mpmath.fsum(d**delta for d in above) ** (1 / delta)
                assert score == pytest.approx(float(exact), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_set_is_the_support_of_entmax(alpha):
    score = EntmaxScore(alpha)
    scores = score.of_pairs(Z, *PAIRS).reshape(Z.shape)
    for limit in np.quantile(scores, [0.3, 0.6, 0.9]) + 1e-6:
        within = score.within(Z, limit)
        assert_array_equal(within, scores <= limit)
        assert_array_equal(within, score.within(Z, np.full(7, limit)))
        p = entmax(Z / ((alpha - 1) * limit), alpha)
        # Close to the edge a probability may be too small for a float.
        clear = np.abs(scores / limit - 1) > 1e-3
        assert_array_equal(within[clear], p[clear] > 0)
        assert 0.1 < within.mean() < 1


@pytest.mark.parametrize("alpha", [1.25, 1.5, 2.0])
def test_sets_of_many_of_forty_classes(alpha):
    z, _, _ = softmax_rows(300, 40)
    score = EntmaxScore(alpha)
    scores = score.of_pairs(z, *(index.ravel() for index in np.indices(z.shape)))
    for limit in np.quantile(scores, [0.05, 0.5, 0.95]) + 1e-6:
        within = score.within(z, limit)
        assert_array_equal(within, scores.reshape(z.shape) <= limit)
    assert within.sum(axis=1).max() > 30


def test_the_first_of_several_best_classes_is_alone():
    p = np.array([[0.2, 0.4, 0.4], [0.6, 0.3, 0.1], [0.0, 0.5, 0.5]])
    for score in (ThresholdScore(True), AdaptiveScore(True, 0.0, 1)):
        for rows in (p, p[[1, 1]]):
            expected = np.arange(3) == rows.argmax(axis=1)[:, None]
            assert_array_equal(score.within(rows, 0.0), expected)


def test_entmax_scores_do_not_overflow():
    z = np.array([[1e200, -1e200, 0.0], [700.0, 0.0, -700.0]])
    for alpha in (1.01, 1.25, 3.0):
        scores = EntmaxScore(alpha).of_pairs(z, [0, 1], [1, 2])
        assert np.isfinite(scores).all()
        assert (scores >= [2e200, 1400]).all()


@pytest.mark.parametrize(
    ("alpha", "exponent"),
    [(1.01, -1000), (1.01, 600), (1.5, -600), (1.5, 1000), (2.0, 1000), (4.0, -1000)],
)
def test_entmax_sets_do_not_depend_on_the_unit_of_the_scores(alpha, exponent):
    """Squares of the scores overflow, or are zero: sets were too small or too large."""
    score, unit = EntmaxScore(alpha), 2.0**exponent
    with np.errstate(under="ignore"):
        scores = score.of_pairs(Z, *PAIRS)
        assert_allclose(score.of_pairs(Z * unit, *PAIRS) / unit, scores, rtol=1e-12)
        for limit in (np.quantile(scores, 0.6) + 1e-6, np.linspace(0.1, 4, 7)):
            expected = score.within(Z, limit)
            assert_array_equal(score.within(Z * unit, limit * unit), expected)
    assert 0.1 < expected.mean() < 0.9


def test_classes_far_below_are_in_no_set():
    z = np.array([[1e308, -1e308, 1e308], [0.0, -1e200, -1.0]])
    for alpha in (1.01, 1.5, 2.0, 4.0):
        for limit in (2.0, np.full(3, 2.0), 1e-150, np.full(3, 1e-150)):
            expected = [[1, 0, 1], [1, 0, np.max(limit) == 2]]
            assert_array_equal(EntmaxScore(alpha).within(z, limit), expected)


def test_limits_of_classes():
    limits = np.linspace(0.1, 4, 7)
    for alpha in (1.25, 1.5, 2.0):
        score = EntmaxScore(alpha)
        scores = score.of_pairs(Z, *PAIRS).reshape(Z.shape)
        assert_array_equal(score.within(Z, limits), scores <= limits)


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


@pytest.mark.parametrize("limit", [0.2, 0.5, 0.9, 0.999])
def test_sets_of_many_classes_and_of_ties(limit):
    """Sets are computed from sorted rows, scores of all classes without."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(50, 40))
    z[::3] = np.round(z[::3])
    p, uniform = entmax(z, 1.0), rng.random(50)
    for draws in None, uniform:
        adaptive = AdaptiveScore(False, 0.01, 2)
        expected = adaptive._of_all(p, draws) <= limit
        assert_array_equal(adaptive.within(p, limit, draws), expected)
    pairs = tuple(index.ravel() for index in np.indices(z.shape))
    for alpha in (1.25, 1.5, 2.0):
        scores = EntmaxScore(alpha).of_pairs(z, *pairs).reshape(z.shape)
        quantile = np.quantile(scores, limit) + 1e-9
        within = EntmaxScore(alpha).within(z, quantile)
        assert_array_equal(within, scores <= quantile)
        assert within.sum(axis=1).max() > 16 or limit < 0.9
    for score in ThresholdScore(True), AdaptiveScore(True, 0.0, 1):
        within = score.within(p, 0.01)
        assert_array_equal(within.sum(axis=1), 1)
        assert within[np.arange(50), p.argmax(axis=1)].all()


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
