"""The mappings from their definitions, in fifty digits and more.

This module uses nothing of the package. It solves the defining equation of entmax for
the threshold by bracketing, and certifies the root by the signs on either side of it.
Equal scores have equal probabilities, which are computed once. Solved rows are stored,
because tests in float32 and float64 have the same scores.
"""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from mpmath import exp, expm1, fsum, log, mp, mpf, power

DIGITS = 50


def probabilities(scores, alpha):
    """Entmax of one row of scores, floats or mpf like alpha, as a list of mpf.

    They are accurate to about 40 digits. Above alpha = 2 they are accurate to 20 digits
    because a probability has an infinite slope at the edge of the support. There the
    threshold has more digits.
    """
    scores = [z if isinstance(z, mpf) else float(z) for z in scores]
    by_score = _remembered(frozenset(Counter(scores).items()), _exact(alpha))
    return [by_score[z] for z in scores]


def sparsemax(scores):
    """The projection of one row of float scores onto the simplex, in fractions.

    The k largest scores are the support for the largest k whose smallest is above
    the threshold that they imply.
    """
    exact = [Fraction(float(z)) for z in scores]
    descending = sorted(exact, reverse=True)
    totals = accumulate(descending)
    thresholds = [(total - 1) / k for k, total in enumerate(totals, start=1)]
    threshold = max(t for z, t in zip(descending, thresholds, strict=True) if z > t)
    return [float(max(z - threshold, 0)) for z in exact]


def negative_entropy(p, alpha):
    """The function Omega of one row of mpf, from its definition."""
    alpha = mpf(float(alpha))
    with mp.workdps(DIGITS):
        if alpha == 1:
            return fsum(x * log(x) for x in p if x)
        return (fsum(power(x, alpha) for x in p) - 1) / (alpha * (alpha - 1))


def potential(scores, alpha):
    """<p, z> - Omega(p) at the solution p, for one row of float scores."""
    p = probabilities(scores, alpha)
    with mp.workdps(DIGITS):
        inner = fsum(x * mpf(float(z)) for x, z in zip(p, scores, strict=True) if x)
        return inner - negative_entropy(p, alpha)


def derivative(scores, direction, alpha):
    """Central difference of the probabilities along a direction, to about 25 digits."""
    step = mpf(10) ** -13
    with mp.workdps(_digits(alpha)):
        moved = [
            [
                mpf(float(z)) + s * float(d)
                for z, d in zip(scores, direction, strict=True)
            ]
            for s in (step, -step)
        ]
        pairs = zip(*(probabilities(row, alpha) for row in moved), strict=True)
        return [(a - b) / (2 * step) for a, b in pairs]


@lru_cache(maxsize=1000)
def _remembered(counts, alpha):
    with mp.workdps(_digits(alpha)):
        return _by_score({_exact(z): n for z, n in counts}, alpha)


def _exact(number):
    return number if isinstance(number, mpf) else mpf(float(number))


def _digits(alpha):
    return max(DIGITS, round(20 * float(alpha)))


def _by_score(counts, alpha):
    """The probability of each different score, from how often it occurs."""
    top = max(counts)
    beta = alpha - 1
    if beta == 0:
        e = {z: exp(z - top) if z > -mp.inf else mpf(0) for z in counts}
        total = fsum(counts[z] * e[z] for z in counts)
        return {z: e[z] / total for z in counts}
    # No probability is above one, so that lambda, below, is not negative.
    near = {z: n for z, n in counts.items() if z > -mp.inf and beta * (z - top) > -1}

    def at(lam):
        x = {z: 1 + beta * (z - top - lam) for z in near}
        return {z: power(v, 1 / beta) if v > 0 else mpf(0) for z, v in x.items()}

    def excess(p):
        return fsum(near[z] * p[z] for z in near) - 1

    low, high = mpf(0), -expm1(-beta * log(sum(counts.values()))) / beta
    close = mpf(_in_double_precision(near, top, float(beta), float(high)))
    # Signs decide, as below, whether the root is between these two.
    for guess in (close - mpf(10) ** -13, close + mpf(10) ** -13):
        if low < guess < high:
            low, high = (guess, high) if excess(at(guess)) > 0 else (low, guess)
    resolution = mpf(10) ** (10 - mp.dps)
    while high - low > resolution:
        p = at(low)
        slope = fsum(
            near[z] * v / (1 + beta * (z - top - low)) for z, v in p.items() if v
        )
        newton = low + excess(p) / slope
        # Sums of rounded terms hide the sign within this distance of the root.
        for guess in (newton, newton + resolution / 2, (low + high) / 2):
            if low < guess < high:
                if excess(at(guess)) > 0:
                    low = guess
                else:
                    high = guess
        # A class that is not in the support at a low threshold is in none above.
        near = {z: n for z, n in near.items() if 1 + beta * (z - top - low) > 0}
    root = at((low + high) / 2)
    return {z: root.get(z, mpf(0)) for z in counts}


def _in_double_precision(near, top, beta, high):
    """Find a threshold that is close to the root, by bisection."""
    gaps = np.array([float(z - top) for z in near])
    n_equal, low = np.array(list(near.values())), 0.0
    for _ in range(60):
        middle = (low + high) / 2
        powers = np.maximum(1 + beta * (gaps - middle), 0) ** (1 / beta)
        low, high = (middle, high) if n_equal @ powers > 1 else (low, middle)
    return low
