"""Probabilities, potential and entropy of the entmax family against fifty digits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from skprob.mappings import Entmax, Softmax, Sparsemax, entmax, sparsemax

from .. import references

ALPHAS = [
    1e-3,
    0.1,
    0.5,
    0.75,
    0.9,
    1 - 1e-12,
    1,
    1 + 1e-12,
    1.05,
    1.25,
    1.5,
    1.75,
    2,
    2.5,
    6,
]
DTYPES = [np.float64, np.float32]
TOLERANCE = {np.float64: 1e-14, np.float32: 5e-7}
every_alpha = pytest.mark.parametrize("alpha", ALPHAS)


def spread_scores(n_classes):
    """Rows of every spread, far from zero, tied and unavailable, in single precision.

    The references are computed once for both types.
    """
    rng = np.random.default_rng(n_classes)
    rows = [
        spread * rng.standard_normal(n_classes) for spread in (1e-8, 0.02, 0.3, 1, 5)
    ]
    rows.append(rng.standard_normal(n_classes) - 1e6)
    tied = rng.integers(-3, 2, n_classes) / 4
    rows += [tied, np.where(rng.random(n_classes) < 0.4, -np.inf, tied)]
    rows[-1][0] = -0.125
    rows.append(1e38 * rng.uniform(-1, 1, n_classes))
    return np.array(rows, dtype=np.float32)


def assert_accurate(scores, alpha):
    """As accurate as `alpha` allows; returns the sizes of the supports."""
    sizes = set()
    tolerance = TOLERANCE[scores.dtype.type]
    eps = np.finfo(scores.dtype).eps
    probabilities, potentials = entmax(scores, alpha), Entmax(alpha).potential(scores)
    for row, p, potential in zip(scores, probabilities, potentials, strict=True):
        reference = [float(x) for x in references.probabilities(row, alpha)]
        error = np.abs(p - reference)
        for i in np.flatnonzero(error > tolerance):
            assert alpha > 2, (row, i, error[i])
            low, high = perturbed(row, i, alpha)
            assert low - tolerance <= p[i] <= high + tolerance, (
                row,
                i,
                p[i],
                low,
                high,
            )
        assert abs(math.fsum(p.tolist()) - 1) <= 4 * eps
        assert (p[row == -np.inf] == 0).all()
        sizes.add(np.count_nonzero(p))
        if len(row) <= 100:
            size = 1 + np.abs(row[row > -np.inf]).max().astype(float)
            expected = float(references.potential(row, alpha))
            size += abs(expected) if alpha < 1 else 0
            assert float(potential) == pytest.approx(expected, abs=8 * size * eps)
    return sizes


def perturbed(row, i, alpha):
    """The least and the largest p_i for scores up to 4 ulp away.

    It grows with score i and falls with all others.
    """
    ulps = 4 * np.spacing(np.abs(np.where(np.isinf(row), 0, row)))
    ulps[np.arange(len(row)) != i] *= -1
    with mp.workdps(references.DIGITS):
        ends = [
            [
                mpf(float(z)) + sign * mpf(float(u))
                for z, u in zip(row, ulps, strict=True)
            ]
            for sign in (-1, 1)
        ]
    return [float(references.probabilities(end, alpha)[i]) for end in ends]


@every_alpha
def test_every_spread_and_offset(alpha):
    for n_classes in (1, 2, 5):
        scores = spread_scores(n_classes)
        for dtype in DTYPES:
            assert_accurate(scores.astype(dtype), alpha)
    # Beyond single precision, in range and in digits.
    tied = np.random.default_rng(1).integers(-8, 9, (1, 5)) / 8
    assert_accurate(tied + 1e15, alpha)
    assert_accurate(tied * 1e300, alpha)


# Each route, and each side of those next to one and of two.
@pytest.mark.parametrize(
    "alpha", [1e-3, 0.5, 1 - 1e-12, 1, 1.05, 1.25, 1.5, 1.75, 2, 6]
)
def test_many_classes(alpha):
    """Many different scores, thousands of few values, and two that matter."""
    rng = np.random.default_rng(0)
    hundred = rng.standard_normal((1, 100)).astype(np.float32)
    # Scores at distances at which Newton's method takes the most steps.
    hundred /= 8 if alpha <= 2 else 300
    values = np.array([[1e-4], [1]]) * rng.standard_normal((2, 20))
    thousands = rng.permuted(np.tile(values.astype(np.float32), 100), axis=1)
    # The second of these is as far below the first as a class in the support can be.
    edge = np.full((1, 100), -np.inf, dtype=np.float32)
    edge[0, [3, 50]] = 0, -0.95 / max(alpha - 1, 1e-6)
    for dtype in DTYPES:
        for scores in (hundred, thousands, edge):
            assert_accurate(scores.astype(dtype), alpha)


def test_many_different_scores():
    scores = np.random.default_rng(1).standard_normal((1, 4000)).astype(np.float32)
    scores /= 1000
    expected = references.sparsemax(scores[0])
    assert np.count_nonzero(expected) > 1000
    for dtype in DTYPES:
        p = sparsemax(scores.astype(dtype))[0]
        np.testing.assert_allclose(p, expected, rtol=0, atol=TOLERANCE[dtype])
        assert abs(math.fsum(p.tolist()) - 1) <= 4 * np.finfo(dtype).eps


@pytest.mark.parametrize(
    ("alpha", "closest"),
    [(1.25, 0.1), (1.5, 0.1), (1.75, 0.03), (2, 0.03), (2.5, 1e-2), (4, 1e-4)],
)
def test_supports_of_every_size(alpha, closest):
    scale = np.geomspace(closest, 10, 40)[:, None]
    scores = (scale * -np.arange(6.0)).astype(np.float32)
    # The row of each size at which a class is about to drop out.
    sizes = np.count_nonzero(entmax(scores, alpha), axis=1)
    scores = scores[np.flatnonzero(np.diff(sizes, append=0))]
    for dtype in DTYPES:
        assert assert_accurate(scores.astype(dtype), alpha) == {1, 2, 3, 4, 5, 6}


def test_rows_sum_to_one():
    rng = np.random.default_rng(0)
    for n_classes in (10, 64, 65, 200, 10_000):
        scores = rng.standard_normal((12, n_classes)) * np.logspace(-6, 2, 12)[:, None]
        for dtype in DTYPES:
            # Few classes are added up one by one, in double precision: each sum is
            # below one, and loses up to half of its last digit, eps / 4.
            lost = n_classes / 4 if n_classes <= 64 and dtype == np.float64 else 0
            for alpha in [*ALPHAS, 1.01, 1.3, 3, 4, 50, 1e3]:
                for p in entmax(scores.astype(dtype), alpha):
                    off = abs(math.fsum(p.tolist()) - 1) / np.finfo(dtype).eps
                    assert off <= 4 + lost, (n_classes, dtype, alpha)


def test_steep_mappings_of_two_classes():
    """For two classes p_2 is the root of a monotone equation, checked by its sign."""
    for alpha in (3, 10, 50, 1e3, 1e300):
        for gap in (0, 1e-300, 1e-20, 1e-3 / alpha, 0.5 / alpha, 1 / alpha, 1):
            p = entmax([0.0, -gap], alpha)
            assert p[0] >= p[1] >= 0 and p.sum() == 1
            if gap * (alpha - 1) >= 1:
                assert p[1] == 0
            if gap == 0:
                assert p[1] == 0.5


def test_entropy():
    rng = np.random.default_rng(0)
    for n_classes in (1, 2, 5, 100):
        # Multiples of 2^-20, so that each row sums to one exactly, in both types.
        parts = rng.multinomial(2**20, rng.dirichlet(np.full(n_classes, 0.3), 3))
        rows = np.vstack([parts / 2**20, np.eye(1, n_classes)])
        exact_rows = [list(map(mpf, q)) for q in rows]
        for alpha in ALPHAS:
            exact = [float(-references.negative_entropy(q, alpha)) for q in exact_rows]
            for dtype in DTYPES:
                entropy = Entmax(alpha).entropy(rows.astype(dtype)).astype(float)
                tolerance = 32 * float(np.finfo(dtype).eps)
                # Entropies below alpha = 1 are as large as 1 / alpha.
                rtol = tolerance if alpha < 1 else 0
                np.testing.assert_allclose(entropy, exact, rtol=rtol, atol=tolerance)


def test_named_members_are_members():
    scores = spread_scores(5).astype(float)
    for member, alpha in ((Softmax(), 1), (Sparsemax(), 2)):
        for row, p in zip(scores, member(scores), strict=True):
            expected = [float(x) for x in references.probabilities(row, alpha)]
            np.testing.assert_allclose(p, expected, rtol=0, atol=1e-14)


def test_log_probabilities_of_classes_too_small_for_a_float():
    scores = np.array([[0.0, -800.0, -2000.0]])
    np.testing.assert_allclose(Softmax().log_probabilities(scores), scores)
