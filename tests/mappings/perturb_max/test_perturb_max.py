"""Perturb-max against adaptive quadrature, closed forms, softmax and simulation."""

import pickle
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, owens_t
from sklearn.base import clone

from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import PerturbMax, Softmax, perturb_max

from .one_row import one_probability, row_of_scores

T3 = stats.t(3)
SLANT = 2.1737577942044707


class SkewNormalDistribution(type(stats.skewnorm)):
    """scipy's, with Owen's function in the place of an integral for each number.

    Its error is absolute: about 1e-17.
    """

    def _cdf(self, x, a):
        return np.maximum(ndtr(x) - 2 * owens_t(x, a), 1e-300)


skewnorm = SkewNormalDistribution(name="skewnorm")
SKEWED = stats.gamma(3, loc=1.0, scale=0.5)
NOISES = {
    "gumbel": stats.gumbel_r(),
    "normal": stats.norm(),
    "logistic": stats.logistic(),
    "laplace": stats.laplace(),
    "exponential": stats.expon(),
    "uniform": stats.uniform(),
    "cauchy": stats.cauchy(),
    "student_t": stats.t(5),
    "generalized_normal": stats.gennorm(1.5),
    # Skew-normal noise with skewness 0.5, mean 0 and variance 1.
    "skew_normal": skewnorm(
        SLANT,
        -skewnorm(SLANT).mean() / skewnorm(SLANT).std(),
        1 / skewnorm(SLANT).std(),
    ),
    T3: T3,
    SKEWED: SKEWED,
}
SMOOTH = ["gumbel", "normal", "logistic", "laplace", "cauchy"]
SMOOTH += ["student_t", "generalized_normal", "skew_normal"]
WITH_MEAN = [noise for noise in NOISES if noise != "cauchy"]


every_noise = pytest.mark.parametrize("noise", NOISES, ids=lambda noise: name(noise))


def name(noise):
    return noise if isinstance(noise, str) else noise.dist.name


@every_noise
def test_the_variance_of_the_noise(noise):
    """Known variances are used where noises are compared with softmax."""
    variance, expected = PerturbMax(noise, 3.0).noise_variance, NOISES[noise].var()
    if np.isfinite(expected):
        assert variance == pytest.approx(9 * expected, rel=1e-12)
    else:
        assert variance is None


def integral(integrand, points, tol):
    """Gauss's rule of 20 points on panels between points, halved until sums agree.

    The integrand returns a row of values for each node.
    """
    nodes, weights = np.polynomial.legendre.leggauss(20)
    points, last, error = np.unique(points), np.inf, np.inf
    with np.errstate(all="ignore"):
        while error > tol:
            half = np.diff(points)[:, None] / 2
            t = points[:-1, None] + half * (1 + nodes)
            total = (half * weights).ravel() @ integrand(t.ravel())
            error, last = np.abs(total - last).max(), total
            points = np.sort(np.append(points, (points[1:] + points[:-1]) / 2))
            assert len(points) < 20000
    return total


def reference(z, distribution):
    """Probabilities and potential of a row with largest score 0, by scipy."""
    low, high = (distribution.ppf(1e-20), distribution.isf(1e-20))
    if np.isfinite(distribution.support()[0]):
        low = max(low, distribution.support()[0])

    def integrand(t):
        # The tails of Cauchy noise reach to 1e15.
        x = np.sinh(t)[:, None]
        logcdf = distribution.logcdf(x - z)
        logs = distribution.logpdf(x - z) - logcdf
        p = np.exp(logs + logcdf.sum(axis=1, keepdims=True)) * np.cosh(t)[:, None]
        return np.column_stack([p, x * p.sum(axis=1, keepdims=True)])

    ends = [end for end in distribution.support() if np.isfinite(end)]
    kinks = np.add.outer([*ends, distribution.median()], z).ravel()
    edges = np.arcsinh([low, high])
    points = np.arcsinh(np.concatenate([kinks, kinks - 3, kinks + 3, [3.0]]))
    points = points[(points > edges[0]) & (points < edges[1])]
    total = integral(integrand, np.concatenate([edges, points]), tol=1e-11)
    return total[:-1], total[-1]


@every_noise
def test_probabilities_and_potential(noise):
    # Alone, far apart (for the reference not too far where tails are heavy) and close.
    far = 10 if noise in ("cauchy", T3) else 1e3
    for n_classes, spread in [(1, 1), (4, far), (9, 1.5)]:
        z = row_of_scores(n_classes, spread)
        p, potential = reference(z, NOISES[noise])
        mapping = PerturbMax(noise)
        np.testing.assert_allclose(mapping(z[None])[0], p, rtol=0, atol=1e-10)
        if noise in WITH_MEAN:
            value = mapping.potential(z[None])
            np.testing.assert_allclose(value, potential, atol=1e-10)
        else:
            assert not mapping.traits.has_potential


@pytest.mark.parametrize(
    ("noise", "n_classes", "spread"),
    [
        ("normal", 1000, 0.3),
        ("logistic", 1000, 3),
        ("laplace", 90, 0.1),
        ("laplace", 90, 3),
        ("uniform", 200, 0.3),
        ("cauchy", 1000, 0.01),
        ("cauchy", 1000, 3),
    ],
)
def test_many_classes(noise, n_classes, spread):
    z = row_of_scores(n_classes, spread)
    p = perturb_max(z, noise)
    rows = np.argsort(z)[[-1, -30, n_classes // 2]]
    for i in rows:
        assert p[i] == pytest.approx(one_probability(z, i, NOISES[noise]), abs=1e-10)
    assert p.sum() == pytest.approx(1, abs=1e-14)


# By name in closed form; the distribution by quadrature.
@pytest.mark.parametrize("noise", ["gumbel", stats.gumbel_r()], ids=name)
@pytest.mark.parametrize("n_classes", [2, 1000])
def test_gumbel_noise_is_softmax(n_classes, noise):
    rng = np.random.default_rng(n_classes)
    z = np.array([[1e-3], [1], [30], [1e3]]) * rng.standard_normal((4, n_classes))
    z[1, : n_classes // 2] = -np.inf
    direction = rng.standard_normal(z.shape)
    gumbel, softmax = PerturbMax(noise), Softmax()

    def assert_close(a, b):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-10)

    assert_close(gumbel(z), softmax(z))
    assert_close(gumbel.potential(z), softmax.potential(z) + np.euler_gamma)
    assert_close(gumbel.jvp(z, direction), softmax.jvp(z, direction))
    np.testing.assert_allclose(
        gumbel.log_probabilities(z), softmax.log_probabilities(z), atol=1e-8
    )
    q = rng.dirichlet(np.ones(min(n_classes, 10)), size=2)
    assert_close(gumbel.entropy(q), softmax.entropy(q) + np.euler_gamma)


def test_two_classes_in_closed_form():
    for gap in (0.0, 0.1, 0.9, 7.0, 1e3):
        assert_closed_form(gap)


def assert_closed_form(gap):
    # The distribution function of the difference of two noises.
    e = np.exp(-gap)
    closed = {
        "gumbel": 1 / (1 + e),
        "normal": stats.norm.cdf(gap / np.sqrt(2)),
        "logistic": two_logistic(gap),
        "laplace": 1 - e / 2 * (1 + gap / 2),
        "exponential": 1 - e / 2,
        "uniform": 1 - max(1 - gap, 0) ** 2 / 2,
        "cauchy": 0.5 + np.arctan(gap / 2) / np.pi,
    }
    for noise, p in closed.items():
        assert perturb_max([gap, 0], noise)[0] == pytest.approx(float(p), abs=1e-12)


def two_logistic(gap):
    """P[difference of two logistic noises < gap]; with many digits, they cancel."""
    if gap == 0:
        return 0.5
    with mp.workdps(1000):
        e = mp.exp(-gap)
        return (1 - e * (1 + gap)) / (1 - e) ** 2


# The probability is that of the largest score; integrals are compared above.
@pytest.mark.parametrize("noise", ["normal", "exponential", SKEWED], ids=name)
def test_simulation(noise):
    rng = np.random.default_rng(42)
    z = np.array([0.3, 0.0, -0.5, -1.0])
    draws = NOISES[noise].rvs(size=(10**6, 4), random_state=rng)
    share = np.bincount((z + draws).argmax(axis=1), minlength=4) / 10**6
    p = perturb_max(z, noise)
    assert (np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / 10**6)).all()


@pytest.mark.parametrize("gap", [10, 1000])
def test_logarithms_of_tiny_probabilities(gap):
    z = [[0.0, -gap]]
    normal = float(mp.log(mp.ncdf(-gap / mp.sqrt(2))))
    log_p = PerturbMax("normal").log_probabilities(z)[0, 1]
    assert log_p == pytest.approx(normal, abs=1e-6, rel=1e-13)
    laplace = -gap + np.log(0.5 + gap / 4)
    log_p = PerturbMax("laplace").log_probabilities(z)[0, 1]
    assert log_p == pytest.approx(laplace, abs=1e-8)
    with mp.workdps(1000):
        logistic = float(mp.log(1 - two_logistic(gap)))
    log_p = PerturbMax("logistic").log_probabilities(z)[0, 1]
    assert log_p == pytest.approx(logistic, abs=1e-8)
    cauchy = np.log(np.arctan(2 / gap) / np.pi)
    log_p = PerturbMax("cauchy").log_probabilities(z)[0, 1]
    assert log_p == pytest.approx(cauchy, abs=1e-8)
    log_p = PerturbMax("exponential").log_probabilities(z)[0, 1]
    assert log_p == pytest.approx(-gap - np.log(2), abs=1e-8)
    # It is unlikely that both noises are large: one of them covers the whole gap.
    log_p = PerturbMax(T3).log_probabilities(z)[0, 1]
    assert log_p == pytest.approx(np.log(2) + T3.logsf(gap), abs=12 / gap)


def test_logarithms_with_many_classes():
    z = np.array([0.0, -1.0, -3.0, -25.0, -40.0])

    def logs(x, i):
        others = np.delete(z, i)
        return mp.npdf(x - z[i]) * mp.fprod(mp.ncdf(x - o) for o in others)

    log_p = PerturbMax("normal").log_probabilities(z[None])[0]
    for i in [2, 4]:
        with mp.workdps(20):
            points = np.linspace(z[i] - 15, 15, 50)
            integral = mp.quad(
                lambda x, i=i: logs(x, i), points, method="gauss-legendre"
            )
            exact = float(mp.log(integral))
        assert log_p[i] == pytest.approx(exact, abs=1e-6)


def slope(function, z, direction, step=1e-5):
    ahead, behind = function(z + step * direction), function(z - step * direction)
    return (ahead - behind) / (2 * step)


@every_noise
def test_derivatives(noise):
    rng = np.random.default_rng(1)
    z, v, c = rng.standard_normal((3, 4, 5))
    mapping = PerturbMax(noise, 2.5)
    jacobian = mapping.jacobian(z)
    np.testing.assert_allclose(jacobian, jacobian.transpose(0, 2, 1), atol=1e-10)
    np.testing.assert_allclose(jacobian.sum(axis=2), 0, atol=1e-14)
    assert np.linalg.eigvalsh(jacobian).min() > -1e-12
    np.testing.assert_allclose(
        jacobian @ v[..., None], mapping.jvp(z, v)[..., None], atol=1e-12
    )
    np.testing.assert_allclose(mapping.jvp(z, v), slope(mapping, z, v), atol=1e-5)
    np.testing.assert_allclose(mapping.vjp(z, v), mapping.jvp(z, v), atol=1e-10)
    if mapping.traits.has_potential:
        np.testing.assert_allclose(
            slope(mapping.potential, z, v), (mapping(z) * v).sum(axis=1), atol=1e-7
        )
    if noise == "uniform":
        return
    logs = mapping.log_linearize(z - z.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        logs.jvp(v), slope(mapping.log_probabilities, z, v), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose((logs.jvp(v) * c).sum(1), (logs.vjp(c) * v).sum(1))


def test_second_derivatives():
    rng = np.random.default_rng(2)
    z, v, c = rng.standard_normal((3, 4, 5))
    z[0, 2] = -np.inf
    for noise, kind in product(SMOOTH, ("linearize", "log_linearize")):
        kernel = getattr(PerturbMax(noise, 1.7), kind)

        def linear(scores, kernel=kernel):
            return kernel(scores - scores.max(axis=1, keepdims=True))

        np.testing.assert_allclose(
            linear(z).vjp_derivative(c, v),
            slope(lambda scores, linear=linear: linear(scores).vjp(c), z, v),
            atol=1e-5,
            err_msg=f"{noise}, {kind}",
        )


@pytest.mark.parametrize("kind", ["linearize", "log_linearize"])
def test_second_derivatives_of_a_distribution_are_those_of_softmax(kind):
    rng = np.random.default_rng(2)
    z, v, c = rng.standard_normal((3, 4, 5))
    z[0, 2], c[0, 2] = -np.inf, 0
    z -= z.max(axis=1, keepdims=True)
    v[1] = 0
    product = getattr(PerturbMax(stats.gumbel_r()), kind)(z.copy()).vjp_derivative(c, v)
    exact = getattr(Softmax(), kind)(z).vjp_derivative(c, v)
    np.testing.assert_allclose(product, exact, atol=1e-6)
    loss = LogLoss(PerturbMax(stats.gumbel_r()))
    target = np.eye(5)[[0, 1, 3, 4]]
    np.testing.assert_allclose(
        loss.hessian_product(z, target, v),
        LogLoss(Softmax()).hessian_product(z, target, v),
        atol=1e-6,
    )


@every_noise
def test_scale_and_logarithms(noise):
    z = np.array([[1.0, 0.3, -np.inf, -0.2]])
    mapping = PerturbMax(noise, 2.0)
    np.testing.assert_allclose(mapping(z), PerturbMax(noise)(z / 2), atol=1e-14)
    ahead, behind = (PerturbMax(noise, 2 + h)(z) for h in (1e-4, -1e-4))
    derivative = mapping.scale_derivative(z)
    np.testing.assert_allclose(derivative, (ahead - behind) / 2e-4, atol=1e-6)
    moved = mapping.scale_derivative(z + 1e6)
    np.testing.assert_allclose(derivative, moved, atol=1e-8)
    z = np.stack([row_of_scores(8, spread, seed=3) for spread in (0.1, 1, 3)])
    mapping = PerturbMax(noise)
    p = mapping(z)
    np.testing.assert_allclose(
        np.exp(mapping.log_probabilities(z)), p, rtol=1e-6, atol=1e-10
    )
    assert (p > 0).all() or mapping.traits.has_zeros


@every_noise
def test_unavailable_classes_ties_and_types(noise):
    z = np.array([[0.5, -np.inf, -0.2, 0.5, -np.inf]])
    mapping = PerturbMax(noise)
    p = mapping(z)
    assert (p[0, [1, 4]] == 0).all()
    assert p[0, 0] == p[0, 3]
    np.testing.assert_allclose(p[:, [0, 2, 3]], mapping(z[:, [0, 2, 3]]), atol=1e-10)
    assert (mapping.log_probabilities(z)[0, [1, 4]] == -np.inf).all()
    assert (mapping.jvp(z, np.ones_like(z)) == 0).all()
    # With a class far below, too: generalised normal noise had a logarithm of -1e300.
    logs = mapping.log_linearize(np.array([[0.0, -np.inf, -1e3]]))
    assert logs.probabilities[0, 1] == -np.inf
    assert logs.vjp(np.array([[1.0, 0.0, 1.0]]))[0, 1] == 0
    np.testing.assert_array_equal(mapping([[-np.inf, 3.0]]), [[0, 1]])
    assert mapping([[7.0]]) == 1
    np.testing.assert_allclose(mapping(np.zeros((1, 4))), 0.25, atol=1e-14)
    huge = [[1e300, -1e300, 0.0], [1e300, 1e300, -1e300]]
    with np.errstate(all="raise", under="ignore"):
        p, log_p = mapping(huge), mapping.log_probabilities(huge)
    np.testing.assert_allclose(p, [[1, 0, 0], [0.5, 0.5, 0]], atol=1e-12)
    np.testing.assert_allclose(np.exp(log_p), p, atol=1e-12)
    z = row_of_scores(6, 2).astype(np.float32)[None]
    single = mapping(z)
    np.testing.assert_allclose(single, mapping(z.astype(float)), atol=2e-7)
    results = [single, mapping.jvp(z, z), mapping.log_probabilities(z)]
    if mapping.traits.has_potential:
        results.append(mapping.potential(z))
    assert {result.dtype for result in results} == {np.dtype(np.float32)}


@pytest.mark.parametrize("noise", WITH_MEAN, ids=name)
def test_entropy_is_conjugate_to_the_potential(noise):
    mapping = PerturbMax(noise, 1.5)
    z = np.stack([row_of_scores(6, spread, seed=5) for spread in (0, 0.1, 0.6, 2)])
    z[1, 2] = -np.inf
    p = mapping(z)
    inner = (p * np.where(p > 0, z, 0)).sum(axis=1)
    np.testing.assert_allclose(
        mapping.entropy(p), mapping.potential(z) - inner, atol=1e-9
    )
    # The entropy of equal shares is the expected maximum of noises at equal scores.
    sets = np.array([[0.5, 0, 0.5, 0], [0.25, 0.25, 0.25, 0.25]])
    expected = [mapping.potential(np.zeros((1, n)))[0] for n in (2, 4)]
    np.testing.assert_allclose(mapping.entropy(sets), expected, atol=1e-12)
    one_hot = mapping.entropy(np.eye(3))
    np.testing.assert_allclose(one_hot, 1.5 * NOISES[noise].mean(), atol=1e-12)


def test_quantile_average_approaches_the_integral():
    z = np.array([[0.4, 0.1, -np.inf, -0.3]])
    for noise in NOISES:
        exact = perturb_max(z, noise)
        errors = [
            np.abs(PerturbMax(noise, n_quantiles=n)(z) - exact).max()
            for n in (10, 1000)
        ]
        assert errors[1] < 2e-3, noise
        assert errors[1] < errors[0] / 5 or errors[0] < 1e-3, noise


def test_quantile_average_as_published():
    z, n = np.array([0.4, 0.1, -0.3]), 7
    x = stats.norm.ppf(np.arange(1, n + 1) / (n + 1))
    wins = [
        np.mean(np.prod([stats.norm.cdf(z[i] + x - z[j]) for j in {0, 1, 2} - {i}], 0))
        for i in range(3)
    ]
    mapping = PerturbMax("normal", n_quantiles=n)
    np.testing.assert_allclose(mapping(z[None])[0], wins / np.sum(wins), atol=1e-13)
    assert not mapping.traits.has_potential
    v = np.array([[1.0, -2.0, 0.5]])
    np.testing.assert_allclose(mapping.jvp(z[None], v), slope(mapping, z[None], v))
    c = np.array([[0.3, 1.0, -1.0]])
    transposed = (mapping.vjp(z[None], c) * v).sum()
    np.testing.assert_allclose((mapping.jvp(z[None], v) * c).sum(), transposed)
    second = mapping.linearize(z[None] - z.max()).vjp_derivative(c, v)
    bend = slope(lambda scores: mapping.vjp(scores, c), z[None], v)
    np.testing.assert_allclose(second, bend, atol=1e-8)


class Density:
    def logpdf(self, x):
        return stats.norm.logpdf(x)


class NoMean(Density):
    __hash__ = None

    def logcdf(self, x):
        return stats.norm.logcdf(x)


def test_any_object_with_the_two_methods():
    z = row_of_scores(4, 1)[None]
    mapping = PerturbMax(NoMean())
    np.testing.assert_allclose(mapping(z), PerturbMax("normal")(z), atol=1e-11)
    assert not mapping.traits.has_potential


def test_bad_parameters_are_refused():
    z = [[0.0, 1.0]]
    with pytest.raises(ValueError, match=r"\['cauchy', .*'uniform'\].*'gauss'"):
        PerturbMax("gauss")(z)
    with pytest.raises(ValueError, match="has no logcdf"):
        perturb_max(z, Density())
    with pytest.raises(ValueError, match="has no logpdf"):
        perturb_max(z, 3)
    for bad in [stats.t, stats.t(-1), stats.norm(loc=[0, 1, 2])]:
        with pytest.raises(
            ValueError, match="noise must be a single distribution, whose"
        ):
            PerturbMax(bad)(z)
    for bad in [0, -1.0, np.nan, "1"]:
        with pytest.raises(ValueError, match="scale"):
            PerturbMax(scale=bad)(z)
    with pytest.raises(ValueError, match="n_quantiles"):
        PerturbMax(n_quantiles=0)(z)
    with pytest.raises(ValueError, match="tol"):
        PerturbMax(tol=0)(z)
    with pytest.raises(ValueError, match="LogLoss"):
        FenchelYoungLoss(PerturbMax("cauchy")).value(z, [[1, 0]])
    with pytest.raises(TypeError, match="potential"):
        PerturbMax("cauchy").potential(z)
    with pytest.raises(TypeError, match="entropy"):
        PerturbMax(stats.t(1)).entropy(z)


class Methods:
    """An object with two functions as the methods of a distribution."""

    def __init__(self, logpdf, logcdf):
        self.logpdf, self.logcdf = logpdf, logcdf


def logcdf_of_an_angle(x):
    """That of scipy's vonmises(0): it rises by one with each turn, from below 0."""
    with np.errstate(all="ignore"):
        return np.log(0.5 + x / (2 * np.pi))


def density_with_gaps(x):
    return np.where(np.abs(x) > 3, np.nan, stats.norm.logpdf(x))


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (Methods(stats.norm.logpdf, stats.norm.logsf), "a distribution function that"),
        (Methods(np.zeros_like, np.zeros_like), "a distribution function that rises"),
        (
            Methods(lambda x: np.full_like(x, -np.log(2 * np.pi)), logcdf_of_an_angle),
            "a distribution function that rises from 0 to 1",
        ),
        (
            Methods(density_with_gaps, stats.norm.logcdf),
            "a density .* NaN; logpdf .* at -4.75",
        ),
        (
            Methods(stats.norm.logpdf, stats.norm(0, 5).logcdf),
            "a density .* derivative of",
        ),
        (
            Methods(stats.norm(0.1).logpdf, stats.norm.logcdf),
            "a density .* derivative of",
        ),
    ],
)
def test_methods_that_are_not_of_one_distribution_are_refused(noise, message):
    """They gave NaN, or numbers that were not the probabilities of any noise."""
    with pytest.raises(ValueError, match=f"noise must have {message}"):
        PerturbMax(noise)([[0.0, 0.5, 1.0]])


@pytest.mark.parametrize(
    "noise",
    [
        stats.t(0.5),
        stats.gamma(0.3),
        stats.gamma(0.01),
        stats.beta(0.5, 0.5),
        stats.dweibull(0.3),
        stats.levy(),
        stats.norm(1e6, 1e-3),
        stats.triang(0.3),
    ],
)
def test_distributions_with_poles_and_long_tails_are_accepted(noise):
    scores = np.array([[0.0, 0.5, 1.0]])
    draws = np.quantile(noise.rvs(100_000, random_state=0), np.arange(0.5, 1e4) / 1e4)
    p = PerturbMax(noise, n_quantiles=1000)(scores)
    ranks = [np.searchsorted(draws, draws + 1.0 - z) / 1e4 for z in scores[0]]
    last = np.mean(ranks[0] * ranks[1])
    assert p[0, 2] == pytest.approx(last, abs=0.02)


def test_distributions_are_parameters_like_others():
    mapping = PerturbMax(stats.t(3), scale=2.0)
    copy = clone(mapping)
    assert "scale=2.0" in repr(copy)
    assert copy.get_params()["noise"].kwds == mapping.noise.kwds
    z = row_of_scores(3, 1)[None]
    np.testing.assert_array_equal(copy(z), mapping(z))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mapping))(z), mapping(z))


def test_log_loss_far_from_the_target():
    # Finite, with a gradient that pulls the true class up, and a Hessian.
    noises = [noise for noise in NOISES if noise != "uniform"]
    for noise, gap in product(noises, (50.0, 1e3, 1e6)):
        loss = LogLoss(PerturbMax(noise))
        z, target = [[0.0, -gap, -3.0]], [[0, 1, 0]]
        value, gradient = loss.value_and_gradient(z, target)
        assert np.isfinite(value).all() and value > 5
        assert gradient[0, 1] < 0
        size = np.abs(gradient).max()
        np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12 * size)
        assert np.isfinite(loss.hessian_product(z, target, [[0.0, 1.0, 0.0]])).all()


@pytest.mark.parametrize("gap", [0.0, 1.0, 5.0, 15.0, 30.0])
def test_the_gradient_of_the_log_loss_of_two_classes(gap):
    # The loss is -log Φ(u) with u = -+g/√2, accurate for large u, too.
    loss = LogLoss(PerturbMax("normal"))
    pair = loss.value_and_gradient([[0.0, -gap]] * 2, np.eye(2))
    for i, sign in enumerate((1, -1)):
        with mp.workdps(50):
            u = sign * mp.mpf(gap) / mp.sqrt(2)
            rate = float(mp.npdf(u) / mp.ncdf(u) / mp.sqrt(2))
            value = float(-mp.log(mp.ncdf(u)))
        assert pair[0][i] == pytest.approx(value, rel=1e-9, abs=1e-12)
        expected = rate * sign * np.array([-1, 1])
        np.testing.assert_allclose(pair[1][i], expected, rtol=1e-7, atol=1e-13)


@pytest.mark.parametrize(
    "noise",
    ["normal", "logistic", "laplace", "exponential", "cauchy", "student_t"],
)
def test_the_gradient_of_the_log_loss_of_labels(noise):
    # Rows of all spreads together: those that share nodes, and those that do not.
    rng = np.random.default_rng(3)
    z = np.array([[0], [0.02], [1], [4], [30]]) * rng.standard_normal((5, 7))
    z[2, 1] = -np.inf
    target = np.eye(7)[[0, 3, 2, 6, 5]]
    loss = LogLoss(PerturbMax(noise, 0.8))
    gradient = loss.value_and_gradient(z, target)[1]
    assert gradient[2, 1] == 0
    for j, unit in enumerate(np.eye(7)):
        change = slope(lambda scores: loss.value(scores, target), z, unit, 1e-4)
        np.testing.assert_allclose(gradient[:, j], change, rtol=3e-6, atol=3e-6)
    # A target of several classes goes another way.
    mixed = loss.value_and_gradient(z, 0.5 * target + 0.5 * np.eye(7)[[0] * 5])[1]
    first = loss.value_and_gradient(z, np.eye(7)[[0] * 5])[1]
    np.testing.assert_allclose(mixed, (gradient + first) / 2, rtol=1e-6, atol=1e-7)


def label_reference(z, label, distribution):
    """p_y and its gradient, by the formula with densities, by scipy."""
    others = np.flatnonzero(np.arange(len(z)) != label)

    def integrand(t):
        x = np.sinh(t)[:, None]
        cdf, pdf = distribution.cdf(x - z), distribution.pdf(x - z)
        values = [cdf[:, others].prod(axis=1)]
        for j in others:
            values.append(-pdf[:, j] * np.delete(cdf, [j, label], axis=1).prod(axis=1))
        return np.stack(values, axis=1) * (pdf[:, label] * np.cosh(t))[:, None]

    ends = [end for end in distribution.support() if np.isfinite(end)]
    kinks = np.add.outer([*ends, distribution.median(), 3.0, -3.0], z).ravel()
    # Beyond these ends the label's density is next to nothing.
    tails = np.array([distribution.ppf(1e-20), distribution.isf(1e-20)])
    edges = np.arcsinh(z[label] + tails)
    points = np.clip(np.append(np.arcsinh(kinks), edges), *edges)
    total = integral(integrand, points, tol=1e-12)
    gradient = np.zeros(len(z))
    gradient[others] = total[1:]
    gradient[label] = -total[1:].sum()
    return total[0], gradient


@every_noise
def test_the_log_loss_of_labels_against_quadrature(noise):
    loss = LogLoss(PerturbMax(noise))
    z = np.stack(
        [
            row_of_scores(5, 0.4),
            row_of_scores(5, 5.0, seed=4),
            row_of_scores(5, 5.0, seed=4),
        ]
    )
    labels = np.array([2, z[1].argsort()[-2], z[2].argmax()])
    if noise == "uniform":
        z[1] /= 20
    values, gradient = loss.value_and_gradient(z, np.eye(5)[labels])
    epsilon = 1e-6 if noise == "uniform" else 0
    for i, label in enumerate(labels):
        p, slopes = label_reference(z[i], label, NOISES[noise])
        value = -np.log((p + epsilon) / (1 + 5 * epsilon))
        np.testing.assert_allclose(values[i], value, rtol=1e-8, atol=1e-8)
        exact = -slopes / (p + epsilon)
        np.testing.assert_allclose(gradient[i], exact, rtol=1e-8, atol=1e-8)


def test_the_log_loss_of_a_row_does_not_depend_on_the_others():
    rng = np.random.default_rng(5)
    spreads = np.array([0.1, 1, 4, 20, 100])[rng.integers(5, size=60)]
    z = spreads[:, None] * rng.standard_normal((60, 6))
    target = np.eye(6)[rng.integers(6, size=60)]
    target[7] = 1 / 6
    for noise in ("normal", "laplace", "exponential", "uniform", "cauchy"):
        loss = LogLoss(PerturbMax(noise))
        values, gradient = loss.value_and_gradient(z, target)
        for i in 0, 7, 31, 59:
            row = loss.value_and_gradient(z[i : i + 1], target[i : i + 1])
            np.testing.assert_allclose(row[0][0], values[i], rtol=1e-13, atol=1e-15)
            np.testing.assert_allclose(row[1][0], gradient[i], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("gap", [1.0, 100.0, 1e4, 1e6])
def test_the_hessian_of_normal_noise_far_from_the_target(gap):
    # The Hessian of -log Φ(u) with u = -g/√2 and h = φ/Φ is h (h + u) / 2.
    with mp.workdps(50):
        u = -mp.mpf(gap) / mp.sqrt(2)
        h = mp.npdf(u) / (mp.erfc(mp.mpf(gap) / 2) / 2)
        exact = float(h * (h + u) / 2)
    loss = LogLoss(PerturbMax("normal"))
    product = loss.hessian_product([[0.0, -gap]], [[0, 1]], [[0.0, 1.0]])
    # The logarithm of the probability is -gap²/4: its rounding is what is left.
    atol = 1e-7 + 1e-15 * gap**2
    np.testing.assert_allclose(product, [[-exact, exact]], rtol=0, atol=atol)


@pytest.mark.parametrize(("gap", "far"), [(3.0, 100.0), (12.0, 100.0), (12.0, 1e6)])
def test_a_class_far_below_changes_nothing(gap, far):
    """The third class is never the largest: the others are as in two classes."""
    z, with_third = np.array([[0.0, -gap]]), np.array([[0.0, -gap, -far]])
    normal = PerturbMax("normal")
    expected = [float(mp.log(mp.ncdf(x / mp.sqrt(2)))) for x in (gap, -gap)]
    log_p = normal.log_probabilities(with_third)[0]
    np.testing.assert_allclose(log_p[:2], expected, rtol=0, atol=1e-8)
    # Where it is the largest, the two others are below it: three normal densities.
    exponent = -np.var(with_third) * 3 / 2
    assert log_p[2] == pytest.approx(exponent, rel=0.01)
    loss, direction = LogLoss(normal), np.array([[1.0, -2.0, 0.5]])
    value = loss.value(with_third, [[0, 1, 0]])
    np.testing.assert_allclose(value, -expected[1], rtol=1e-10)
    product = loss.hessian_product(with_third, [[0, 1, 0]], direction)
    two = loss.hessian_product(z, [[0, 1]], direction[:, :2])
    np.testing.assert_allclose(product[:, :2], two, atol=1e-7)
    np.testing.assert_allclose(product[0, 2], 0, atol=1e-7)


@pytest.mark.parametrize(
    "noise", ["normal", "logistic", "laplace", "uniform", "cauchy"]
)
@pytest.mark.parametrize("spread", [0.1, 1, 10])
def test_as_many_classes_as_letters(noise, spread):
    # Beside other quadrature: the mean over a class's own noise.
    z = row_of_scores(26, spread, seed=7)
    p = perturb_max(z, noise)
    for i in np.argsort(z)[[-1, -3, -12]]:
        exact = one_probability(z, i, NOISES[noise])
        assert p[i] == pytest.approx(exact, abs=1e-10)


def test_rows_do_not_depend_on_each_other():
    z = np.stack([row_of_scores(5, spread) for spread in (0.01, 1, 5, 1e3)])
    for noise in ("normal", "logistic", "laplace", "uniform", "cauchy"):
        alone = np.concatenate([perturb_max(row[None], noise) for row in z])
        np.testing.assert_allclose(perturb_max(z, noise), alone, rtol=0, atol=1e-15)
    # Nor on how many they are, where they share nodes.
    many = np.random.default_rng(0).normal(size=(300, 26)) * 2
    for noise in "normal", "cauchy", "laplace":
        p = perturb_max(many, noise)
        for i in 0, 93, 128, 299:
            alone = perturb_max(many[i], noise)
            np.testing.assert_allclose(alone, p[i], rtol=0, atol=1e-15)


def test_many_rows_with_wide_gaps_and_laplace_noise():
    # More gaps of each width than are computed at a time; e / 2 (1 + gap / 2) is the
    # probability of the second of two classes.
    gap = np.concatenate([np.geomspace(1e-3, 700, 20_000), [1e4, 1e300]])
    p = perturb_max(np.column_stack([0 * gap, -gap]), "laplace")
    second = np.exp(-gap) / 2 * (1 + gap / 2)
    np.testing.assert_allclose(p, np.column_stack([1 - second, second]), atol=1e-11)


def test_quantiles_of_many_classes_and_large_scores():
    z = 0.01 * np.random.default_rng(0).standard_normal((2, 1200))
    p = perturb_max(z, n_quantiles=1)
    # At the median of the noise a class wins with about exp(h(0) Σ_j (z_i - z_j)).
    rate = 1200 * stats.norm.pdf(0) / stats.norm.cdf(0)
    best = z.argmax(axis=1)
    np.testing.assert_array_equal(p.argmax(axis=1), best)
    gap = np.sort(z, axis=1)[:, -1] - np.sort(z, axis=1)[:, -2]
    ratio = np.sort(p, axis=1)[:, -1] / np.sort(p, axis=1)[:, -2]
    np.testing.assert_allclose(np.log(ratio), rate * gap, rtol=0.05)
    mapping = PerturbMax("uniform", n_quantiles=2)
    np.testing.assert_array_equal(mapping([[0, 1e16, 2e16]]), [[0, 0, 1]])


@pytest.mark.parametrize("scale", [1e-5, 0.57, 1.0])
def test_scores_near_the_largest_number(scale):
    z = np.array([[-1e308, 0, 0]])
    for noise in ("cauchy", "logistic", "laplace", "normal"):
        mapping = PerturbMax(noise, scale)
        log_p = mapping.log_probabilities(z)
        assert log_p[0, 0] < -600
        np.testing.assert_allclose(log_p[0, 1:], np.log(0.5), atol=1e-8)
        np.testing.assert_allclose(mapping.scale_derivative(z), 0, atol=1e-20)
