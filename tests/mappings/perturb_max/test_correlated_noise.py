"""Correlated noise against SciPy's multivariate normal distribution and simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats
from sklearn.base import clone

from skprob import LinearClassifier, PerturbMaxClassifier
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import PerturbMax, Softmax, StudentT

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(3, 4))
LOADINGS = RNG.normal(size=(4, 2))


def bivariate(z, covariance):
    """P[class i has the largest score], from the distribution of two differences."""
    p = []
    for i in range(3):
        differences = np.delete(np.eye(3), i, axis=0) - np.eye(3)[i]
        p.append(
            bivariate_cdf(-differences @ z, differences @ covariance @ differences.T)
        )
    return p


def bivariate_cdf(x, cov):
    """By Gaussian conditioning: SciPy's own is within 1e-6 only before its 1.17."""
    slope = cov[0, 1] / cov[0, 0]
    deviation = np.sqrt(cov[1, 1] - slope * cov[0, 1])
    first = stats.norm(scale=np.sqrt(cov[0, 0]))

    def density(t):
        return first.pdf(t) * stats.norm.cdf((x[1] - slope * t) / deviation)

    least, most = first.ppf(1e-16), min(x[0], first.isf(1e-16))
    return integrate.quad(density, least, most, epsabs=1e-12, limit=200)[0]


@pytest.mark.parametrize("size", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("n_factors", [1, 2])
def test_three_classes_by_the_bivariate_normal_distribution(size, n_factors):
    rng = np.random.default_rng(n_factors)
    loadings, z = size * rng.normal(size=(3, n_factors)), rng.normal(size=3)
    scale = 1.5
    p = PerturbMax("normal", scale, loadings=loadings)([z])[0]
    covariance = scale**2 * (np.eye(3) + loadings @ loadings.T)
    assert_allclose(p, bivariate(z, covariance), rtol=0, atol=1e-8)


@pytest.mark.parametrize("noise", ["gumbel", "logistic", "exponential"])
def test_simulation(noise):
    distribution = {
        "gumbel": stats.gumbel_r(),
        "logistic": stats.logistic(),
        "exponential": stats.expon(),
    }[noise]
    rng, n = np.random.default_rng(5), 400_000
    draws = distribution.rvs(size=(n, 4), random_state=rng)
    draws += rng.normal(size=(n, 2)) @ LOADINGS.T
    perturbed = SCORES[0] + draws
    share = np.bincount(perturbed.argmax(axis=1), minlength=4) / n
    mapping = PerturbMax(noise, loadings=LOADINGS)
    p = mapping(SCORES[:1])[0]
    assert (np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / n)).all()
    largest = perturbed.max(axis=1)
    error = 4.5 * largest.std() / np.sqrt(n)
    assert_allclose(mapping.potential(SCORES[:1])[0], largest.mean(), atol=error)


def test_more_factors_by_quasi_random_nodes():
    loadings = np.random.default_rng(6).normal(size=(6, 5))
    z = np.random.default_rng(7).normal(size=(1, 6))

    def mapping(n_points, random_state=0):
        return PerturbMax(
            "normal", loadings=loadings, n_points=n_points, random_state=random_state
        )

    # The orthant probabilities by SciPy's own quasi-random integration.
    differences = np.delete(np.eye(6), 0, axis=0) - np.eye(6)[0]
    cov = differences @ (np.eye(6) + loadings @ loadings.T) @ differences.T
    exact = stats.multivariate_normal(cov=cov, abseps=1e-6, maxpts=10**6).cdf(
        -differences @ z[0]
    )
    assert_allclose(mapping(2**13)(z)[0, 0], exact, atol=2e-4)
    assert_array_equal(mapping(64)(z), mapping(64)(z))
    assert np.abs(mapping(64)(z) - mapping(64, 1)(z)).max() > 1e-6


@pytest.mark.parametrize("noise", ["normal", "gumbel"])
def test_what_moves_all_scores_alike_changes_nothing(noise):
    independent = PerturbMax(noise)
    for loadings in np.zeros((4, 2)), np.ones((4, 1)) * 3, np.zeros((4, 0)):
        mapping = PerturbMax(noise, loadings=loadings)
        assert_allclose(mapping(SCORES), independent(SCORES), atol=1e-15)
        assert_allclose(mapping.potential(SCORES), independent.potential(SCORES))
    moved = PerturbMax(noise, loadings=np.add(LOADINGS, [2.0, -1.0]))
    assert_allclose(moved(SCORES), PerturbMax(noise, loadings=LOADINGS)(SCORES))
    # A class that is not available takes no part.
    z = np.array([[0.3, -np.inf, 0.0, 0.1]])
    p = PerturbMax(noise, loadings=LOADINGS)(z)
    few = PerturbMax(noise, loadings=LOADINGS[[0, 2, 3]])(z[:, [0, 2, 3]])
    assert p[0, 1] == 0
    assert_allclose(p[:, [0, 2, 3]], few, atol=1e-8)


@pytest.mark.parametrize("noise", ["normal", "gumbel"])
def test_derivatives_potential_and_entropy(noise):
    mapping = PerturbMax(noise, 1.3, loadings=LOADINGS)
    rng, step = np.random.default_rng(8), 1e-5
    c, v = rng.normal(size=(2, *SCORES.shape))

    def slope(function):
        ahead, behind = function(SCORES + step * v), function(SCORES - step * v)
        return (ahead - behind) / (2 * step)

    p = mapping(SCORES)
    assert_allclose(slope(mapping.potential), (p * v).sum(axis=1), atol=1e-8)
    assert_allclose(mapping.jvp(SCORES, v), slope(mapping), atol=1e-8)
    assert_allclose(mapping.vjp(SCORES, v), mapping.jvp(SCORES, v), atol=1e-12)
    assert_allclose(mapping.log_probabilities(SCORES), np.log(p), atol=1e-7)
    inner = (p * SCORES).sum(axis=1)
    assert_allclose(mapping.entropy(p), mapping.potential(SCORES) - inner, atol=1e-8)
    for kind in "linearize", "log_linearize":

        def linear(z, kind=kind):
            return getattr(mapping, kind)(z - z.max(axis=1, keepdims=True))

        second = linear(SCORES).vjp_derivative(c, v)
        numerical = slope(lambda z, linear=linear: linear(z).vjp(c))
        assert_allclose(second, numerical, atol=1e-6)
    assert mapping(SCORES.astype(np.float32)).dtype == np.float32
    # The entropy of a class depends on its variance: the loss is zero at its minimum.
    loss = FenchelYoungLoss(mapping)
    assert_allclose(loss.value(SCORES, p), 0, atol=1e-8)


def test_independence_of_irrelevant_alternatives_is_given_up():
    # The red bus and the blue bus share what a bus has.
    alike = PerturbMax("gumbel", loadings=[[0.0], [8.0], [8.0]])
    p = alike([[0.0, 0.0, 0.0]])[0]
    assert p[0] > 0.45
    assert_allclose(Softmax()([[0.0, 0.0, 0.0]])[0, 0], 1 / 3)


@pytest.mark.parametrize("loss", ["auto", "log"])
def test_it_can_be_fitted(loss):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, 2))
    y = (X @ rng.normal(size=(2, 3)) + rng.gumbel(size=(40, 3))).argmax(axis=1)
    mapping = PerturbMax("gumbel", loadings=[[0.0], [1.0], [1.0]])
    model = LinearClassifier(mapping, loss=loss, tol=1e-6).fit(X, y)
    scores = model.decision_function(X)
    gradient = LogLoss if loss == "log" else FenchelYoungLoss
    rows = gradient(mapping).value_and_gradient(scores, np.eye(3)[y])[1]
    assert_allclose(rows.T @ X, -model.coef_, atol=1e-4)


def test_parameters():
    mapping = PerturbMax("normal", loadings=LOADINGS)
    assert_array_equal(clone(mapping)(SCORES), mapping(SCORES))
    for bad in (
        [0.0, 1.0],
        [[np.nan], [0.0]],
        [["a"], ["b"]],
        [[1.0], [0.0, 1.0]],
        [[1.0 + 2.0j], [0.0]],
        np.array([[1.0], [0.0]], dtype=complex),
    ):
        message = "loadings must be finite real numbers of shape"
        with pytest.raises(ValueError, match=message):
            PerturbMax(loadings=bad)([[0.0, 1.0]])
        with pytest.raises(ValueError, match=message):
            PerturbMaxClassifier(loadings=bad).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="a row for each of the 2 classes; got 4 rows"):
        mapping([[0.0, 1.0]])
    for name in "n_points", "random_state":
        with pytest.raises(ValueError, match=name):
            PerturbMax(loadings=LOADINGS, **{name: -1})(SCORES)


def test_the_derivative_in_the_shape_of_the_noise():
    """By differences of the probabilities, averaged over a common factor."""
    scores = np.array([[0.3, 0.0, -1.2], [0.0, -3.0, 0.1]])

    def mapping(df):
        return PerturbMax(StudentT(df), loadings=[[0.0], [1.0], [0.8]], tol=1e-12)

    step = 1e-4
    ahead, behind = (mapping(3.0 + h)(scores) for h in (step, -step))
    rate = mapping(3.0).shape_derivative(scores)
    assert_allclose(rate, (ahead - behind) / (2 * step), atol=1e-8)
    assert np.abs(rate).max() > 1e-3
