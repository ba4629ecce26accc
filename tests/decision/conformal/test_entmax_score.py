"""The nonconformity of entmax against its formula and plain loops."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skprob.decision.conformal._entmax_score import EntmaxScore
from skprob.mappings import entmax

from .given_responses import softmax_rows

ALPHAS = [1.01, 1.1, 1.25, 1.5, 1.75, 2.0, 3.0, 6.0]
Z, _, _ = softmax_rows(60, 7)
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


@pytest.mark.parametrize("limit", [0.2, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("alpha", [1.25, 1.5, 2.0])
def test_sets_of_many_classes_and_of_ties(alpha, limit):
    """Sets are computed from sorted rows, scores of all classes without."""
    z = np.random.default_rng(0).normal(size=(50, 40))
    z[::3] = np.round(z[::3])
    pairs = tuple(index.ravel() for index in np.indices(z.shape))
    scores = EntmaxScore(alpha).of_pairs(z, *pairs).reshape(z.shape)
    quantile = np.quantile(scores, limit) + 1e-9
    within = EntmaxScore(alpha).within(z, quantile)
    assert_array_equal(within, scores <= quantile)
    assert within.sum(axis=1).max() > 16 or limit < 0.9
