"""The adaptive route: its rule, noises of any scale, and products without matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from skprob.losses import LogLoss
from skprob.mappings import PerturbMax
from skprob.mappings.perturb_max._panels import gauss_legendre

GAPS = np.array([0.3, 4.0, 1e3, 1e6])


@pytest.mark.parametrize(
    ("order", "pole"), [(7, 3.0), (7, 1.2), (14, 1.5), (20, 1.2), (24, 1.5)]
)
def test_the_estimated_error_of_the_rule(order, pole):
    # The integral of 1 / (pole - x) over [-1, 1] is log((pole + 1) / (pole - 1)).
    rule = gauss_legendre(order, 2)
    values = 1 / (pole - rule.nodes[None, :, None])
    integral, estimate = rule.integral_and_error(values)
    error = abs(integral[0, 0] - np.log((pole + 1) / (pole - 1)))
    assert error <= 10 * estimate[0, 0] + 2e-14
    assert estimate[0, 0] <= 1e3 * error + 2e-14


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e3])
def test_a_distribution_of_any_scale(scale):
    # The difference of two Cauchy noises is Cauchy noise of twice the scale.
    mapping = PerturbMax(stats.cauchy(scale=scale))
    z = scale * np.array([[0.0, -0.3], [0.0, -4.0], [0.0, -1e3], [0.0, -1e6]])
    exact = np.log(np.arctan(2 / GAPS) / np.pi)
    assert_allclose(mapping.log_probabilities(z)[:, 1], exact, rtol=0, atol=1e-8)
    assert_allclose(mapping(z)[:, 1], np.exp(exact), rtol=0, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_log_probabilities_far_from_the_largest_score(scale):
    # With exponential noise of scale s the second class has exp(-gap / s) / 2.
    gaps = np.array([1.0, 30.0, 5e3])
    z = scale * np.column_stack([0 * gaps, -gaps])
    log_p = PerturbMax(stats.expon(scale=scale)).log_probabilities(z)
    assert_allclose(log_p[:, 1], -gaps - np.log(2), rtol=1e-12, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("noise", ["normal", "exponential"])
def test_probabilities_that_underflow_a_float(noise, scale):
    """Their logarithms are of full precision on both sides of the underflow."""
    if noise == "normal":
        distribution, gaps = stats.norm(scale=scale), np.linspace(30, 65, 36)
        exact = stats.norm.logcdf(-gaps / np.sqrt(2))
        slope = np.exp(stats.norm.logpdf(gaps / np.sqrt(2)) - exact) / np.sqrt(2)
    else:
        distribution, gaps = stats.expon(scale=scale), np.linspace(580, 800, 23)
        exact, slope = -gaps - np.log(2), np.ones(len(gaps))
    z = scale * np.column_stack([0 * gaps, -gaps])
    mapping = PerturbMax(distribution)
    assert_allclose(mapping.log_probabilities(z)[:, 1], exact, rtol=1e-13, atol=1e-8)
    # A row with one label has a quadrature of its own.
    target = np.tile([0.0, 1.0], (len(z), 1))
    values, gradient = LogLoss(mapping).value_and_gradient(z, target)
    assert_allclose(values, -exact, rtol=1e-13, atol=1e-8)
    assert_allclose(gradient, np.outer(slope / scale, [1, -1]), rtol=1e-7)


@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_derivatives_of_more_classes_than_have_matrices(noise):
    rng = np.random.default_rng(0)
    z, v, c = rng.normal(size=(3, 2, 120))
    z[0, 3] = -np.inf
    mapping, step = PerturbMax(noise, tol=1e-12), 1e-4

    def linear(scores, kind):
        return getattr(mapping, kind)(scores - scores.max(axis=1, keepdims=True))

    for kind in "linearize", "log_linearize":
        ahead, behind = linear(z + step * v, kind), linear(z - step * v, kind)
        known, size = linear(z, kind), 2 * step
        change = np.zeros_like(z)
        is_finite = np.isfinite(known.probabilities)
        np.subtract(
            ahead.probabilities, behind.probabilities, out=change, where=is_finite
        )
        assert_allclose(known.jvp(v.copy()), change / size, rtol=1e-5, atol=1e-6)
        inner = (known.vjp(c) * v).sum(axis=1)
        assert_allclose(inner, (known.jvp(v.copy()) * c).sum(axis=1), rtol=1e-9)
        bend = (ahead.vjp(c) - behind.vjp(c)) / size
        assert_allclose(known.vjp_derivative(c, v), bend, rtol=1e-4, atol=1e-5)
    # A product with each class took 18 of 19 s of a fit to 240 rows with 120 classes.
    diagonal = linear(z, "linearize").jacobian.diagonal()
    for k in (0, 3, 7, int(z[1].argmax())):
        e = np.eye(120)[k]
        moved = linear(z + step * e, "linearize").probabilities
        moved = moved - linear(z - step * e, "linearize").probabilities
        assert_allclose(diagonal[:, k], moved[:, k] / size, rtol=1e-5, atol=1e-8)
