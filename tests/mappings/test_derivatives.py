"""Jacobians against fifty digits, and what is built on them against differences."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from skprob._utils.scores import standard_scores
from skprob.mappings import Entmax, Softmax, Temperature
from skprob.mappings.entmax._steep_jacobian import entmax_jacobian

from . import references
from .all_mappings import each, has_jacobian

ALPHAS = [0.1, 0.5, 0.9, 1, 1 + 1e-12, 1.05, 1.25, 1.5, 1.75, 2, 2.5, 6]


def interior(n_samples, n_classes, seed=0):
    """Scores at which supports of all sizes occur, away from the kinks."""
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n_samples, n_classes))
        * np.geomspace(0.05, 2, n_samples)[:, None]
    )


@pytest.mark.parametrize("alpha", ALPHAS)
def test_jacobian(alpha):
    """Along one direction: what the products do with the others is in test_common."""
    scores = interior(8, 4)[1::2] if alpha <= 2 else 0.3 * interior(2, 4)
    direction = np.array([1.0, -0.5, 0.25, 2.0])
    sizes = set()
    for row, jacobian in zip(scores, Entmax(alpha).jacobian(scores), strict=True):
        expected = np.array(references.derivative(row, direction, alpha), dtype=float)
        tolerance = 1e-13 * max(1, np.abs(expected).max() ** 2)
        product = jacobian @ direction
        np.testing.assert_allclose(product, expected, rtol=1e-9, atol=tolerance)
        sizes.add(np.count_nonzero(Entmax(alpha)(row[None])))
    assert sizes == {4} if alpha <= 1.25 else len(sizes) > 1


def moved(mapping, scores, direction, step):
    """Standard scores a step along a direction."""
    return standard_scores(scores + step * direction, mapping.traits.is_shift_invariant)


def assert_differences_agree(function, derivative, step=1e-6):
    difference = (function(step) - function(-step)) / (2 * step)
    tolerance = 1e-5 * max(1, np.abs(derivative).max())
    np.testing.assert_allclose(difference, derivative, rtol=1e-5, atol=tolerance)


@each(has_jacobian)
def test_derivatives_are_limits_of_differences(mapping):
    scores = interior(12, 4, seed=1)
    rng = np.random.default_rng(2)
    direction, cotangent = rng.standard_normal((2, *scores.shape))

    def at(kernel, step):
        return getattr(mapping, kernel)(moved(mapping, scores, direction, step))

    assert_differences_agree(
        lambda step: mapping(scores + step * direction), mapping.jvp(scores, direction)
    )
    for kernel in ("linearize", "log_linearize"):
        linear = at(kernel, 0)
        finite = linear.probabilities > -np.inf
        product = linear.jvp(direction.copy())

        def value(step, kernel=kernel, finite=finite):
            return np.where(finite, at(kernel, step).probabilities, 0)

        assert_differences_agree(value, product)
        np.testing.assert_allclose(
            (cotangent * product).sum(axis=1),
            (linear.vjp(cotangent) * direction).sum(axis=1),
            rtol=1e-9,
        )
        assert linear.vjp_derivative is not None, "the log loss needs it"
        assert_differences_agree(
            lambda step, kernel=kernel: at(kernel, step).vjp(cotangent),
            linear.vjp_derivative(cotangent, direction),
        )
    np.testing.assert_allclose(linear.probabilities, mapping.log_probabilities(scores))
    closed_form = at("linearize", 0).jacobian
    if closed_form is not None:
        expected = np.diagonal(mapping.jacobian(scores), axis1=1, axis2=2)
        np.testing.assert_allclose(closed_form.diagonal(), expected, atol=1e-15)


def test_who_has_a_formula_for_the_diagonal():
    """With alpha=3 and 1,000 classes, products with each class took 39 s of a fit."""
    for mapping in (Softmax(), Entmax(), Entmax(2), Entmax(3), Temperature(Entmax())):
        assert mapping.linearize(np.zeros((1, 2))).jacobian is not None


@pytest.mark.parametrize("alpha", [2.01, 2.5, 3, 10])
def test_the_diagonal_is_precise_where_one_slope_is_far_above_the_others(alpha):
    """J = diag(s) - s s' / sum(s) with s = p^(2 - alpha), in 50 digits."""
    p = np.array(
        [[0.3, 1e-9, 0.7 - 1e-9], [1.0, 0, 0], [1e-12, 2e-12, 1], [0.5, 0.5, 0]]
    )
    n_checked = 0
    for dtype, rtol, most in ((np.float64, 1e-13, 1e75), (np.float32, 1e-5, 1e38)):
        for row in p.astype(dtype):
            with mpmath.workdps(50):
                s = [mpmath.mpf(float(x)) ** (2 - alpha) if x else 0 for x in row]
                sums = [sum(s[:k] + s[k + 1 :]) for k in range(3)]
                expected = [float(s[k] * sums[k] / sum(s)) for k in range(3)]
            if max(s) < most:
                diagonal = entmax_jacobian(row[None], alpha).diagonal()
                assert diagonal.dtype == dtype
                assert_allclose(diagonal[0], expected, rtol=rtol)
                n_checked += 1
    assert n_checked >= 5


def test_derivatives_of_tiny_probabilities_are_finite():
    """Above alpha = 2 the Jacobian's weights have no bound as a probability vanishes.

    As one does, the others move as if its class were a free reservoir.
    """
    for alpha in (2.01, 2.5, 4, 10, 50):
        for n_classes in (2, 3):
            gap = 1 / (alpha - 1)
            scores = np.array([0.0, 0.0, -gap][-n_classes:])
            rows = scores - np.spacing(gap) * np.array([[-8], [-1], [0], [1], [8]])
            rows[:, 0] = 0
            linear = Entmax(alpha).linearize(rows - rows.max(axis=1, keepdims=True))
            ones = np.eye(n_classes)[np.zeros(5, dtype=int)]
            for product in (linear.jvp(ones), linear.vjp_derivative(ones, ones)):
                assert np.isfinite(product).all()
                size = np.abs(product).max(axis=1)
                assert (np.abs(product.sum(axis=1)) <= 1e-14 * size).all()
        p = np.array([[0.75, 0.25, 1e-200], [1 - 1e-12, 1e-12, 1e-300]])
        from_p = entmax_jacobian(p, alpha)
        for v in np.eye(3):
            product = from_p.product(np.tile(v, (2, 1)))
            assert np.isfinite(product).all()
        # The first class gains what the vanishing one, the reservoir, gives.
        expected = [p[0, 0] ** (2 - alpha), 0, -(p[0, 0] ** (2 - alpha))]
        product = from_p.product(np.tile([1.0, 0, 0], (2, 1)))[0]
        if alpha > 2.1:
            np.testing.assert_allclose(product, expected, rtol=1e-12, atol=1e-12)


def test_a_zero_probability_has_no_log_derivative():
    scores = np.array([[0.0, -9.0, -0.1]])
    log_p, jvp, vjp, vjp_derivative, *_ = Entmax(2).log_linearize(scores)
    assert log_p[0, 1] == -np.inf
    direction = np.array([[1.0, 20.0, 3.0]])
    products = jvp(direction), vjp(direction), vjp_derivative(direction, direction)
    for product in products:
        assert np.isfinite(product).all() and product[0, 1] == 0
    # The other classes, with probabilities 0.55 and 0.45, share the change equally.
    np.testing.assert_allclose(products[0], [[-1 / 0.55, 0, 1 / 0.45]], rtol=1e-14)


def test_softmax_log_derivatives_do_not_underflow():
    scores = np.array([[0.0, -2000.0]])
    _, jvp, vjp, *_ = Softmax().log_linearize(scores)
    direction = np.array([[0.0, 1.0]])
    np.testing.assert_array_equal(jvp(direction), [[0, 1]])
    np.testing.assert_array_equal(vjp(direction), [[-1, 1]])


@pytest.mark.parametrize("tau", [0.25, 1, 3])
def test_temperature(tau):
    """Its derivatives are those of F(z / tau), tau-fold, in mpmath's own softmax."""
    scores = interior(3, 4)
    cooled = Temperature(Softmax(), tau)
    for row, p, potential in zip(
        scores, cooled(scores), cooled.potential(scores), strict=True
    ):
        expected = references.probabilities(row / tau, 1)
        np.testing.assert_allclose(p, np.array(expected, float), atol=1e-15)
        assert potential == pytest.approx(
            tau * float(references.potential(row / tau, 1))
        )
        direction = np.array([1.0, -0.5, 0.25, 2.0])
        exact = np.array(references.derivative(row / tau, direction, 1), float) / tau
        product = cooled.jvp(row[None], direction[None])[0]
        np.testing.assert_allclose(product, exact, atol=1e-14)
