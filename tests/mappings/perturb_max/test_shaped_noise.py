"""Noises with a shape: values to fifty digits, draws, and derivatives in the shape."""

import pickle

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import roots_legendre
from sklearn.base import clone

from skprob.losses import LogLoss, MarginLoss
from skprob.mappings import (
    GeneralizedNormal,
    PerturbMax,
    SkewNormal,
    StudentT,
    Temperature,
)
from skprob.targets import DenseTarget

from .one_row import one_probability, row_of_scores

SHAPES = [StudentT(df) for df in (0.5, 1.0, 1.7, 5.0, 30.0, 1000.0)]
SHAPES += [GeneralizedNormal(b) for b in (1.0, 1.2, 1.5, 2.0, 4.0, 10.0)]
SKEWED = [SkewNormal(g) for g in (-0.95, -0.4, 0.02, 0.95)]
every_symmetric = pytest.mark.parametrize("noise", SHAPES, ids=repr)
every_skewed = pytest.mark.parametrize("noise", SKEWED, ids=repr)
# On [0, 1].
NODES, WEIGHTS = (roots_legendre(100) + np.array([[1], [0]])) / 2
SCORES = np.array([[0.3, 0.0, -1.2, -4.0], [0.0, -8.0, 0.1, -np.inf]])


def scipys(noise):
    if isinstance(noise, StudentT):
        return stats.t(noise.df)
    if isinstance(noise, GeneralizedNormal):
        return stats.gennorm(noise.exponent)
    slant, mean, scale = (float(v) for v in standard_form(noise.skewness))
    return stats.skewnorm(slant, -mean / scale, 1 / scale)


def standard_form(skewness):
    """Azzalini's shape, and the mean and the standard deviation of his form."""
    ratio = mp.sign(skewness) * mp.cbrt(2 * abs(mp.mpf(skewness)) / (4 - mp.pi))
    mean = ratio / mp.sqrt(1 + ratio**2)
    delta = mean * mp.sqrt(mp.pi / 2)
    return delta / mp.sqrt(1 - delta**2), mean, mp.sqrt(1 - mean**2)


def skewed_logs(skewness, x):
    """Logarithms of the distribution function and the density, in thirty digits."""
    slant, mean, scale = standard_form(skewness)
    t = mean + scale * mp.mpf(x)
    sign = -1 if t < 0 else 1
    density = 2 * mp.npdf(t) * mp.ncdf(slant * t)
    # About where the integrand falls to a part of e.
    rate = 1 + (slant**2 if slant * t < 0 else 0)
    unit = 1 / (rate * abs(t) + mp.sqrt(rate))
    tail = mp.fsum(
        weight * 2 * mp.npdf(t + sign * u) * mp.ncdf(slant * (t + sign * u))
        for u, weight in zip(45 * unit * NODES, 45 * unit * WEIGHTS, strict=True)
    )
    return mp.log(tail) if t < 0 else mp.log1p(-tail), mp.log(scale * density)


def exact_tail(noise, y):
    """P[noise > y] for y > 0."""
    y = mp.mpf(y)
    if isinstance(noise, StudentT):
        df = mp.mpf(noise.df)
        x = df / (df + y**2)
        return mp.betainc(df / 2, 0.5, 0, x, regularized=True) / 2
    power = y ** mp.mpf(noise.exponent)
    return mp.gammainc(1 / mp.mpf(noise.exponent), power, regularized=True) / 2


@every_skewed
def test_skewed_tails_and_their_derivatives_in_the_shape(noise):
    """Beside quadrature in thirty digits, on both sides."""
    x = np.array([-25.0, -6.0, -0.2, 1.7, 4.0])
    with mp.workdps(30):
        step = mp.mpf(1e-5)
        rows = [
            [skewed_logs(noise.skewness + k * step, v) for v in x] for k in (-1, 0, 1)
        ]
        slopes = [
            [float((b - a) / (2 * step)) for a, b in zip(low, high, strict=True)]
            for low, high in zip(rows[0], rows[2], strict=True)
        ]
    logcdf, logpdf = np.array([[float(v) for v in row] for row in rows[1]]).T
    assert_allclose(noise.logcdf(x), logcdf, rtol=1e-12)
    assert_allclose(noise.logpdf(x), logpdf, rtol=1e-12, atol=1e-14)
    hazard = np.exp(noise.log_hazard(x, noise.logcdf(x)))
    assert_allclose(hazard, np.exp(logpdf - logcdf), rtol=1e-11)
    cdf, pdf = noise.cdf_and_pdf(x[1:])
    assert_allclose(np.log(cdf), logcdf[1:], rtol=1e-11, atol=1e-13)
    assert_allclose(np.log(pdf), logpdf[1:], rtol=1e-11)
    of_logcdf, of_logpdf = np.array(slopes).T
    slopes = noise.shape_slopes(x)
    assert_allclose(slopes, [of_logpdf, of_logcdf], rtol=1e-7, atol=1e-7)
    # Farther than any table, and where slope and hazard nearly cancel.
    for far in (-70.0, -1e4, -3e4, -1e9):
        x = far * (1 + np.array([-1e-3, 0, 1e-3]))
        logs = noise.log_hazard(x, noise.logcdf(x))
        slope = noise.log_hazard_slope(x, np.exp(logs))
        assert (logs[2] - logs[0]) / (x[2] - x[0]) == pytest.approx(slope[1], rel=3e-6)
    with np.errstate(all="ignore"):
        assert_array_equal(noise.logcdf(np.array([-1e300, 1e300])), [-np.inf, 0])
    assert np.isfinite(noise.shape_slopes(np.array([-60.0, 60.0, np.inf]))).all()
    known = noise.mean, noise.variance, scipys(noise).stats("s")
    assert_allclose(known, (0, 1, noise.skewness), atol=1e-12)


def test_no_skewness_is_normal_noise():
    x = np.linspace(-9, 9, 7)
    normal = stats.norm()
    for skewness in (0, 1e-14, 1e-10):
        noise = SkewNormal(skewness)
        assert_allclose(noise.logcdf(x), normal.logcdf(x), rtol=1e-8, atol=1e-8)
        # Gram and Charlier's series.
        slopes = noise.shape_slopes(x)
        third, second = (x**3 - 3 * x) / 6, (1 - x**2) / 6
        hazard = np.exp(normal.logpdf(x) - normal.logcdf(x))
        assert_allclose(slopes, [third, hazard * second], rtol=0.02, atol=0.02)
    p = PerturbMax(SkewNormal(0))(SCORES)
    assert_allclose(p, PerturbMax("normal")(SCORES), atol=1e-11)
    # Its derivative there is that of a straight line: zero would not be stationary.
    assert np.abs(PerturbMax(SkewNormal(0)).shape_derivative(SCORES)).max() > 0.01


@every_symmetric
def test_distribution_function_and_density(noise):
    y = np.logspace(-8, 1.4, 20)
    with mp.workdps(50):
        tail = [exact_tail(noise, v) for v in y]
        lower = np.array([float(mp.log(p)) for p in tail])
        upper = np.array([float(mp.log1p(-p)) for p in tail])
    # The logarithm's own rounding, and for many degrees that of a power.
    rtol = 1e-14 * max(20, getattr(noise, "df", 1))
    assert_allclose(noise.logcdf(-y), lower, rtol=rtol)
    assert_allclose(noise.logcdf(y), upper, rtol=rtol, atol=1e-300)
    x = np.append(-y, y)
    logs = np.append(lower, upper)
    inside = logs > -600
    cdf, pdf = noise.cdf_and_pdf(x)
    assert_allclose(cdf[inside], np.exp(logs[inside]), rtol=10 * rtol)
    assert_allclose(noise.logpdf(x), scipys(noise).logpdf(x), rtol=rtol, atol=rtol)
    assert_allclose(pdf[inside], np.exp(noise.logpdf(x))[inside], rtol=10 * rtol)
    assert_allclose(noise.logcdf(np.zeros(1)), -np.log(2), rtol=rtol)
    hazard = noise.log_hazard(x, noise.logcdf(x))[inside]
    exact = (noise.logpdf(x) - logs)[inside]
    assert_allclose(hazard, exact, rtol=1e-9, atol=1e-9)
    known = [noise.mean, noise.variance]
    exact = [scipys(noise).mean(), scipys(noise).var()]
    if isinstance(noise, StudentT) and noise.df <= 2:
        assert known == [None if noise.df <= 1 else 0.0, None]
    else:
        assert_allclose(known, exact, rtol=1e-12)


@every_symmetric
def test_probabilities_beside_other_quadrature(noise):
    z = row_of_scores(5, 2, seed=4)
    exact = [one_probability(z, i, scipys(noise)) for i in range(5)]
    # Where the other's panels do not see a cusp it is worse.
    atol = 1e-9 if isinstance(noise, GeneralizedNormal) else 1e-10
    assert_allclose(PerturbMax(noise)(z[None])[0], exact, rtol=0, atol=atol)


def test_what_they_are_with_other_names():
    for noise, name, scale in (
        (StudentT(1.0), "cauchy", 1.0),
        (GeneralizedNormal(1.0), "laplace", 1.0),
        (GeneralizedNormal(2.0), "normal", np.sqrt(0.5)),
    ):
        assert_allclose(
            PerturbMax(noise)(SCORES), PerturbMax(name, scale)(SCORES), atol=1e-11
        )
    assert_array_equal(
        PerturbMax("student_t")(SCORES), PerturbMax(StudentT(5.0))(SCORES)
    )
    assert_array_equal(
        PerturbMax("generalized_normal")(SCORES),
        PerturbMax(GeneralizedNormal(1.5))(SCORES),
    )


@pytest.mark.parametrize(
    "noise",
    [StudentT(1.5), StudentT(30.0), GeneralizedNormal(3.0), SkewNormal(-0.9)],
    ids=repr,
)
def test_draws(noise):
    draws = noise.rvs(size=(200, 50), random_state=0)
    assert draws.shape == (200, 50)
    assert stats.kstest(draws.ravel(), scipys(noise).cdf).pvalue > 0.01
    assert_array_equal(noise.rvs(3, random_state=1), noise.rvs(3, random_state=1))


@pytest.mark.parametrize("noise", [*SHAPES[1:-1], *SKEWED[1::2]], ids=repr)
def test_the_derivative_in_the_shape(noise):
    start = getattr(noise, noise.shape())
    if start in noise.bounds:
        return
    # The noise depends on the cube root of a small skewness: take a relative step.
    step = 1e-4 * abs(start)

    def at(value):
        return PerturbMax(type(noise)(value), 1.3, tol=1e-12)

    numerical = (at(start + step)(SCORES) - at(start - step)(SCORES)) / (2 * step)
    derivative = PerturbMax(noise, 1.3).shape_derivative(SCORES)
    assert_allclose(derivative, numerical, atol=3e-8 * np.abs(numerical).max() + 1e-10)
    assert_allclose(derivative.sum(axis=1), 0, atol=1e-14)


def test_the_gradient_of_the_log_loss_in_the_noise():
    """With a margin, a temperature, loadings, and classes that are not available."""
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(4), size=2)
    q[1, 3] = 0
    q /= q.sum(axis=1, keepdims=True)
    loadings = rng.normal(size=(4, 2))
    for noise, L, n_parameters in (
        (StudentT(3.0), None, 1),
        (StudentT(3.0), loadings[:, :1], 4),
        (SkewNormal(-0.5), None, 1),
        ("gumbel", loadings, 5),
    ):
        mapping = PerturbMax(noise, 0.7, loadings=L)

        def loss(parameters, mapping=mapping):
            through = Temperature(mapping.with_noise_parameters(parameters), 1.5)
            return MarginLoss(LogLoss(through), 0.2)

        target = DenseTarget(q)
        start = mapping.noise_parameters()
        assert len(start) == n_parameters
        bounds = np.array(mapping.noise_parameter_bounds())
        assert ((bounds[:, 0] < start) & (start < bounds[:, 1])).all()
        gradient = loss(start).noise_gradient(SCORES.copy(), target)
        for k, unit in enumerate(np.eye(len(start))):
            ends = [
                loss(start + sign * 1e-4 * unit).evaluate(SCORES.copy(), target)[0]
                for sign in (1, -1)
            ]
            slope = (ends[0] - ends[1]) / 2e-4
            assert_allclose(gradient[:, k], slope, atol=1e-5)


@pytest.mark.parametrize("noise", [StudentT(3.0), SkewNormal(-0.5)], ids=repr)
def test_the_gradient_of_the_log_loss_of_labels_in_the_shape(noise):
    # Rows of all spreads: those that share nodes, and those that do not.
    z = np.array([[0], [0.5], [2], [40]]) * np.random.default_rng(1).normal(size=(4, 6))
    z[1, 2] = -np.inf
    labels = z.argmax(axis=1)
    labels[2] = z[2].argmin()
    rows = np.arange(len(z))
    mapping = PerturbMax(noise, 0.7)
    (start,) = mapping.noise_parameters()

    def log_p(value):
        return mapping.with_noise_parameters([value]).log_probabilities(z)[rows, labels]

    step = 1e-3 * abs(start)
    ends = [log_p(start + k * step) for k in (-2, -1, 1, 2)]
    slope = (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12 * step)
    assert np.abs(slope[1:3]).min() > 1e-2
    gradient = mapping.log_noise_gradient(
        z - z.max(axis=1)[:, None], 0.5 * np.eye(6)[labels]
    )
    assert_allclose(gradient[:, 0], slope / 2, rtol=1e-6, atol=1e-8)


def test_parameters_of_the_noise():
    mapping = PerturbMax(StudentT(4.0), loadings=[[1.0, 0.5], [0.0, 2.0], [1.0, 1.0]])
    same = mapping.with_noise_parameters(mapping.noise_parameters())
    assert same.noise == StudentT(4.0)
    # Turned factors, and another class that has none, are the same noise.
    assert_array_equal(same.loadings[0], 0)
    assert same.loadings[1, 1] == 0
    z = SCORES[:, :3]
    assert_allclose(same(z), mapping(z), atol=1e-8)
    assert_allclose(same.noise_parameters(), mapping.noise_parameters())
    assert len(PerturbMax("normal").noise_parameters()) == 0


def test_shapes_are_values():
    assert StudentT(3.0) == StudentT(3.0) != StudentT(4.0)
    assert len({StudentT(3.0), StudentT(3.0), GeneralizedNormal(3.0)}) == 2
    mapping = PerturbMax(StudentT(3.0), 2.0)
    for copy in (clone(mapping), pickle.loads(pickle.dumps(mapping))):
        assert copy.noise == StudentT(3.0)
        assert_array_equal(copy(SCORES), mapping(SCORES))
    for bad in (0.1, 1e4, np.nan, "5", None, 10**400):
        with pytest.raises(ValueError, match=r"df of StudentT must be a number from"):
            PerturbMax(StudentT(bad))(SCORES)
    with pytest.raises(ValueError, match=r"exponent of GeneralizedNormal .* from 1 to"):
        PerturbMax(GeneralizedNormal(0.5))(SCORES)
    with pytest.raises(ValueError, match=r"skewness of SkewNormal .* from -0.95"):
        PerturbMax(SkewNormal(0.99))(SCORES)
    with pytest.raises(ValueError, match=r"has none.*'student_t' or StudentT\(df\)"):
        PerturbMax("normal").shape_derivative(SCORES)
    with pytest.raises(TypeError, match="quantiles"):
        PerturbMax("student_t", n_quantiles=5).shape_derivative(SCORES)
