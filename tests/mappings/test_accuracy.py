"""Probabilities, potential and entropy of the entmax family against fifty digits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from skprob.mappings import Entmax, Softmax, Sparsemax, entmax, sparsemax

from . import oracle

EXACT = [1, 1 + 1e-12, 1 + 1e-6, 1.05, 1.25, 1.5, 1.75, 2]
STEEP = [2.5, 4, 10]
ALPHAS = EXACT + STEEP
DTYPES = [np.float64, np.float32]
TOLERANCE = {np.float64: 1e-14, np.float32: 5e-7}


def spread_scores(n_classes, dtype):
    """Rows of every spread and offset, with ties and unavailable classes."""
    rng = np.random.default_rng(n_classes)
    rows = [
        spread * rng.standard_normal(n_classes)
        for spread in (1e-8, 0.02, 0.3, 1, 5, 1e3)
    ]
    offsets = [1e3, -1e6] + ([1e15] if dtype == np.float64 else [])
    rows += [offset + rng.standard_normal(n_classes) for offset in offsets]
    tied = rng.integers(-3, 2, n_classes) / 4
    rows += [tied, np.where(rng.random(n_classes) < 0.4, -np.inf, tied)]
    rows[-1][0] = -0.125
    huge = 1e300 if dtype == np.float64 else 1e38
    rows.append(huge * rng.uniform(-1, 1, n_classes))
    return np.array(rows, dtype=dtype)


def few_values(n_classes, n_values, spread, dtype):
    """Two rows of many classes with few different scores: quick for the oracle."""
    rng = np.random.default_rng(n_values)
    values = (spread * rng.standard_normal((2, n_values))).astype(dtype)
    return rng.permuted(np.tile(values, n_classes // n_values), axis=1)


def assert_accurate(scores, alpha):
    """As accurate as `alpha` allows; returns the sizes of the supports."""
    sizes = set()
    tolerance = TOLERANCE[scores.dtype.type]
    for row, p in zip(scores, entmax(scores, alpha), strict=True):
        reference = oracle.probabilities(row, alpha)
        error = [
            abs(float(mpf(float(a)) - b)) for a, b in zip(p, reference, strict=True)
        ]
        for i in np.flatnonzero(np.array(error) > tolerance):
            assert alpha > 2, (row, i, error[i])
            low, high = perturbed(row, i, alpha)
            assert low - tolerance <= p[i] <= high + tolerance, (
                row,
                i,
                p[i],
                low,
                high,
            )
        eps = np.finfo(scores.dtype).eps
        assert abs(math.fsum(p.tolist()) - 1) <= 4 * eps
        assert (p[row == -np.inf] == 0).all()
        sizes.add(np.count_nonzero(p))
    return sizes


def perturbed(row, i, alpha):
    """The least and the largest p_i for scores up to 4 ulp away.

    It grows with score i and falls with all others.
    """
    ulps = 4 * np.spacing(np.abs(np.where(np.isinf(row), 0, row)))
    ulps[np.arange(len(row)) != i] *= -1
    with mp.workdps(oracle.DIGITS):
        ends = [
            [
                mpf(float(z)) + sign * mpf(float(u))
                for z, u in zip(row, ulps, strict=True)
            ]
            for sign in (-1, 1)
        ]
    return [float(oracle.probabilities(end, alpha)[i]) for end in ends]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 10])
def test_every_spread_and_offset(n_classes, alpha, dtype):
    assert_accurate(spread_scores(n_classes, dtype), alpha)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("spread", [0.1, 3])
def test_a_hundred_classes(alpha, dtype, spread):
    scores = spread * np.random.default_rng(0).standard_normal((1, 100))
    assert_accurate(scores.astype(dtype), alpha)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n_classes", [1000, 10_000])
def test_many_classes(n_classes, alpha, dtype):
    for spread in (1e-4, 1):
        assert_accurate(few_values(n_classes, 50, spread, dtype), alpha)


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_different_scores(dtype):
    scores = 1e-3 * np.random.default_rng(1).standard_normal((1, 10_000)).astype(dtype)
    p = sparsemax(scores)[0]
    expected = oracle.sparsemax(scores[0])
    assert np.count_nonzero(expected) > 1000
    np.testing.assert_allclose(p, expected, rtol=0, atol=TOLERANCE[dtype])
    assert abs(math.fsum(p.tolist()) - 1) <= 4 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("alpha", "closest"),
    [(1.25, 0.1), (1.5, 0.1), (1.75, 0.03), (2, 0.03), (2.5, 1e-2), (4, 1e-4)],
)
def test_supports_of_every_size(alpha, closest, dtype):
    scale = np.geomspace(closest, 10, 40)[:, None]
    sizes = assert_accurate((scale * -np.arange(6.0)).astype(dtype), alpha)
    assert sizes == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", [*ALPHAS, 1.01, 1.3, 3, 50, 1e3])
@pytest.mark.parametrize("n_classes", [10, 64, 65, 1000, 10_000])
def test_rows_sum_to_one(n_classes, alpha, dtype):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((12, n_classes)) * np.logspace(-6, 2, 12)[:, None]
    for p in entmax(scores.astype(dtype), alpha):
        assert abs(math.fsum(p.tolist()) - 1) <= 4 * np.finfo(dtype).eps


@pytest.mark.parametrize("alpha", [3, 10, 50, 1e3, 1e300])
def test_steep_mappings_of_two_classes(alpha):
    """For two classes p_2 is the root of a monotone equation, checked by its sign."""
    for gap in (0, 1e-300, 1e-20, 1e-3 / alpha, 0.5 / alpha, 1 / alpha, 1):
        p = entmax([0.0, -gap], alpha)
        assert p[0] >= p[1] >= 0 and p.sum() == 1
        if gap * (alpha - 1) >= 1:
            assert p[1] == 0
        if gap == 0:
            assert p[1] == 0.5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_potential(alpha, dtype):
    for n_classes in (1, 2, 5, 100):
        scores = spread_scores(n_classes, dtype)[1:5]
        scores = np.vstack(
            [scores, np.where(scores > scores.max() - 1, scores, -np.inf)]
        )
        scores = scores[scores.max(axis=1) > -np.inf]
        found = Entmax(alpha).potential(scores)
        for row, value in zip(scores, found, strict=True):
            expected = float(oracle.potential(row, alpha))
            size = 1 + np.abs(row[row > -np.inf]).max()
            assert float(value) == pytest.approx(
                expected, abs=float(8 * size * np.finfo(dtype).eps)
            )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_entropy(alpha, dtype):
    rng = np.random.default_rng(0)
    for n_classes in (1, 2, 5, 100):
        # Multiples of 2^-20, so that each row sums to one exactly.
        parts = rng.multinomial(2**20, rng.dirichlet(np.full(n_classes, 0.3), 3))
        p = np.vstack([parts / 2**20, np.eye(1, n_classes)]).astype(dtype)
        for row, value in zip(p, Entmax(alpha).entropy(p), strict=True):
            expected = -oracle.negative_entropy(list(map(mpf, row.tolist())), alpha)
            tolerance = float(32 * np.finfo(dtype).eps)
            assert float(value) == pytest.approx(float(expected), abs=tolerance)


def test_named_members_are_members():
    scores = spread_scores(10, np.float64)
    for member, alpha in ((Softmax(), 1), (Sparsemax(), 2)):
        for row, p in zip(scores, member(scores), strict=True):
            expected = [float(x) for x in oracle.probabilities(row, alpha)]
            np.testing.assert_allclose(p, expected, rtol=0, atol=1e-14)


def test_log_probabilities_of_classes_too_small_for_a_float():
    scores = np.array([[0.0, -800.0, -2000.0]])
    np.testing.assert_allclose(Softmax().log_probabilities(scores), scores)
