"""Every mapping from its definition in the literature, in fifty digits and more.

No code is shared with the package. Entmax, which needs an equation to be solved, is in
``references``. The benchmarks measure errors by these definitions, too.
"""

from functools import partial
from itertools import accumulate, chain, pairwise
from operator import mul

import mpmath as mp
import numpy as np
from mpmath.calculus.quadrature import TanhSinh
from scipy.special import gammaincc, ndtr, owens_t, stdtr

from skprob.mappings import (
    Entmax,
    EntropyInvariantSoftmax,
    GeneralizedNormal,
    NestedSoftmax,
    NormalizedMapping,
    PerturbMax,
    Sigmoid,
    SkewNormal,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    StudentT,
    TaylorSoftmax,
    Temperature,
    ThresholdMapping,
)

from . import references


def taylor_polynomial(order, x):
    # At 300 digits nothing cancels, whatever the sign and size of x.
    with mp.workdps(300):
        return mp.fsum(x**m / mp.factorial(m) for m in range(order + 1))


def taylor_softmax(order):
    def probabilities(z):
        f = [taylor_polynomial(order, x) if x > -mp.inf else mp.mpf(0) for x in z]
        return [x / mp.fsum(f) for x in f]

    return probabilities


def sparse_softmax(k=None, p=None):
    def probabilities(z):
        order = sorted(range(len(z)), key=lambda i: (-z[i], i))
        weight = [mp.exp(x - max(z)) for x in z]
        if p is None:
            size = min(k, len(z))
        else:
            mass, enough, size = mp.mpf(0), mp.mpf(p) * mp.fsum(weight), 0
            while mass < enough and size < len(z):
                mass += weight[order[size]]
                size += 1
        kept = set(order[:size])
        total = mp.fsum(weight[i] for i in kept)
        return [w / total if i in kept else mp.mpf(0) for i, w in enumerate(weight)]

    return probabilities


def marginal(x, alpha):
    """Two-class entmax of zero and x, by its closed form if it has one."""
    if x == -mp.inf:
        return mp.mpf(0)
    if alpha == 1.5:
        x = min(max(x, -2), 2) / 2
        return ((x + mp.sqrt(2 - x**2)) / 2) ** 2
    if alpha == 2:
        return (min(max(x, -1), 1) + 1) / 2
    return references.probabilities([mp.mpf(0), x], alpha)[1]


def sigmoid(alpha, budget):
    def free(z):
        return [marginal(x, alpha) for x in z]

    def probabilities(z):
        p = free(z)
        least, most = budget or (0, mp.inf)
        bound = min(max(mp.fsum(p), least), most)
        if bound == mp.fsum(p):
            return p
        # By bisection: the sum falls in what is subtracted from all scores.
        finite = [x for x in z if x > -mp.inf]
        low, high = min(finite) - 200, max(finite) + 200
        for _ in range(mp.mp.prec + 20):
            middle = (low + high) / 2
            p = free([x - middle for x in z])
            low, high = (middle, high) if mp.fsum(p) > bound else (low, middle)
        return p

    return probabilities


def entropy_invariant_softmax(kappa):
    def probabilities(z):
        n_available = sum(x > -mp.inf for x in z)
        factor = mp.mpf(kappa) * mp.log(n_available) if n_available > 1 else 1
        weight = [mp.exp(factor * (x - max(z))) for x in z]
        return [w / mp.fsum(weight) for w in weight]

    return probabilities


def nested_softmax(nests, scales):
    def probabilities(z):
        of = [0] * len(z) if nests is None else list(nests)
        size = 1 + max(of)
        mu = [mp.mpf(x) for x in np.broadcast_to(scales, size).tolist()]
        e = [mp.exp((x - max(z)) / mu[b]) for x, b in zip(z, of, strict=True)]
        inside = [
            mp.fsum(x for x, b in zip(e, of, strict=True) if b == nest)
            for nest in range(size)
        ]
        total = mp.fsum(x**m for x, m in zip(inside, mu, strict=True))
        return [
            x / inside[b] * inside[b] ** mu[b] / total if x else mp.mpf(0)
            for x, b in zip(e, of, strict=True)
        ]

    return probabilities


_RULE = TanhSinh(mp.mp)
#: Density and distribution function of noises, and where they have kinks.
NOISES = {
    "normal": (mp.npdf, mp.ncdf, []),
    "logistic": (
        lambda x: mp.sech(x / 2) ** 2 / 4,
        lambda x: 1 / (1 + mp.exp(-x)),
        [],
    ),
    "laplace": (
        lambda x: mp.exp(-abs(x)) / 2,
        lambda x: mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2,
        [0],
    ),
    "exponential": (
        lambda x: mp.exp(-x) if x >= 0 else mp.mpf(0),
        lambda x: -mp.expm1(-x) if x >= 0 else mp.mpf(0),
        [0],
    ),
    "uniform": (
        lambda x: mp.mpf(0 <= x <= 1),
        lambda x: min(max(x, mp.mpf(0)), mp.mpf(1)),
        [0, 1],
    ),
    "cauchy": (
        lambda x: 1 / (mp.pi * (1 + x**2)),
        lambda x: mp.atan2(1, -x) / mp.pi,
        [],
    ),
}


def student_t(df):
    """Density and distribution function of Student's t, and its kinks."""
    scale = mp.sqrt(df) * mp.beta(mp.mpf(df) / 2, mp.mpf(1) / 2)

    def density(x):
        return (1 + x**2 / df) ** (-(mp.mpf(df) + 1) / 2) / scale

    return density, lambda x: mp.mpf(stdtr(df, float(x))), []


def generalized_normal(exponent):
    """Density and distribution function of the generalised normal distribution."""
    scale = 2 * mp.gamma(1 / mp.mpf(exponent)) / exponent

    def density(x):
        return mp.exp(-(abs(x) ** exponent)) / scale

    def distribution(x):
        tail = gammaincc(1 / exponent, float(abs(x)) ** exponent) / 2
        return mp.mpf(tail if x < 0 else 1 - tail)

    return density, distribution, [0]


def skew_normal(skewness):
    """The same functions of the skew-normal distribution of mean 0 and variance 1."""
    # The parameter delta of Azzalini's standard form, its mean and standard deviation.
    ratio = np.cbrt(2 * skewness / (4 - np.pi))
    delta = ratio / np.sqrt(1 + ratio**2) * np.sqrt(np.pi / 2)
    mean = np.sqrt(2 / np.pi) * delta
    scale = np.sqrt(1 - mean**2)
    slant = delta / np.sqrt(1 - delta**2)

    def density(x):
        t = mean + scale * x
        return 2 * scale * mp.npdf(t) * mp.ncdf(slant * t)

    def distribution(x):
        t = float(mean + scale * x)
        return mp.mpf(ndtr(t) - 2 * owens_t(t, slant))

    return density, distribution, []


def noise_of(noise):
    """Density, distribution function and kinks of a name or a noise with a shape.

    With a shape, the distribution function is scipy's, in double precision:
    test_shaped_noise.py compares these functions with integrals of many digits.
    """
    if noise == "student_t" or isinstance(noise, StudentT):
        return student_t(5 if isinstance(noise, str) else noise.df)
    if noise == "generalized_normal" or isinstance(noise, GeneralizedNormal):
        return generalized_normal(1.5 if isinstance(noise, str) else noise.exponent)
    if noise == "skew_normal" or isinstance(noise, SkewNormal):
        return skew_normal(0.5 if isinstance(noise, str) else noise.skewness)
    return NOISES[noise]


def perturb_max(noise, scale):
    """The integral, by tanh-sinh quadrature between the kinks, in thirty digits."""
    if noise == "gumbel":
        softmax = partial(references.probabilities, alpha=1)
        return lambda z: softmax([x / mp.mpf(scale) for x in z])
    density, distribution, kinks = noise_of(noise)

    def probabilities(z):
        scores = [x / mp.mpf(scale) for x in z if x > -mp.inf]
        edges = {x + kink for x in scores for kink in kinks}
        edges = [-mp.inf, *sorted(edges or {min(scores), max(scores)}), mp.inf]
        p = [mp.mpf(0)] * len(scores)
        for x, weight in chain(*(_nodes(*ends) for ends in pairwise(edges))):
            below = [distribution(x - score) for score in scores]
            # Products over all scores before, and over all scores after, each one.
            left = accumulate(below, mul, initial=weight)
            right = list(accumulate(reversed(below), mul, initial=mp.mpf(1)))[-2::-1]
            for i, others in enumerate(map(mul, left, right)):
                p[i] += others * density(x - scores[i])
        shares = iter(p)
        return [next(shares) if x > -mp.inf else mp.mpf(0) for x in z]

    def rounded(z):
        with mp.workdps(30):
            return probabilities(z)

    return rounded


def _nodes(low, high):
    degree = _RULE.guess_degree(mp.mp.prec)
    # Only the nodes that this degree adds to the last: a rule of its own.
    nodes = _RULE.get_nodes(low, high, degree, mp.mp.prec)
    return ((x, mp.ldexp(weight, 1 - degree)) for x, weight in nodes)


def at_temperature(mapping, temperature):
    inner = definition(mapping)
    return lambda z: inner([x / mp.mpf(temperature) for x in z])


def by_threshold(z):
    """With (x + sqrt(1 + x²))² for g, by bisection."""
    low, high = max(z) - 1, max(z) + len(z)
    p = []
    for _ in range(200):
        threshold = (low + high) / 2
        p = [mp.exp(2 * mp.asinh(x - threshold)) if x > -mp.inf else 0 for x in z]
        low, high = (threshold, high) if mp.fsum(p) > 1 else (low, threshold)
    return p


def by_division(z):
    """With 1 + x² for f."""
    f = [1 + x**2 if x > -mp.inf else mp.mpf(0) for x in z]
    return [x / mp.fsum(f) for x in f]


_DEFINITIONS = {
    Softmax: lambda m: partial(references.probabilities, alpha=1),
    Sparsemax: lambda m: partial(references.probabilities, alpha=2),
    Entmax: lambda m: partial(references.probabilities, alpha=m.alpha),
    TaylorSoftmax: lambda m: taylor_softmax(m.order),
    # Ten classes are kept unless k or p says otherwise.
    SparseSoftmax: lambda m: sparse_softmax(10 if m.k == "auto" else m.k, m.p),
    EntropyInvariantSoftmax: lambda m: entropy_invariant_softmax(m.kappa),
    NestedSoftmax: lambda m: nested_softmax(m.nests, m.scales),
    PerturbMax: lambda m: perturb_max(m.noise, m.scale),
    Sigmoid: lambda m: sigmoid(m.alpha, m.budget),
    ThresholdMapping: lambda m: by_threshold,
    NormalizedMapping: lambda m: by_division,
    Temperature: lambda m: at_temperature(m.mapping, m.temperature),
}


def definition(mapping):
    """The function from a row of scores, in mpf, to probabilities that a mapping is.

    Parameters
    ----------
    mapping : Mapping

    Returns
    -------
    probabilities : callable
    """
    return _DEFINITIONS[type(mapping)](mapping)


def probabilities(mapping, scores):
    """Probabilities of a row of floats by definition, as a list of mpf."""
    with mp.workdps(references.DIGITS):
        return definition(mapping)([mp.mpf(float(x)) for x in scores])
