"""The approximate inverse of a Hessian: exact on a quadratic, and renewed in time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.solvers import Preconditioner, plan
from skprob.solvers._cg import conjugate_gradients
from skprob.solvers._whitening import _inverse_factor

from .problems import classes, hessian_at, objective_of

MAPPINGS = [Softmax(), Entmax(1.5), Sparsemax()]


def correlated(n_classes, container=np.asarray, **options):
    X, y = classes(n_classes, n_features=4, n_samples=300)
    X = X @ np.random.default_rng(1).normal(size=(4, 4)) * [1e-3, 1, 10, 1e3]
    X += np.array([0, 5, -100, 1e3])
    return objective_of(container(X), y, **options)


def fitted(objective, x, kind="gram by output", **options):
    chosen = plan(objective.description)._replace(
        preconditioner=kind, n_drawn=10**9, **options
    )
    found = Preconditioner(objective.description, chosen)
    found.begin(objective.at(x))
    return found


def as_matrix(preconditioner, n):
    columns = []
    for e in np.eye(n):
        product, square = preconditioner.times(e)
        assert square == pytest.approx(e @ product)
        columns.append(product)
    return np.array(columns)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_of_one_output_it_is_the_exact_inverse(mapping, fit_intercept):
    for container in (np.asarray, sparse.csr_array):
        objective = correlated(
            2, container, mapping=mapping, l2=1e-4, fit_intercept=fit_intercept
        )
        rng = np.random.default_rng(0)
        x = 0.1 * rng.normal(size=objective.n_parameters)
        hessian = hessian_at(objective, x)
        inverse = as_matrix(fitted(objective, x), len(x))
        assert_allclose(inverse @ hessian, np.eye(len(x)), atol=1e-4)
        assert_allclose(inverse, inverse.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mapping", MAPPINGS, ids=repr)
def test_of_several_outputs_the_hessian_is_about_the_identity(mapping):
    objective = correlated(4, mapping=mapping, l2=1e-3)
    x = 0.3 * np.random.default_rng(0).normal(size=objective.n_parameters)
    hessian = hessian_at(objective, x)
    inverse = as_matrix(fitted(objective, x), len(x))
    values = np.linalg.eigvals(inverse @ hessian).real
    # What all intercepts share has no curvature.
    values = np.sort(values)[1:]
    assert values.min() > 0
    assert values.max() / values.min() < 100
    raw = np.linalg.eigvalsh(hessian)[1:]
    assert raw.max() / raw.min() > 500


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_many_columns_it_scales_them(n_classes):
    X, y = classes(n_classes, n_samples=20, n_features=60)
    present = np.random.default_rng(1).random(X.shape) < np.linspace(0.1, 0.9, 60)
    X = np.abs(X) * present
    X[:, 7] = 0
    for container in (np.asarray, sparse.csr_array):
        objective = objective_of(container(X), y, l2=1e-3)
        x = np.random.default_rng(0).normal(size=objective.n_parameters) / 9
        hessian = hessian_at(objective, x)
        coordinates = fitted(objective, x, "diagonal").coordinates
        moves = [coordinates.to_parameters(e) for e in np.eye(len(x))]
        curvature = np.array([move @ hessian @ move for move in moves])
        mean = curvature.reshape(objective.shape).mean(axis=0)
        assert_allclose(mean, 1, rtol=1e-3)


@pytest.mark.parametrize("kind", ["gram by output", "gram", "diagonal"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_gradient_is_the_adjoint_of_the_change(n_classes, kind):
    objective = correlated(n_classes)
    rng = np.random.default_rng(0)
    for x in (objective.initial(), 0.1 * rng.normal(size=objective.n_parameters)):
        coordinates = fitted(objective, x, kind).coordinates
        gradient = rng.normal(size=objective.n_parameters)
        variables = rng.normal(size=coordinates.gradient(gradient).size)
        there = coordinates.to_parameters(variables) @ gradient
        assert_allclose(there, variables @ coordinates.gradient(gradient), rtol=1e-8)


class Scaled:
    """Coordinates w = T v with any matrix T, wide or high."""

    def __init__(self, matrix):
        self._matrix = matrix

    def to_parameters(self, variables):
        return self._matrix @ variables

    def gradient(self, gradient):
        return self._matrix.T @ gradient


def test_recycled_directions_are_known_exactly_and_spare_products():
    """In coordinates that know little of the Hessian."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    hessian = basis * np.logspace(-3, 1, 12) @ basis.T
    objective = objective_of(*classes())
    preconditioner = fitted(objective, objective.initial(), "none")
    preconditioner.coordinates = Scaled(rng.normal(size=(12, 15)))
    gradient, other = rng.normal(size=(2, 12))

    def solve(gradient, n_kept=0):
        return conjugate_gradients(
            lambda d: hessian @ d,
            gradient,
            preconditioner,
            forcing_term=1e-12,
            n_kept=n_kept,
        )

    kept = solve(gradient, n_kept=8).kept
    without = solve(other)
    # Symmetric and positive, also where the Hessian has changed since.
    wrong = kept.products * rng.uniform(0.5, 2, (1, kept.products.shape[1], 1))
    preconditioner.used(1, kept._replace(products=wrong))
    inverse = as_matrix(preconditioner, 12)
    assert_allclose(inverse, inverse.T, atol=1e-9 * np.abs(inverse).max())
    assert np.linalg.eigvalsh(inverse).min() > 0
    preconditioner.used(1, kept)
    for direction, product in zip(kept.directions[0], kept.products[0], strict=True):
        assert_allclose(preconditioner.times(product)[0], direction, rtol=1e-6)
    with_them = solve(other)
    most = other @ np.linalg.solve(hessian, other) / 2
    for found in (without, with_them):
        gain = -(other @ found.step + found.step @ hessian @ found.step / 2)
        assert 0.9 * most < gain <= most * (1 + 1e-9)
    assert with_them.n_products < 0.7 * without.n_products


def test_it_is_renewed_when_it_has_paid_off_and_serves_another_penalty():
    objective = correlated(3, l2=1.0)
    x = 0.1 * np.ones(objective.n_parameters)
    preconditioner = fitted(objective, x, renew_after=10)
    assert not preconditioner.is_stale
    preconditioner.used(10, None)
    assert preconditioner.is_stale
    weaker = objective.with_l2(1e-4)
    before = objective.passes
    there = weaker.at(x)
    preconditioner.begin(there)
    assert objective.passes == before + 1  # for the linearization
    gradient = np.arange(weaker.n_parameters, dtype=float)
    found, expected = (
        p.times(gradient)[0] for p in (preconditioner, fitted(weaker, x))
    )
    assert_allclose(found, expected, rtol=1e-9)
    preconditioner.renew(there)
    assert not preconditioner.is_stale


def test_rank_deficient_constant_and_vanishing_features_get_finite_coordinates():
    X, y = classes(3)
    columns = [X, X[:, :1], np.full((60, 1), 1e6), np.zeros((60, 1)), X[:, 1:] * 1e-200]
    for l2, mapping in ((0.0, Softmax()), (0.01, Softmax()), (0.0, Sparsemax())):
        objective = objective_of(np.hstack(columns), y, mapping, l2=l2)
        # Far out no row has any curvature.
        for x in (objective.initial(), 10.0 * np.arange(objective.n_parameters)):
            there = objective.at(x)
            for kind in ("gram by output", "gram", "diagonal"):
                step, _ = fitted(objective, x, kind).times(there.gradients[0])
                assert np.isfinite(step).all()
                assert step @ there.gradients[0] >= 0


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_numbers_that_overflowed_do_not_hang_it(entry):
    gram = np.diag([1.0, entry, 2.0])
    assert_array_equal(_inverse_factor(gram, 1e-9), np.eye(3))
    # Not positive definite, but finite: something is added until it is.
    found = _inverse_factor(np.diag([1.0, -1.0]), 1e-9)
    assert np.isfinite(found).all()
